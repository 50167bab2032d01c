// SPDX-License-Identifier: Apache-2.0
// Requests that a proxy and the server could read differently, targets that name other hosts, and bodies beyond
// the limit: each gets one clear refusal, the connection is closed, and nothing sent after it is read as a request.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { startServer } from './support/harness.mjs';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const HIDDEN = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'; // 41 bytes
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;

// converse(port, bytes, {pieces}): sends the bytes in that many pieces, and reads until the server closes the connection; returns
// the text that was received and the HTTP statuses in it.
function converse(port, bytes, { pieces = 1 } = {}) {
    return new Promise((resolve, reject) => {
        const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
        const sent = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes, 'latin1');
        const step = Math.ceil(sent.length / pieces);
        let text = '';
        socket.setTimeout(8000, () => reject(new Error(`not closed: ${text}`)));
        socket.setEncoding('latin1').on('data', (chunk) => (text += chunk));
        socket.on('error', (error) => (error.code === 'EPIPE' || error.code === 'ECONNRESET' ? undefined : reject(error)));
        socket.on('end', () => socket.end());
        socket.on('close', () => resolve({ text, statuses: [...text.matchAll(/(?:^|\n|\})HTTP\/1\.1 (\d+)/g)].map((m) => +m[1]) }));
        for (let at = 0; at < sent.length; at += step) socket.write(sent.subarray(at, at + step));
    });
}

// refused(port, request, status): sends the request three times, each time followed by HIDDEN: in one piece, byte by byte, and after
// a valid request. Asserts that the request is refused, and that the HIDDEN after it gets no answer.
async function refused(port, request, status = 400) {
    const bytes = request + HIDDEN;
    for (const [before, options] of [['', {}], ['', { pieces: bytes.length }], [HIDDEN, {}]]) {
        const { statuses, text } = await converse(port, before + bytes, options);
        assert.deepEqual(statuses, before ? [200, status] : [status], JSON.stringify(request));
        const error = JSON.parse(text.split('\r\n\r\n').at(-1)).error;
        assert.ok(error.message.length > 10, text);
    }
}

