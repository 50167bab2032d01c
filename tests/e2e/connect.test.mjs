// SPDX-License-Identifier: Apache-2.0
// Every official client connects, lists and calls tools, receives progress and cancels a call.
import assert from 'node:assert/strict';
import { connect, forEachClient } from './support/clients.mjs';
import { inFlight, startServer, startSimserve, until } from './support/harness.mjs';

const NOTICED_MS = 3000; // the server usually notices far sooner, but the machine might be busy

forEachClient('a client connects, lists the tools and calls one', async (t, kind) => {
    const server = await startServer(t);
    const client = await connect(kind, server.url);
    assert.equal(client.serverInfo().name, 'opsbrain');
    const names = (await client.listTools()).map((tool) => tool.name);
    assert.ok(names.includes('deployment_list'), names.join(' '));
    assert.deepEqual(names, names.toSorted());
    assert.deepEqual((await client.call('deployment_list')).deployments, []);
    await client.close();
});

forEachClient('a client receives progress while the answer to a query arrives', async (t, kind) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect(kind, server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });

    const seen = [];
    const result = await client.callTool(
        'model_query',
        { deployment: 'sim', prompt: 'Say something long.', max_tokens: 60, stats: true },
        { onprogress: (progress) => seen.push(progress.progress) },
    );
    assert.ok(!result.isError, JSON.stringify(result.content));
    assert.ok(seen.length >= 2, `got ${seen.length} progress notifications, expected at least 2`);
    assert.deepEqual(seen, seen.toSorted((a, b) => a - b));
    assert.equal(new Set(seen).size, seen.length, 'progress must increase');
    await client.close();
});

forEachClient('a client that waits for a job receives progress, and the job continues when the client stops waiting', async (t, kind) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect(kind, server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const { job } = await client.call('sweep_start', {
        deployment: 'sim',
        concurrency: [1, 2],
        input_tokens: [16],
        output_tokens: [8],
        window_s: 1,
        warmup_limit_s: 1,
    });

    const cancel = new AbortController();
    const waiting = client.callTool(
        'job_show',
        { job, wait_s: 50 },
        { onprogress: () => cancel.abort(), signal: cancel.signal },
    );
    await assert.rejects(waiting);
    await until('the server to notice that the client stopped waiting', async () => (await inFlight(server)) === 0, NOTICED_MS);

    const { job: shown } = await client.call('job_show', { job });
    assert.ok(!shown.cancel_requested);
    assert.match(shown.state, /^(queued|running|completed)$/);
    await until('the job to complete', async () => {
        const answer = await client.call('job_show', { job, wait_s: 20 });
        return answer.over && answer.job.state === 'completed';
    });
    await client.close();
});
