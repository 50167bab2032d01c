// SPDX-License-Identifier: Apache-2.0
// If a model server cannot be reached or used, the message names one class of failure, once, and the cause or a remedy. A health
// check ends in time, and the refusal of an unknown argument suggests the one that was meant.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { connect, text } from './support/clients.mjs';
import { atEnd, freePort, startServer, startSimserve } from './support/harness.mjs';

// selfSigned(): {key, cert} of a self-signed certificate; undefined if openssl cannot make one.
function selfSigned() {
    const folder = mkdtempSync(path.join(tmpdir(), 'opsbrain-e2e-'));
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name));
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const named = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const { status } = spawnSync('openssl', ['req', '-x509', ...kind, ...named, '-keyout', key, '-out', cert]);
    const made = status === 0 ? { key: readFileSync(key), cert: readFileSync(cert) } : undefined;
    rmSync(folder, { recursive: true });
    return made;
}

let certificate;
before(() => (certificate = selfSigned()));

// listen(t, server, port): starts the server, and returns its port. At the end of the test, stops it and closes its connections.
async function listen(t, server, port = 0) {
    const sockets = new Set();
    server.on('connection', (socket) => sockets.add(socket)).listen(port, '127.0.0.1');
    await once(server, 'listening');
    atEnd(t, () => {
        for (const socket of sockets) socket.destroy();
        server.close();
    });
    return server.address().port;
}

const answering = (status, type, body) => (request, response) =>
    response.writeHead(status, { 'Content-Type': type }).end(body);
const PAGE = '<!DOCTYPE html><html><head><title>Chat for all</title></head><body>Hello</body></html>';
const webServer = (t, ...answer) => listen(t, http.createServer(answering(...answer)));
const speaksTls = (t) => listen(t, https.createServer(certificate, answering(200, 'application/json', '{"data":[{"id":"m"}]}')));

// Each case: [what is wrong; start(t), which starts the server, if there is one, and returns the port; the scheme, the path `at` and
// other arguments for deployment_register; the expected class; the expected cause or remedy].
const CASES = [
    ['no server listens', () => freePort(), {}, 'connect_refused', /Failed to connect|refused/],
    ['a certificate from an unknown authority', speaksTls, { scheme: 'https' }, 'tls', /self.signed.*SSL_CERT_FILE.*restart/],
    ['HTTP to a port that speaks TLS', speaksTls, {}, /reset|protocol/, /this port speaks TLS, use https:\/\/127\.0\.0\.1:\d+/],
    ['TLS to a port that speaks HTTP', (t) => webServer(t, 200, 'text/html', ''), { scheme: 'https' }, 'tls',
        /this port speaks plain HTTP, use http:\/\/127\.0\.0\.1:\d+/],
    ['TLS to a port that waits for HTTP', (t) => startSimserve(t).then(({ port }) => port), { scheme: 'https' },
        'connect_timeout', /this port speaks plain HTTP, use http:\/\/127\.0\.0\.1:\d+/],
    ['a proxy that says that the port speaks TLS', (t) => webServer(t, 400, 'text/html',
        '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>'), {}, 'refused_400',
    /this port speaks TLS: use https:/],
    ['no token for a server that requires one', (t) => startSimserve(t, ['--api-key', 'right']).then(({ port }) => port), {}, 'auth',
        /requires a token.*OPSBRAIN_SECRET_<NAME>.*secret_bind <NAME> to http:\/\/127\.0\.0\.1:\d+.*deployment_update/],
    ['a wrong token', (t) => startSimserve(t, ['--api-key', 'right']).then(({ port }) => port), { secret: 'LAB' }, 'auth',
        /rejected the token.*deployment_update/],
    ['a web page at every path', (t) => webServer(t, 200, 'text/html', PAGE), {}, 'protocol', /this is a web page.*\/v1/],
    ['a web page under a path', (t) => webServer(t, 404, 'text/html', PAGE), { at: '/ui' }, 'not_found',
        /404: Chat for all.*web page.*try http:\/\/127\.0\.0\.1:\d+\/v1/],
    ['a page from a proxy whose server is down', (t) => webServer(t, 502, 'text/html',
        '<html><head><title>502 Bad Gateway</title></head></html>'), {}, 'server_error', /502: 502 Bad Gateway/],
    ['a redirect', (t) => listen(t, http.createServer((_, response) =>
        response.writeHead(301, { Location: 'https://elsewhere.example/v1/models?key=s3cret' }).end())), {}, 'protocol',
    /redirects to https:\/\/elsewhere\.example\/v1\/models;.*final URL/],
    ['a model that the server does not serve', (t) => startSimserve(t).then(({ port }) => port), { model: 'gpt-x' }, 'not_found',
        /the server is up, but has no model "gpt-x".*serves "simserve\/toy".*deployment_update/],
    ['a server that never answers', (t) => listen(t, net.createServer(() => {})), {}, 'total_timeout',
        /no answer came within \d/],
];

