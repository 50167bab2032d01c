// Runs a client program, written in its own language with the official library, against a real server: the program says
// in lines what it did and asks for what only its surroundings can do.
//
//   PROGRAM URL ERA MODEL      ERA is `legacy` or `2026-07-28`, MODEL the address of a model server
//
// It prints `ok STEP`, `failed STEP: WHY` or `ask WHAT`; each question is answered with the line `done`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { atEnd, request, startServer, startSimserve, until } from '../e2e/harness.mjs';

const STEPS = [
    'connect',
    'list',
    'call with progress',
    'cancel',
    'subscribe',
    'resume after a cut',
    'resume after a restart',
    'disconnect',
];
const PROGRAM_MS = 120_000;
const NOTICED_MS = 3000; // it is far less; the machine may be busy

// interop(name, program, ...arguments): a test per era, with a part for each step.
export function interop(name, program, ...args) {
    for (const era of ['legacy', '2026-07-28'])
        test(`${name} client, ${era}`, { timeout: PROGRAM_MS }, async (t) => {
            const model = await startSimserve(t);
            const server = await startServer(t);
            const proxy = await startProxy(t, server.port);
            const results = await converse(t, [program, ...args, proxy.url, era, model.url], {
                busy: () => until('a call to wait', async () => (await inFlight(server)) > 0),
                quiet: () => until('the call to be given up', async () => (await inFlight(server)) === 0, NOTICED_MS),
                cut: () => proxy.cut(),
                restart: () => proxy.during(() => server.stop().then(() => server.start())),
            });
            const steps = era === 'legacy' ? STEPS.slice(0, STEPS.indexOf('resume after a cut')) : STEPS;
            for (const step of steps) await t.test(step, () => assert.equal(results.get(step), 'ok'));
        });
}

// inFlight(server): how many requests are being answered, beside this one.
async function inFlight(server) {
    const { body } = await request(server.port, { path: '/metrics' });
    return Number(body.match(/^opsbrain_requests_in_flight (\d+)/m)[1]) - 1;
}

// converse(t, command, answers): the result of each step, when the program has ended.
async function converse(t, [program, ...args], answers) {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const closed = once(child, 'close');
    const results = new Map();
    let errors = '';
    atEnd(t, () => child.kill('SIGKILL'));
    child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk));
    child.stdin.on('error', () => {});
    for await (const line of createInterface({ input: child.stdout })) {
        const [, word, rest] = line.match(/^(ok|failed|ask) (.*)$/) ?? assert.fail(`${line}\n${errors}`);
        if (word === 'ask') await answer(child, answers[rest]);
        else if (word === 'ok') results.set(rest, 'ok');
        else results.set(...rest.split(/: (.*)/s, 2));
    }
    const [code] = await closed;
    results.set('disconnect', code === 0 ? 'ok' : `ended with ${code}`);
    if (errors !== '') t.diagnostic(errors.slice(-4000));
    return results;
}

async function answer(child, step) {
    const reply = await Promise.resolve(step()).then(
        () => 'done',
        (error) => error.message,
    );
    child.stdin.write(`${reply}\n`);
}

// startProxy(t, port): a way to the server that can be cut, and that keeps who connects waiting while the server is away.
async function startProxy(t, port) {
    const sockets = new Set();
    let ready = Promise.resolve();
    const relay = async (client) => {
        keep(sockets, client);
        await ready;
        const upstream = keep(sockets, net.connect(port, '127.0.0.1'));
        client.pipe(upstream).pipe(client);
        client.on('close', () => upstream.destroy());
        upstream.on('close', () => client.destroySoon());
    };
    const listener = net.createServer(relay).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const cut = () => sockets.forEach((socket) => socket.destroy());
    atEnd(t, () => listener.close() && cut());
    return {
        url: `http://127.0.0.1:${listener.address().port}/mcp`,
        cut,
        during: (work) => (ready = work()),
    };
}

function keep(sockets, socket) {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    return socket;
}