const attacks = {
    'white space before a colon': [
        `${HEAD}Content-Length : 41\r\n\r\n`,
        `${HEAD}Content-Length\t: 41\r\n\r\n`,
        `${HEAD}Transfer-Encoding : chunked\r\n\r\n`,
        `${HEAD}X-Any : a\r\n\r\n`,
    ],
    'a NUL': [
        `${HEAD}X: a\0b\r\n\r\n`,
        `${HEAD}X\0: a\r\n\r\n`,
        `${HEAD}X: a\0\nY: b\r\n\r\n`,
        'POST /mcp\0/x HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'POST /mcp%00/x HTTP/1.1\r\nHost: localhost\r\n\r\n',
    ],
    'a bare CR or LF': [
        `${HEAD}X: a\rContent-Length: 41\r\n\r\n`,
        `${HEAD}X: a\nContent-Length: 41\r\n\r\n`,
        'POST /mcp\r HTTP/1.1\r\nHost: localhost\r\n\r\n',
        `${HEAD}X: a\r\r\n\r\n`,
    ],
    'an invalid header name, or no colon': [
        `${HEAD}X Y: a\r\n\r\n`,
        `${HEAD}: a\r\n\r\n`,
        `${HEAD}X\r\n\r\n`,
        `${HEAD}X(y): a\r\n\r\n`,
    ],
    'a line that begins with white space': [
        `${HEAD}X: a\r\n b\r\n\r\n`,
        `${HEAD}Content-Length: 41\r\n\t0\r\n\r\n`,
        'POST /mcp HTTP/1.1\r\n Host: localhost\r\n\r\n',
    ],
    'an invalid length, or two lengths': [
        `${HEAD}Content-Length: 2\r\nContent-Length: 43\r\n\r\n{}`,
        `${HEAD}Content-Length: 2, 43\r\n\r\n{}`,
        `${HEAD}Content-Length: +2\r\n\r\n{}`,
        `${HEAD}Content-Length: 0x2\r\n\r\n{}`,
        `${HEAD}Content-Length: 99999999999999999999\r\n\r\n{}`,
        `${HEAD}Content-Length:\r\n\r\n`,
    ],
    'a transfer coding that is invalid, comes with a length, or is used in HTTP/1.0': [
        `${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
        `${HEAD}Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
        `${HEAD}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
        'POST /mcp HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    'chunks that a proxy and the server could read differently': [
        `${CHUNKED}2;\n{}\r\n0\r\n\r\n`,
        `${CHUNKED}2\n{}\r\n0\r\n\r\n`,
        `${CHUNKED}0x2\r\n{}\r\n0\r\n\r\n`,
        `${CHUNKED}2 \r\n{}\r\n0\r\n\r\n`,
        `${CHUNKED}2\r\n{}}\r\n0\r\n\r\n`,
        `${CHUNKED}ffffffffffffffff2\r\n{}\r\n0\r\n\r\n`,
        `${CHUNKED}0\r\nContent-Length: 41\r\n\r\n`,
    ],
    'a request line that is not three words with one space between them': [
        'POST  /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'POST /mcp\tHTTP/1.1\r\nHost: localhost\r\n\r\n',
        'POST /mcp HTTP/1.1 \r\nHost: localhost\r\n\r\n',
        'POST /mcp\r\nHost: localhost\r\n\r\n',
    ],
    'a Host header that is missing or given twice': [
        'POST /mcp HTTP/1.1\r\n\r\n',
        `${HEAD}Host: localhost\r\n\r\n`,
        'POST http://localhost/mcp HTTP/1.1\r\n\r\n',
    ],
    'an invalid target': [
        'GET ftp://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'GET http://localhost@evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'GET http://localhost%2f@evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n',
    ],
};

test('a request that a proxy and the server could read differently is refused', async (t) => {
    const { port } = await startServer(t);
    for (const [what, requests] of Object.entries(attacks))
        await t.test(what, async () => {
            for (const request of requests) await refused(port, request);
        });
    await t.test('an unknown transfer coding, another HTTP version, and headers that are too long', async () => {
        await refused(port, `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 501);
        await refused(port, 'GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n', 505);
        await refused(port, `${HEAD}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431);
    });
});

test('a complete URI is accepted as the target, and its host is checked instead of the Host header', async (t) => {
    const { port } = await startServer(t);
    const ask = async (target, host) => {
        const head = `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
        return (await converse(port, `${head}Content-Length: ${PING.length}\r\n\r\n${PING}`)).statuses;
    };
    assert.deepEqual(await ask(`http://127.0.0.1:${port}/mcp`, `127.0.0.1:${port}`), [200]);
    assert.deepEqual(await ask(`HTTP://localhost/mcp`, 'localhost'), [200]);
    assert.deepEqual(await ask(`http://localhost/mcp`, 'evil.example'), [200]);
    assert.deepEqual(await ask(`http://evil.example/mcp`, 'localhost'), [403]);
    assert.deepEqual(await ask(`http://localhost.evil.example/mcp`, 'localhost'), [403]);
    assert.deepEqual(await ask(`//evil.example/mcp`, 'localhost'), [404]);
});

test('a client that keeps sending a body far over the limit still gets the refusal', async (t) => {
    const { port } = await startServer(t);
    const size = 10_000_000;
    const piece = Buffer.concat([Buffer.from('186a0\r\n'), Buffer.alloc(100_000, 'x'), Buffer.from('\r\n')]);
    const bodies = [
        [Buffer.from(CHUNKED), ...Array(100).fill(piece), Buffer.from('0\r\n\r\n')],
        [Buffer.from(CHUNKED), ...Array(100).fill(piece)],
        [Buffer.from(`${HEAD}Content-Length: ${size}\r\n\r\n`), Buffer.alloc(size, 'x')],
        [Buffer.from(`${HEAD}Content-Length : ${size}\r\n\r\n`), Buffer.alloc(size, 'x')],
    ];
    const answers = await Promise.all(bodies.map((parts) => converse(port, Buffer.concat(parts))));
    assert.deepEqual(answers.map(({ statuses }) => statuses), [[413], [413], [413], [400]]);
});
