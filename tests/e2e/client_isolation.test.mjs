// SPDX-License-Identifier: Apache-2.0
// Several clients use the same request ids and progress tokens; none of them receives another's messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, forEachClient, KINDS } from './support/clients.mjs';
import { startServer, startSimserve, until } from './support/harness.mjs';

const LONG = { concurrency: [1], input_tokens: [16], output_tokens: [8], window_s: 60 };
const QUERY = { prompt: 'Say something long.', max_tokens: 60 };

// Two model servers, which can be told apart by the characters in their answers.
const ALPHABETS = {
    latin: { args: [], pattern: /^[ -~\n]+$/ },
    other: { args: ['--unicode-output'], pattern: /[^ -~\n]/ },
};

async function startSweeps(t) {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const sweeps = {};
    for (const [name, { args }] of Object.entries(ALPHABETS)) {
        const model = await startSimserve(t, args);
        await client.call('deployment_register', { name, url: model.url });
        sweeps[name] = await client.call('sweep_start', { ...LONG, deployment: name });
    }
    await client.close();
    return { server, sweeps };
}

// converse(server, kind, alphabet, {sweep, job}): makes one client's calls about the deployment with that alphabet. The answer to each
// query, and its progress messages, must be in that alphabet.
async function converse(server, kind, alphabet, { sweep, job }) {
    const { pattern } = ALPHABETS[alphabet];
    const uri = `opsbrain://sweeps/${sweep.id}`;
    const client = await connect(kind, server.url);
    const updates = [];
    client.onUpdated((updated) => updates.push(updated));
    await client.subscribe(uri);
    for (let round = 0; round < 3; round++) {
        const received = [];
        const onprogress = (progress) => received.push(progress);
        const { text } = await client.call('model_query', { ...QUERY, deployment: alphabet }, { onprogress });
        assert.match(text, pattern);
        assert.ok(received.length >= 2, `${received.length} progress notifications`);
        for (const { message } of received) assert.match(message, pattern);
        const counts = received.map(({ progress }) => progress);
        assert.deepEqual(counts, [...new Set(counts)].toSorted((a, b) => a - b));
        assert.equal((await client.call('job_show', { job })).job.id, job);
    }
    await until('an update', () => updates.length > 0);
    assert.ok(updates.every((updated) => updated === uri));
    await client.close();
}

test('clients that use the same ids and progress tokens each receive only their own messages', async (t) => {
    const { server, sweeps } = await startSweeps(t);
    const alphabets = Object.keys(ALPHABETS);
    await Promise.all(
        KINDS.flatMap((kind) => alphabets.map((alphabet) => converse(server, kind, alphabet, sweeps[alphabet]))),
    );
});

forEachClient('cancelling a call does not affect the call of another client with the same id', async (t, kind) => {
    const { server, sweeps } = await startSweeps(t);
    const { job } = sweeps.latin;
    const clients = await Promise.all([connect(kind, server.url), connect(kind, server.url)]);
    const canceller = new AbortController();
    const options = [{ signal: canceller.signal, onprogress: () => canceller.abort() }, {}];
    const [cancelled, other] = clients.map((client, i) => client.callTool('job_show', { job, wait_s: 4 }, options[i]));
    await assert.rejects(cancelled);
    assert.equal((await other).structuredContent.job.id, job);
    await Promise.all(clients.map((client) => client.close()));
});
