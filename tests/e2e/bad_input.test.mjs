// SPDX-License-Identifier: Apache-2.0
// Bad input gets a clear refusal, and the server continues to serve.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { post, request, startServer, until } from './support/harness.mjs';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

// refusal(answer): the JSON-RPC error in an answer.
function refusal(answer) {
    return JSON.parse(answer.body).error;
}

async function stillServes(server) {
    assert.equal((await request(server.port, { path: '/health' })).status, 200);
}

test("a request from another site's page is refused because of its Origin or Host, except at /health", async (t) => {
    const server = await startServer(t);
    for (const headers of [{ Origin: 'https://evil.example' }, { Host: 'evil.example' }]) {
        assert.equal((await post(server.port, PING, headers)).status, 403);
        assert.equal((await request(server.port, { path: '/metrics', headers })).status, 403);
        assert.equal((await request(server.port, { path: '/health', headers })).status, 200);
    }
});

test('hosts and origins that the settings name are allowed', async (t) => {
    const server = await startServer(t, {
        args: ['--allowed-hosts', 'ops.example', '--allowed-origins', 'https://ops.example'],
    });
    const headers = { Host: 'ops.example', Origin: 'https://ops.example' };
    assert.notEqual((await post(server.port, PING, headers)).status, 403);
});

test('a body of 2 MiB is answered with 413, and the answer names the limit', async (t) => {
    const server = await startServer(t);
    const answer = await post(server.port, JSON.stringify({ ...PING, fill: 'x'.repeat(2 * 1024 * 1024) }));
    assert.equal(answer.status, 413);
    assert.match(answer.body, /1048576|1 MiB/);
    await stillServes(server);
});

test('a body far over the limit is not read to its end, and this is logged', async (t) => {
    const server = await startServer(t);
    const socket = net.connect(server.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
    const length = 64 * 1024 * 1024;
    socket.write(
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\n` +
            `Content-Length: ${length}\r\n\r\n`,
    );
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const pump = () => {
        while (sent < length && !socket.destroyed) {
            sent += chunk.length;
            if (!socket.write(chunk)) return socket.once('drain', pump);
        }
    };
    pump();
    socket.resume();
    await closed;
    assert.ok(sent < length, 'the whole body was accepted');
    await until('a log line about the body', () => /body/i.test(server.output()));
    await stillServes(server);
});

test('JSON that is invalid or too deep is refused', async (t) => {
    const server = await startServer(t);
    const bodies = {
        'not JSON': 'ping',
        'an empty body': '',
        'half an object': '{"jsonrpc":"2.0","id":1,',
        'arrays nested 10,000 deep': '['.repeat(10_000) + ']'.repeat(10_000),
        'objects nested 10,000 deep': '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000),
        'a member name used twice': '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        'invalid UTF-8': Buffer.from([...Buffer.from('{"jsonrpc":"2.0","id":1,"method":"pi'), 0xff, 0x22, 0x7d]),
        'a NUL in overlong UTF-8': Buffer.from([...Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), 0xc0, 0x80, 0x22, 0x7d]),
        'a NUL after the end': '{"jsonrpc":"2.0","id":1,"method":"ping"}\0',
    };
    for (const [what, body] of Object.entries(bodies)) {
        const answer = await post(server.port, body);
        assert.equal(answer.status, 400, what);
        assert.equal(refusal(answer).code, -32700, what);
        assert.ok(refusal(answer).message.length > 10, what);
    }
    await stillServes(server);
});

test('JSON that is not a request is refused', async (t) => {
    const server = await startServer(t);
    for (const body of ['1', '"ping"', 'null', '{}', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"id":1}']) {
        const answer = await post(server.port, body);
        assert.equal(answer.status, 400, body);
        assert.equal(refusal(answer).code, -32600, body);
    }
});

test('a wrong content type, HTTP method or path is refused', async (t) => {
    const server = await startServer(t);
    assert.equal((await post(server.port, PING, { 'Content-Type': 'text/plain' })).status, 415);
    const put = await request(server.port, { method: 'PUT' });
    assert.equal(put.status, 405);
    assert.match(put.headers.allow, /POST/);
    assert.equal((await request(server.port, { path: '/nowhere' })).status, 404);
});

test('a connection that ends in the middle of a request does no harm', async (t) => {
    const server = await startServer(t, { args: ['--header-timeout', '1s', '--body-timeout', '1s'] });
    for (const part of [
        'POST /mcp HT',
        'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le',
        `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"json`,
    ]) {
        const socket = net.connect(server.port, '127.0.0.1');
        await once(socket, 'connect');
        socket.end(part);
        await once(socket.resume(), 'close');
    }
    await stillServes(server);
});

test('bytes that are not HTTP do no harm', async (t) => {
    const server = await startServer(t);
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919 + 13) % 256));
    const socket = net.connect(server.port, '127.0.0.1').on('error', () => {});
    socket.end(noise);
    await new Promise((resolve) => socket.resume().on('close', resolve));
    await stillServes(server);
});
