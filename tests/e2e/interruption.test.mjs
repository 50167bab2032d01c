// SPDX-License-Identifier: Apache-2.0
// What official clients keep when their connections are interrupted or the server restarts. With the older protocols they keep the
// session, its subscriptions, and answers that were ready before a crash; a stateless client repeats its requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS, connect, forEachClient, isStateless } from './support/clients.mjs';
import { startProxy, startServer, startSimserve, until } from './support/harness.mjs';
import { watchCalls } from './support/ledger.mjs';

const LONG = { deployment: 'sim', concurrency: [1], input_tokens: [16], output_tokens: [8], window_s: 60 };

// start(t, kind): a client that is connected through a proxy, and is notified when a running sweep changes.
async function start(t, kind) {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const proxy = await startProxy(t, server.port);
    const client = await connect(kind, proxy.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const { sweep, job } = await client.call('sweep_start', LONG);
    const uri = `opsbrain://sweeps/${sweep.id}`;
    const updates = [];
    client.onUpdated((updated) => updates.push(updated));
    await client.subscribe(uri);
    const untilNotified = async () => {
        const before = updates.length;
        await until('an update', () => updates.length > before);
        assert.ok(updates.every((updated) => updated === uri));
    };
    await untilNotified();
    return { server, proxy, client, uri, job, untilNotified };
}

forEachClient('after its connection is cut, a client with a session still gets the answer, and every client gets updates again', async (t, kind) => {
    const { proxy, client, uri, job, untilNotified } = await start(t, kind);
    let cut = false;
    const onprogress = () => {
        if (!cut) proxy.cut();
        cut = true;
    };
    const waiting = client.callTool('job_show', { job, wait_s: 5 }, { onprogress, timeout: 30_000 });
    await until('the connection to be cut', () => cut);
    if (isStateless(kind)) waiting.catch(() => {}); // the call is lost with its connection
    else assert.equal((await waiting).structuredContent.job.id, job);

    // The first request might be sent on a connection that is being closed.
    const shown = await until('an answer', () => client.call('job_show', { job }).catch(() => false));
    assert.equal(shown.job.id, job);
    if (isStateless(kind)) await client.subscribe(uri);
    await untilNotified();
    await client.close();
});

forEachClient('a restart keeps the session and its subscriptions; a stateless client subscribes again', async (t, kind) => {
    const { server, proxy, client, uri, job, untilNotified } = await start(t, kind);
    const { sessionId } = client.transport;
    await proxy.during(() => server.stop().then(() => server.start()));

    assert.equal((await client.call('job_show', { job })).job.id, job);
    assert.equal(client.transport.sessionId, sessionId);
    assert.equal(sessionId === undefined, isStateless(kind));
    if (isStateless(kind)) await client.subscribe(uri);
    await untilNotified();
    await client.close();
});

// untilAnswersAreStored(server, client): waits until the answer of each of the client's calls is stored.
async function untilAnswersAreStored(server, { transport }) {
    const watch = watchCalls(server.data, transport.sessionId);
    await until('the answers to be stored', () => watch.calls().every((call) => call.ended_ms), 60_000);
    watch.close();
}

// begin(client, job, wait_s): starts a job_show call that waits at most `wait_s` seconds. Returns {answer}, the promise of the result,
// when the first progress notification arrives.
async function begin(client, job, wait_s) {
    let answer;
    await new Promise((onprogress) => {
        answer = client.callTool('job_show', { job, wait_s }, { onprogress, timeout: 60_000 });
        answer.catch(() => {});
    });
    return { answer };
}

for (const kind of KINDS.filter((each) => !isStateless(each))) {
    test(`an answer that was stored while the client was disconnected survives a kill of the server (${kind})`, async (t) => {
        const { server, proxy, client, job } = await start(t, kind);
        const { answer } = await begin(client, job, 5);
        const back = proxy.during(async () => {
            await untilAnswersAreStored(server, client);
            await server.killAndRestart();
        });
        proxy.cut();
        await back;
        assert.equal((await answer).structuredContent.job.id, job);
        await client.close();
    });

    test(`a call that was running when the server was killed is answered with "outcome unknown" (${kind})`, async (t) => {
        const { server, proxy, client, job } = await start(t, kind);
        const { answer } = await begin(client, job, 50);
        await proxy.during(() => server.killAndRestart());
        await assert.rejects(answer, /outcome unknown: the server restarted; see job_list and audit_list/);
        await client.close();
    });
}
