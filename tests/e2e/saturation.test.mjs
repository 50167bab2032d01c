// SPDX-License-Identifier: Apache-2.0
// Three calls do what "Benchmark this server and tell me where it saturates" asks for. Also tests how long job_show waits, and the
// default plan.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { connect, text } from './support/clients.mjs';
import { fakedClock, NO_FAKED_CLOCK } from './support/faked_clock.mjs';
import { atEnd, inFlight, startServer, startSimserve, until } from './support/harness.mjs';

const RUNS_AT_ONCE = 3;

// An answer of 16 tokens takes 20 ms unless the request has to wait for its turn, so even a window of one second has many answers.
const MODEL = ['--ttft-ms', '5', '--step-ms', '1', '--max-running', `${RUNS_AT_ONCE}`];

for (const kind of ['legacy-1x', '2x-2026'])
    test(`three calls show where a server saturates (${kind})`, { timeout: 90_000 }, async (t) => {
        const model = await startSimserve(t, MODEL);
        const server = await startServer(t);
        const client = await connect(kind, server.url);
        const { next_step: next } = await client.call('deployment_register', { name: 'sim', url: model.url });
        assert.match(next, /sweep_start/);
        const { sweep, job, next_step: then } = await client.call('sweep_start', {
            deployment: 'sim', window_s: 1, warmup_limit_s: 1, output_tokens: [16],
        });
        assert.match(then, /job_show.*wait_s/);
        assert.ok(sweep.cells_total >= 10, `${sweep.cells_total} cells`);
        const messages = [];
        const result = await client.callTool('job_show', { job, wait_s: 600 }, {
            timeout: 80_000, resetTimeoutOnProgress: true, onprogress: ({ message }) => messages.push(message),
        });
        const { over, verdict, takeaways, report } = result.structuredContent;
        assert.equal(over, true);
        assert.ok(messages.some((message) => /cell \d+/.test(message)), messages.join('\n'));
        assert.equal(verdict.length, 1);
        const [, low, high] = verdict[0].match(/saturated (?:between|at|by) (\d+)(?: and (\d+))?/) ?? assert.fail(verdict[0]);
        assert.ok(low <= RUNS_AT_ONCE && (high ?? low) >= RUNS_AT_ONCE, verdict[0]);
        assert.ok(takeaways.some((sentence) => /^Peak: /.test(sentence)));
        assert.match(report, /^opsbrain:\/\/runs\/run_\w+\/report$/);
        for (const sentence of [...verdict, ...takeaways, report]) assert.ok(text(result).includes(sentence), sentence);
        await client.close();
    });

// The model server never answers a completion request. The test moves opsbrain's clock forward, so that a wait of minutes takes
// seconds.
test('job_show waits at most 50 seconds without a progress token, and longer with one', { skip: NO_FAKED_CLOCK }, async (t) => {
    const clock = await fakedClock(t, { monotonic: true });
    const model = http.createServer((request, response) => {
        if (request.url === '/v1/models') response.end('{"data":[{"id":"m"}]}');
        else if (!request.url.endsWith('completions')) response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    atEnd(t, () => {
        model.closeAllConnections();
        model.close();
    });
    const server = await startServer(t, { env: clock.env });
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: `http://127.0.0.1:${model.address().port}` });
    const { job } = await client.call('sweep_start', { deployment: 'sim' });
    const received = [];
    const patience = new AbortController();
    const options = { signal: patience.signal, onprogress: (progress) => received.push(progress) };
    let ended = false;
    const patient = client.callTool('job_show', { job, wait_s: 3600 }, options).catch(() => {}).finally(() => (ended = true));
    await until('progress', async () => received.length > 0);
    const hasty = client.call('job_show', { job, wait_s: 3600 });
    await until('both calls to wait', async () => (await inFlight(server)) === 2);
    await clock.set('+48s');
    assert.equal((await hasty).over, false);
    await clock.set('+150s');
    const before = received.length;
    await until('more progress', async () => received.length > before);
    assert.equal(ended, false);
    patience.abort();
    await patient;
    await client.call('job_cancel', { job });
    await client.close();
    server.env = {}; // threads that sleep on libfaketime's monotonic clock do not wake up when they are told to stop
    await server.killAndRestart();
});

test('the default plan uses the search "climb", and needs no go-ahead from a user', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const model = await startSimserve(t, ['--ttft-ms', '100']);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const plan = await client.call('sweep_plan', { deployment: 'sim' });
    assert.equal(plan.needs_go_ahead, false);
    assert.equal(plan.plan.search, 'climb');
    await client.close();
});

test('for a model with a short context, the default prompts are shorter; if nothing is measured, job_show says so and why', async (t) => {
    const model = await startSimserve(t, ['--ttft-ms', '5', '--step-ms', '1', '--max-model-len', '256']);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'short', url: model.url });
    const { plan } = await client.call('sweep_plan', {});
    assert.deepEqual(plan.input_tokens, [128]);
    const { job } = await client.call('sweep_start', { input_tokens: [200], window_s: 1, warmup_limit_s: 1 });
    const { verdict, takeaways } = await client.call('job_show', { job, wait_s: 40 });
    assert.deepEqual(verdict, ['nothing was measured']);
    assert.match(takeaways.join('\n'), /Failures begin at context 200, at 1 user: too long for the model.*15 are too long/s);
    await client.close();
});
