// SPDX-License-Identifier: Apache-2.0
// Several clients use the same request ids and progress tokens; none of them receives another's messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, forEachClient, KINDS } from './support/clients.mjs';
import { startServer, startSimserve, until } from './support/harness.mjs';

const LONG = { concurrency: [1], input_tokens: [16], output_tokens: [8], window_s: 60 };
const QUERY = { prompt: 'Say something long.', max_tokens: 60 };

// Two model servers, distinguished by their alphabets.
const ALPHABETS = {
    latin: { args: [], words: /^[ -~\n]+$/ },
    other: { args: ['--unicode-output'], words: /[^ -~\n]/ },
};

async function startAlphabets(t) {
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

// converse(server, kind, alphabet, sweep): makes one client's calls; everything that it receives must be in its alphabet.
async function converse(server, kind, alphabet, { sweep, job }) {
    const { words } = ALPHABETS[alphabet];
    const uri = `opsbrain://sweeps/${sweep.id}`;
    const client = await connect(kind, server.url);
    const updates = [];
    client.onUpdated((updated) => updates.push(updated));
    await client.subscribe(uri);
    for (let round = 0; round < 3; round++) {
        const told = [];
        const onprogress = (progress) => told.push(progress);
        const { text } = await client.call('model_query', { ...QUERY, deployment: alphabet }, { onprogress });
        assert.match(text, words);
        assert.ok(told.length >= 2, `${told.length} progress notifications`);
        for (const { message } of told) assert.match(message, words);
        const counts = told.map(({ progress }) => progress);
        assert.deepEqual(counts, [...new Set(counts)].toSorted((a, b) => a - b));
        assert.equal((await client.call('job_show', { job })).job.id, job);
    }
    await until('an update', () => updates.length > 0);
    assert.ok(updates.every((updated) => updated === uri));
    await client.close();
}

test('clients that use the same ids and progress tokens each receive only their own messages', async (t) => {
    const { server, sweeps } = await startAlphabets(t);
    const alphabets = Object.keys(ALPHABETS);
    await Promise.all(
        KINDS.flatMap((kind) => alphabets.map((alphabet) => converse(server, kind, alphabet, sweeps[alphabet]))),
    );
});

forEachClient('giving up a call leaves the call with the same id of another client alone', async (t, kind) => {
    const { server, sweeps } = await startAlphabets(t);
    const { job } = sweeps.latin;
    const clients = await Promise.all([connect(kind, server.url), connect(kind, server.url)]);
    const giveUp = new AbortController();
    const options = [{ signal: giveUp.signal, onprogress: () => giveUp.abort() }, {}];
    const [givenUp, other] = clients.map((client, i) => client.callTool('job_show', { job, wait_s: 4 }, options[i]));
    await assert.rejects(givenUp);
    assert.equal((await other).structuredContent.job.id, job);
    await Promise.all(clients.map((client) => client.close()));
});
