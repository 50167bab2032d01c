// SPDX-License-Identifier: Apache-2.0
// Keys, and what each role is allowed to do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, forEachClient } from './support/clients.mjs';
import { addKey, post, request, run, startServer, temporaryFolder } from './support/harness.mjs';

forEachClient('a key is required, and its role decides which calls are allowed', async (t, kind) => {
    const data = await temporaryFolder(t);
    const viewer = await addKey(data, 'eve', '--role', 'viewer');
    const operator = await addKey(data, 'otto', '--role', 'operator');
    const server = await startServer(t, { data });

    await assert.rejects(connect(kind, server.url), /401|[Uu]nauthorized|key/);
    await assert.rejects(connect(kind, server.url, { key: `${viewer}x` }), /401|[Uu]nauthorized|key/);

    const reads = await connect(kind, server.url, { key: viewer });
    await reads.call('deployment_list');
    const message = await reads.refusal('deployment_register', { name: 'sim', url: 'http://127.0.0.1:9' });
    assert.match(message, /operator/);
    await reads.close();

    const writes = await connect(kind, server.url, { key: operator });
    await writes.call('deployment_register', { name: 'sim', url: 'http://127.0.0.1:9' });
    const { rows } = await writes.call('audit_list', { tool: 'deployment_register' });
    assert.deepEqual(
        rows.map((row) => [row.principal, row.outcome]),
        [
            ['otto', 'ok'],
            ['eve', 'forbidden'],
        ],
    );
    await writes.close();
});

test('without a key, the answer is 401 and says how to authenticate', async (t) => {
    const data = await temporaryFolder(t);
    await addKey(data, 'alice', '--role', 'admin');
    const server = await startServer(t, { data });
    const answer = await post(server.port, { jsonrpc: '2.0', id: 1, method: 'ping' });
    assert.equal(answer.status, 401);
    assert.match(answer.headers['www-authenticate'], /^Bearer/);
});

test('the session and event ids of one principal are useless to another', async (t) => {
    const data = await temporaryFolder(t);
    const keys = {};
    for (const name of ['alice', 'bob']) keys[name] = await addKey(data, name, '--role', 'admin');
    const server = await startServer(t, { data });
    const alice = await connect('legacy-1x', server.url, { key: keys.alice });
    const bob = await connect('legacy-1x', server.url, { key: keys.bob });
    // as(name, session, more): the headers of a request that this principal sends in its own or another principal's session.
    const as = (name, session, more) => ({
        Authorization: `Bearer ${keys[name]}`,
        Accept: 'application/json, text/event-stream',
        'Mcp-Session-Id': session.transport.sessionId,
        ...more,
    });

    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    assert.equal((await post(server.port, ping, as('bob', bob))).status, 200);
    assert.equal((await post(server.port, ping, as('bob', alice))).status, 404);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    assert.equal((await post(server.port, cancel, as('bob', alice))).status, 404);
    for (const method of ['GET', 'DELETE'])
        assert.equal((await request(server.port, { method, headers: as('bob', alice) })).status, 404);

    const params = { name: 'deployment_register', arguments: { name: 'sim', url: 'http://127.0.0.1:9' } };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: { progressToken: 1 } } };
    const { body } = await post(server.port, call, as('alice', alice));
    const eventId = body.match(/^id: (.+)$/m)?.[1];
    assert.ok(eventId, body);
    for (const session of [alice, bob]) {
        const { status } = await request(server.port, { headers: as('bob', session, { 'Last-Event-ID': eventId }) });
        assert.equal(status, session === alice ? 404 : 400);
    }
    await alice.call('deployment_list');
    await alice.close();
    await bob.close();
});

test('a running server refuses a revoked key at once; neither `opsbrain key list` nor the log shows a key', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'alice', '--role', 'admin');
    await addKey(data, 'bob', '--role', 'viewer');
    const server = await startServer(t, { data });
    const client = await connect('2x-2026', server.url, { key });
    await client.call('deployment_list');
    const revoked = await run(['key', 'revoke', 'alice', '--data', data]);
    assert.equal(revoked.code, 0, revoked.output);
    await assert.rejects(client.call('deployment_list'));

    const list = await run(['key', 'list', '--data', data]);
    assert.match(list.output, /alice/);
    assert.match(list.output, /bob/);
    assert.ok(!list.output.includes(key), 'a key is shown only when it is added');
    assert.ok(!server.output().includes(key), 'a key is never logged');
});

test('a stream ends soon after its key is revoked', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'alice', '--role', 'admin');
    const server = await startServer(t, { data, args: ['--keep-alive', '1s'] });
    const version = '2026-07-28';
    const meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
    };
    const stream = await fetch(server.url, {
        method: 'POST',
        signal: AbortSignal.timeout(15_000),
        headers: {
            Accept: 'application/json, text/event-stream',
            Authorization: `Bearer ${key}`,
            'Content-Type': 'application/json',
            'MCP-Protocol-Version': version,
            'Mcp-Method': 'subscriptions/listen',
        },
        body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'subscriptions/listen',
            params: { notifications: { toolsListChanged: true }, _meta: meta },
        }),
    });
    assert.equal(stream.status, 200);
    assert.equal((await run(['key', 'revoke', 'alice', '--data', data])).code, 0);
    await assert.rejects(stream.text(), (error) => error.name !== 'TimeoutError');
    assert.match(server.output(), /the caller is no longer authorized/);
});
