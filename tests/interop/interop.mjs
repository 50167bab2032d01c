// SPDX-License-Identifier: Apache-2.0
// Runs a client program, written with the official MCP library of its language, against a real server.
//
//   PROGRAM URL ERA MODEL      ERA is `legacy` or `2026-07-28`, MODEL the address of a model server
//
// The program prints `ok STEP` or `failed STEP: WHY` for each step that it tries, except the last step, `disconnect`: that step
// succeeds if the program's exit status is 0. For what only this script can do, the program prints `ask WHAT`, where WHAT is
// `busy` (wait until the server is answering a call), `quiet` (wait until it no longer is), `cut` (close the connections) or
// `restart` (restart the server). The script then writes a line to the program's standard input: `done`, or why this failed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { atEnd, inFlight, startProxy, startServer, startSimserve, until } from '../e2e/support/harness.mjs';

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
const NOTICED_MS = 3000; // for the server to give up a cancelled call; usually it takes far less, but the machine might be busy

// interop(name, program, ...arguments): a test per era, with a subtest for each step.
export function interop(name, program, ...args) {
    const eras = ['legacy', '2026-07-28'];
    const talk = (era) =>
        test(`${name} client, ${era}`, { timeout: PROGRAM_MS }, async (t) => {
            const model = await startSimserve(t);
            const server = await startServer(t);
            const proxy = await startProxy(t, server.port);
            const results = await converse(t, [program, ...args, proxy.url, era, model.url], {
                busy: () => until('a call to be in flight', async () => (await inFlight(server)) > 0),
                quiet: () => until('the call to be given up', async () => (await inFlight(server)) === 0, NOTICED_MS),
                cut: () => proxy.cut(),
                restart: () => proxy.during(() => server.stop().then(() => server.start())),
            });
            for (const step of STEPS) await t.test(step, () => assert.equal(results.get(step), 'ok'));
        });
    describe(`${name} client`, { concurrency: true }, () => eras.forEach(talk));
}

// converse(t, command, actions): runs the program to its end; returns the result of each step. `actions` has a function for each
// WHAT.
async function converse(t, [program, ...args], actions) {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const closed = once(child, 'close');
    const results = new Map();
    let errors = '';
    atEnd(t, () => child.kill('SIGKILL'));
    child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk));
    child.stdin.on('error', () => {});
    for await (const line of createInterface({ input: child.stdout })) {
        const [, word, rest] = line.match(/^(ok|failed|ask) (.*)$/) ?? assert.fail(`${line}\n${errors}`);
        if (word === 'ask') await answer(child, actions[rest]);
        else if (word === 'ok') results.set(rest, 'ok');
        else results.set(...rest.split(/: (.*)/s, 2));
    }
    const [code] = await closed;
    results.set('disconnect', code === 0 ? 'ok' : `exit status ${code}`);
    if (errors !== '') t.diagnostic(errors.slice(-4000));
    return results;
}

async function answer(child, action) {
    const reply = await Promise.resolve(action()).then(
        () => 'done',
        (error) => error.message,
    );
    child.stdin.write(`${reply}\n`);
}
