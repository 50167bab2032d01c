// SPDX-License-Identifier: Apache-2.0
// Starts and stops the real programs for the end-to-end tests, each test with a data folder and ports of its own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseSettings } from './database.mjs';

// Absolute paths, because some tests run the programs in other folders.
export const OPSBRAIN = path.resolve(process.env.OPSBRAIN_BIN ?? 'build/dev/bin/opsbrain');
const CONFORMANCE_SERVER = path.resolve(process.env.CONFORMANCE_BIN ?? 'build/dev/bin/conformance_server');
export const SIMSERVE = path.resolve(process.env.SIMSERVE_BIN ?? 'build/dev/bin/simserve');
const READY_MS = 20_000;
const STOP_MS = 8_000;
const SANITIZER = /ERROR: (Address|Leak)Sanitizer|runtime error:|WARNING: ThreadSanitizer/;

// until(what, condition, limit): polls condition() until it returns a true value, and returns that; throws after `limit` milliseconds.
export async function until(what, condition, limit = READY_MS) {
    const deadline = performance.now() + limit;
    for (;;) {
        const found = await condition();
        if (found) return found;
        if (performance.now() > deadline) throw new Error(`gave up waiting for ${what} after ${limit} ms`);
        await sleep(20);
    }
}

// freePort(): a port on which nobody listens, below the range from which the kernel assigns ports to clients.
export async function freePort() {
    for (;;) {
        const port = 20_000 + Math.floor(Math.random() * 12_000);
        const probe = net.createServer();
        const free = await new Promise((resolve) => {
            probe.once('error', () => resolve(false));
            probe.listen(port, '127.0.0.1', () => resolve(true));
        });
        await new Promise((resolve) => probe.close(resolve));
        if (free) return port;
    }
}

const endings = new WeakMap();

// atEnd(t, step): runs the step when the test ends; the step registered last runs first, and all run even if one fails.
export function atEnd(t, step) {
    if (!endings.has(t)) {
        endings.set(t, []);
        t.after(() => runEndings(endings.get(t)));
    }
    endings.get(t).unshift(step);
}

async function runEndings(steps) {
    const errors = [];
    for (const step of steps) {
        try {
            await step();
        } catch (error) {
            errors.push(error);
        }
    }
    if (errors.length > 0) throw errors[0];
}

// temporaryFolder(t): makes a folder; returns its path. When the test ends, the folder is removed, and so is the file
// FOLDER.keys, which opsbrain writes next to it.
export async function temporaryFolder(t) {
    const folder = await mkdtemp(path.join(tmpdir(), 'opsbrain-e2e-'));
    atEnd(t, async () => {
        for (const each of [folder, `${folder}.keys`]) await rm(each, { recursive: true, force: true });
    });
    return folder;
}

// A running program whose output (standard output and error) is recorded, and must stay free of sanitizer reports.
class Program {
    constructor(file, args, env) {
        this.output = '';
        const settings = { ...process.env, ...databaseSettings(args), ...env };
        this.child = spawn(file, args, { env: settings, stdio: ['ignore', 'pipe', 'pipe'] });
        for (const stream of [this.child.stdout, this.child.stderr])
            stream.setEncoding('utf8').on('data', (chunk) => (this.output += chunk));
        this.exit = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
        this.exit.then((exit) => (this.exited = exit));
    }

    async untilReady(port, route) {
        return until(`${this.child.spawnfile} to be ready at ${route}`, async () => {
            if (this.exited) throw new Error(`${this.child.spawnfile} ended: ${this.output}`);
            return (await request(port, { path: route }).catch(() => ({}))).status === 200;
        });
    }

    // stop(): sends SIGTERM; the program must then end in time, with exit code 0 and without a sanitizer report.
    async stop() {
        if (this.exited === undefined) this.child.kill('SIGTERM');
        const late = sleep(STOP_MS, 'late', { ref: false });
        if ((await Promise.race([this.exit, late])) === 'late') {
            this.child.kill('SIGKILL');
            assert.fail(`still running ${STOP_MS} ms after SIGTERM:\n${this.output.slice(-4000)}`);
        }
        const { code, signal } = await this.exit;
        this.checkOutput();
        assert.deepEqual({ code, signal }, { code: 0, signal: null }, this.output.slice(-4000));
    }

    async kill() {
        this.child.kill('SIGKILL');
        await this.exit;
        this.checkOutput();
    }

    checkOutput() {
        assert.doesNotMatch(this.output, SANITIZER);
    }
}

