// SPDX-License-Identifier: Apache-2.0
// Strangers with idle connections do not keep other clients from being served. A client that half-closes its connection still gets its
// answer. Streams end once their key is revoked. Behind a trusted proxy, the log names the right client.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { atEnd, OPSBRAIN, post, request, run, startServer, startSimserve, temporaryFolder, until } from './support/harness.mjs';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const ENVELOPE = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
};

// http(headers, body): the text of a POST request to /mcp.
function http(headers, body) {
    const lines = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Content-Type: application/json',
        'Accept: application/json, text/event-stream', ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
    return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

// listen(headers): the text of a request that opens a stream of notifications.
function listen(headers = []) {
    const params = { notifications: { toolsListChanged: true }, _meta: ENVELOPE };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params });
    return http(['MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: subscriptions/listen', ...headers], body);
}

// open(t, port, bytes, localAddress): a connection on which these bytes were sent. Its `text` is what it has received; its `over`
// becomes true when the server ends the connection or the socket closes.
async function open(t, port, bytes = '', localAddress = '127.0.0.1') {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true }).setEncoding('utf8');
    const client = { socket, text: '', over: false };
    socket.on('error', () => {}).on('data', (chunk) => (client.text += chunk));
    socket.on('end', () => (client.over = true)).on('close', () => (client.over = true));
    atEnd(t, async () => socket.destroy());
    await once(socket, 'connect');
    if (bytes) socket.write(bytes);
    return client;
}

// withDescriptorLimit(t, limit): a script that runs opsbrain with a limit on the number of open files.
async function withDescriptorLimit(t, limit) {
    const file = path.join(await temporaryFolder(t), 'limited');
    await writeFile(file, `#!/bin/sh\nulimit -n ${limit}\nexec ${OPSBRAIN} "$@"\n`);
    await chmod(file, 0o755);
    return file;
}

const BEHAVIOURS = {
    'say nothing': '',
    'stop sending in the middle of the headers': 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-',
    'stop sending in the middle of a body': 'POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{',
    'send one request and keep the connection open': 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n',
};

for (const [what, bytes] of Object.entries(BEHAVIOURS))
    test(`clients are served, on old and new connections, while strangers open as many as they can and ${what}`, async (t) => {
        const [options, many] = what.startsWith('say')
            ? [{ file: await withDescriptorLimit(t, 160) }, 400] // more than the process can open
            : [{ args: ['--connections', '32'] }, 64]; // more than the setting allows
        const server = await startServer(t, options);
        const known = await open(t, server.port, http([], PING));
        await until('an answer', () => known.text.includes('200 OK'));
        await Promise.all(Array.from({ length: many }, () => open(t, server.port, bytes)));
        const begun = performance.now();
        for (let i = 0; i < 10; i++) assert.equal((await post(server.port, PING)).status, 200);
        assert.ok(performance.now() - begun < 5000, `the answers took ${performance.now() - begun} ms`);
        known.socket.write(http([], PING));
        await until('another answer on the old connection', () => known.text.split('200 OK').length === 3);
    });

test('connections from one address are limited, other addresses have their own limit, and trusted proxies have none', async (t) => {
    const server = await startServer(t, { args: ['--trusted-proxies', '127.0.1.0/24', '--connections-per-address', '40'] });
    const clients = await Promise.all(Array.from({ length: 60 }, () => open(t, server.port)));
    await until('the connections over the limit to be closed', () => clients.filter((client) => client.over).length === 20);
    const other = await open(t, server.port, http([], PING), '127.0.0.2');
    await until('an answer to another address', () => other.text.includes('200 OK'));
    const behind = await Promise.all(Array.from({ length: 60 }, () => open(t, server.port, http([], PING), '127.0.1.7')));
    await until('answers to all clients behind the proxy', () => behind.every((client) => client.text.includes('200 OK')));
});