const classPattern = (expected) => new RegExp(`\\b(${expected.source ?? expected})\\b`, 'g');

// namedOnce(message, expected, what): asserts that the message names the expected class exactly once. So that it names no other class,
// the message must also have at most one word in parentheses, not counting "(foreign)".
function namedOnce(message, expected, what) {
    assert.equal((message.match(classPattern(expected)) ?? []).length, 1, `${what}: ${message}`);
    assert.equal((message.match(/\((?!foreign)[a-z_0-9]+\)/g) ?? []).length <= 1, true, `${what}: ${message}`);
}

test('the message for each failure names its class once, and the cause or a remedy', { timeout: 60_000 }, async (t) => {
    const server = await startServer(t, { env: { OPSBRAIN_SECRET_LAB: 'the-wrong-token' } });
    const client = await connect('2x-2026', server.url);
    const check = async ([what, start, { scheme = 'http', at = '', ...settings }, expected, explanation], i) => {
        const name = `d${i}`;
        const url = `${scheme}://127.0.0.1:${await start(t)}${at}`;
        const { reachable, problem } = await client.call('deployment_register', { name, url, ...settings });
        assert.equal(reachable, false, what);
        assert.match(problem, explanation, what);
        namedOnce(problem, expected, what);
        const result = await client.callTool('model_health', { deployment: name, timeout_s: 2 });
        const health = result.structuredContent;
        assert.equal(health.status, 'FAILED', what);
        assert.match(health.failure, classPattern(expected), what);
        assert.match(health.problem, explanation, what);
        namedOnce(text(result), expected, what);
        if (settings.secret) return;
        const refusal = await client.refusal('sweep_start', { deployment: name, concurrency: [1], input_tokens: [16] });
        assert.match(refusal, explanation, what);
        namedOnce(refusal, expected, what);
    };
    const possible = CASES.filter(([, start]) => certificate !== undefined || start !== speaksTls);
    await Promise.all(possible.map(check));
    assert.ok(!server.output().includes('s3cret') && !server.output().includes('the-wrong-token'));
    await client.close();
});

test('a health check gives up on a server that hangs, and waits for a slow one as long as its limit allows', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const [hung, slow] = [await freePort(), await freePort()];
    for (const [name, port] of Object.entries({ hung, slow })) // no server listens there yet, so registration does not wait
        await client.call('deployment_register', { name, url: `http://127.0.0.1:${port}` });
    await listen(t, net.createServer(() => {}), hung);
    await listen(t, http.createServer((request, response) => {
        if (request.url !== '/v1/models') response.writeHead(404).end();
        else setTimeout(() => response.end('{"data":[{"id":"m"}]}'), 5_200);
    }), slow);
    const begun = performance.now();
    await client.call('model_health', { deployment: 'hung', timeout_s: 1 });
    assert.ok(performance.now() - begun < 2_500, `${performance.now() - begun} ms`);
    const { failure } = await client.call('model_health', { deployment: 'slow', timeout_s: 20 });
    assert.equal(failure, 'not_found'); // so the check waited for the slow list of models, and then requested a completion
    await client.close();
});

test("a refusal suggests the argument meant by a misspelled or another program's name, and cuts off no name in its list", async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const meant = { users: 'concurrency', concurency: 'concurrency', max_concurrency: 'concurrency', isl: 'input_tokens',
        max_tokens: 'output_tokens', duration: 'window_s', rps: 'request_rate', requests_per_second: 'request_rate' };
    for (const [given, ours] of Object.entries(meant))
        assert.match(await client.refusal('sweep_start', { [given]: 1 }), new RegExp(`did you mean "${ours}"`), given);
    const message = await client.refusal('sweep_plan', { zebra: 1 });
    const [, listed] = message.match(/it takes (.*?) and \d+ more$/);
    for (const name of listed.split(', ')) // a truncated name would be refused as unknown
        assert.match(await client.refusal('sweep_plan', { [name]: {} }), new RegExp(`"${name}" is `));
    await client.close();
});
