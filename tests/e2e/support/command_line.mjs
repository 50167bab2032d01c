// SPDX-License-Identifier: Apache-2.0
// Runs opsbrain commands against a running server, in a pipe or on a terminal.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { atEnd, OPSBRAIN, startServer, startSimserve, temporaryFolder } from './harness.mjs';

const PROMPT = /(\(empty: none\):|\[y\/N\]) $|KV cache in use, %: \d/; // the output after which a user types
const LIMIT_MS = 20_000;
const SANITIZER = /ERROR: (Address|Leak)Sanitizer|runtime error:/;

// output(file, args, {env, input, cwd, during}): runs a program to its end; returns {code, stdout, stderr}. `input` is its standard
// input; if the program is `script`, it is typed after the first PROMPT. during(child, {stdout, stderr}) is called whenever there
// is more output.
export async function output(file, args, { env = {}, input = '', cwd, during } = {}) {
    const child = spawn(file, args, { env: { ...process.env, ...env }, cwd });
    const kept = { stdout: '', stderr: '' };
    let typed = false;
    for (const name of ['stdout', 'stderr'])
        child[name].setEncoding('utf8').on('data', (chunk) => {
            kept[name] += chunk;
            if (!typed && PROMPT.test(kept[name])) {
                typed = true;
                child.stdin.write(input);
            }
            during?.(child, kept);
        });
    child.stdin.on('error', () => {});
    if (file !== 'script') child.stdin.end(input);
    const late = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    const [code] = await once(child, 'close');
    clearTimeout(late);
    assert.notEqual(code, null, `still running after ${LIMIT_MS} ms: ${args}\n${kept.stdout}${kept.stderr}`);
    assert.doesNotMatch(kept.stdout + kept.stderr, SANITIZER);
    return { code, ...kept };
}

// commandLine(t, server): a function run(...args) that runs an opsbrain command against the server, with a configuration folder
// of its own. run.with(options, ...args) also passes the options to output(); run.done(...args) returns the standard output of a
// command that must succeed.
export async function commandLine(t, server) {
    const config = await temporaryFolder(t);
    const env = { OPSBRAIN_URL: server.url, OPSBRAIN_KEY: '', XDG_CONFIG_HOME: config, NO_COLOR: '', TERM: 'xterm' };
    const run = (...args) => output(OPSBRAIN, args, { env });
    run.env = env;
    run.with = (more, ...args) => output(OPSBRAIN, args, { env, ...more });
    // run.onTerminal(columns, options, ...args): runs the command on a terminal with this many columns, and passes the options to
    // output(). The output also has the terminal's name, the command's process id and, at the end, the terminal's state.
    run.onTerminal = (columns, more, ...args) => output('script', ['-qefc',
        `tty; stty cols ${columns} rows 40; trap : INT; sh -c 'echo pid $$; exec ${[OPSBRAIN, ...args].join(' ')}'; code=$?; stty -a; exit $code`,
        '/dev/null'], { env, ...more });
    // run.typed(columns, input, ...args): also runs the command on a terminal, and types `input` at the first prompt. Adds nothing to
    // the output.
    run.typed = (columns, input, ...args) =>
        output('script', ['-qefc', `stty cols ${columns} rows 40; ${[OPSBRAIN, ...args].join(' ')}`, '/dev/null'], { env, input });
    run.done = async (...args) => {
        const { code, stdout, stderr } = await run(...args);
        assert.equal(code, 0, stderr);
        return stdout;
    };
    return run;
}

export const QUICK = ['--step-ms', '2']; // the time from token to token, in ms; the first token comes after 20 ms

export async function withDemo(t) {
    const model = await startSimserve(t, QUICK);
    const server = await startServer(t);
    const run = await commandLine(t, server);
    await run.done('register', 'demo', model.url);
    return { run, server, model };
}

// startRelay(t, model, host): starts a relay on a free port of the address `host`. It passes requests to the model server, but has no
// /metrics. Returns {port, die}; die() stops the relay and closes its connections.
export async function startRelay(t, model, host) {
    const relay = http.createServer((request, response) => {
        if (request.url === '/metrics') return response.writeHead(404).end();
        const { url: path, method, headers } = request;
        const outgoing = http.request({ host: '127.0.0.1', port: model.port, path, method, headers }, (incoming) => {
            response.writeHead(incoming.statusCode, incoming.headers);
            incoming.pipe(response);
        });
        request.pipe(outgoing.on('error', () => response.destroy()));
    });
    await new Promise((resolve) => relay.listen(0, host, resolve));
    const die = () => relay.close() && relay.closeAllConnections();
    atEnd(t, die);
    return { port: relay.address().port, die };
}

// sweepOf(text): the id of the first sweep that a command's output names; undefined if it names none.
export const sweepOf = (text) => text.match(/swp_[0-9a-z]{26}/)?.[0];