test('only a trusted proxy can name the client of a request', async (t) => {
    const server = await startServer(t, { args: ['--trusted-proxies', '127.0.1.0/24, 10.0.0.0/8'] });
    const cases = [
        ['127.0.0.1', ['X-Forwarded-For: 203.0.113.1'], '127.0.0.1'],
        ['127.0.1.7', ['X-Forwarded-For: 203.0.113.2'], '203.0.113.2'],
        ['127.0.1.7', ['X-Forwarded-For: 198.51.100.1, 203.0.113.3:4711, 10.1.2.3'], '203.0.113.3'],
        ['127.0.1.7', ['X-Forwarded-For: 198.51.100.1', 'x-forwarded-for: [2001:db8::4]:80', 'X-Forwarded-For: 10.9.9.9'], '2001:db8::4'],
        ['127.0.1.7', ['X-Forwarded-For: 198.51.100.1, nonsense'], '127.0.1.7'],
        ['127.0.1.7', [], '127.0.1.7'],
    ];
    for (const [from, headers, wanted] of cases) {
        const before = server.output().length;
        const client = await open(t, server.port, http(headers, PING), from);
        await until('an answer', () => client.text.includes('200 OK'));
        await until(`${wanted} in the log`, () => server.output().slice(before).includes(` from ${wanted}\n`));
    }
});

test('a client that half-closes its connection after the request still gets the answer', async (t) => {
    const server = await startServer(t);
    const model = await startSimserve(t, ['--ttft-ms', '700']);
    const call = (name, args) => JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } });
    const bodies = [
        PING,
        call('deployment_register', { name: 'sim', url: model.url }),
        call('job_list', {}),
        call('model_query', { deployment: 'sim', prompt: 'Hi', max_tokens: 2 }), // takes at least 0.7 s
    ];
    for (const body of bodies) {
        const client = await open(t, server.port);
        client.socket.end(http([], body).replace('application/json, text/event-stream', 'application/json'));
        await until('the end', () => client.over);
        assert.match(client.text, /^HTTP\/1\.1 200 OK/);
        assert.match(client.text, /"result"/);
        assert.doesNotMatch(client.text, /"isError":true/);
    }
});

test('a stream continues for a client that half-closed its connection and still reads, and ends for one that disconnects', async (t) => {
    const server = await startServer(t);
    const streams = async () => Number((await request(server.port, { path: '/metrics' })).body.match(/^opsbrain_streams_open (\d+)/m)[1]);
    const client = await open(t, server.port, listen());
    await until('the acknowledgement', () => client.text.includes('acknowledged'));
    client.socket.end();
    const begun = performance.now();
    await until('a comment', () => client.text.includes('\n:\n\n') || client.text.includes('\r\n:\n\n'));
    assert.ok(performance.now() - begun < 2500);
    assert.equal(await streams(), 1);
    client.socket.destroy();
    const gone = await open(t, server.port, listen());
    await until('the acknowledgement', () => gone.text.includes('acknowledged'));
    gone.socket.destroy();
    const reset = await open(t, server.port, listen());
    await until('the acknowledgement', () => reset.text.includes('acknowledged'));
    reset.socket.resetAndDestroy();
    // The first client's stream may last until the next write to it fails.
    await until('the last two streams to end', async () => (await streams()) <= 1, 5000);
});

test('streams end within a second after the key that opened them is revoked', async (t) => {
    const server = await startServer(t);
    const opsbrain = async (...args) => {
        const { code, output } = await run([...args, '--data', server.data]);
        assert.equal(code, 0, output);
        return output;
    };
    const key = async (name) => (await opsbrain('key', 'add', name, '--role', 'operator')).match(/obk_[0-9a-f]+/)[0];
    const revoked = await key('rita');
    const other = await key('otto');
    const openWith = async (token) => {
        const client = await open(t, server.port, listen([`Authorization: Bearer ${token}`]));
        await until('the acknowledgement', () => client.text.includes('acknowledged'));
        return client;
    };
    const [ended, kept] = [await openWith(revoked), await openWith(other)];
    await opsbrain('key', 'revoke', 'rita');
    await until('the stream to end', () => ended.over, 1000);
    assert.equal(kept.over, false);
});