// run(args, env): runs an opsbrain command to its end; returns {code, output}.
export async function run(args, env) {
    const program = new Program(OPSBRAIN, args, env);
    const { code } = await program.exit;
    program.checkOutput();
    return { code, output: program.output };
}

// addKey(data, name, ...flags): adds a key with `opsbrain key add`; returns the key.
export async function addKey(data, name, ...flags) {
    const { code, output } = await run(['key', 'add', name, '--data', data, ...flags]);
    assert.equal(code, 0, output);
    const key = output.match(/\bobk_[0-9a-f]{64}/)?.[0];
    assert.ok(key, output);
    return key;
}

// startServer(t, {args, env, data, file}): starts `opsbrain serve` (or `serve` of another program, `file`) on a free port. When
// the test ends, the server is stopped, and must then exit cleanly.
export async function startServer(t, { args = [], env = {}, data, file = OPSBRAIN } = {}) {
    const server = new Server(file, await freePort(), data ?? (await temporaryFolder(t)), args, env);
    atEnd(t, () => server.stop());
    await server.start();
    return server;
}

// startConformanceServer(t): starts the server that has the conformance suite's fixtures.
export function startConformanceServer(t) {
    return startServer(t, { file: CONFORMANCE_SERVER });
}

class Server {
    constructor(file, port, data, args, env) {
        Object.assign(this, { file, port, data, args, env });
        this.url = `http://127.0.0.1:${port}/mcp`;
    }

    async start() {
        const args = ['serve', '--listen', `127.0.0.1:${this.port}`, '--data', this.data, ...this.args];
        this.program = new Program(this.file, args, this.env);
        await this.program.untilReady(this.port, '/ready');
    }

    async stop() {
        await this.program.stop();
    }

    async killAndRestart() {
        await this.program.kill();
        await this.start();
    }

    output() {
        return this.program.output;
    }
}

// startSimserve(t, args, at): starts a model server with known timing on the port `at`, or a free one; returns {url, port, program}.
export async function startSimserve(t, args = [], at = undefined) {
    const port = at ?? (await freePort());
    const program = new Program(SIMSERVE, ['--listen', `127.0.0.1:${port}`, ...args]);
    atEnd(t, () => program.stop());
    await program.untilReady(port, '/health');
    return { port, url: `http://127.0.0.1:${port}`, program };
}

// request(port, {method, path, headers, body, timeout}): sends a request on its own connection; returns {status, headers, body}.
export function request(port, { method = 'GET', path = '/mcp', headers = {}, body, timeout = READY_MS } = {}) {
    return new Promise((resolve, reject) => {
        const outgoing = http.request({ host: '127.0.0.1', port, method, path, headers, timeout, agent: false });
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${timeout} ms`)));
        outgoing.on('error', reject);
        outgoing.on('response', (incoming) => {
            const answer = (chunks) => ({ status: incoming.statusCode, headers: incoming.headers, body: chunks.join('') });
            incoming.setEncoding('utf8').toArray().then(answer).then(resolve, reject);
        });
        outgoing.end(body);
    });
}

// post(port, body, headers, path): sends a body (an object, or the exact bytes) as an MCP client would.
export function post(port, body, headers = {}, path = '/mcp') {
    const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const usual = {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'Content-Length': Buffer.byteLength(bytes),
    };
    return request(port, { method: 'POST', path, headers: { ...usual, ...headers }, body: bytes });
}

// inFlight(server): how many requests are being answered, not counting the one that reads the metric.
export async function inFlight(server) {
    const { body } = await request(server.port, { path: '/metrics' });
    return Number(body.match(/^opsbrain_requests_in_flight (\d+)/m)[1]) - 1;
}

// startProxy(t, port): starts a proxy in front of a server; returns {url, cut, during}. cut() closes the proxy's connections.
// during(work) starts the work, and makes new connections wait until the work is done.
export async function startProxy(t, port) {
    const sockets = new Set();
    let ready = Promise.resolve();
    const keep = (socket) => {
        sockets.add(socket);
        return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    };
    const relay = async (client) => {
        keep(client);
        await ready;
        const upstream = keep(net.connect(port, '127.0.0.1'));
        client.pipe(upstream).pipe(client);
        client.on('close', () => upstream.destroy());
        upstream.on('close', () => client.destroySoon());
    };
    const listener = net.createServer(relay).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const cut = () => sockets.forEach((socket) => socket.destroy());
    atEnd(t, () => listener.close() && cut());
    const url = `http://127.0.0.1:${listener.address().port}/mcp`;
    return { url, cut, during: (work) => (ready = work()) };
}
