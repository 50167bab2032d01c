// SPDX-License-Identifier: Apache-2.0
// ./run bench load    the load generator's CPU time per event, compared with node:http, guidellm, aiperf and vLLM (15 minutes)
//
// These load generators run the same closed loop against simserve, one after another. If there are two cores, the load generator runs
// on one of them, and simserve on the other. simserve's own record of its writes is the truth. The official tools are installed from
// PyPI the first time (several gigabytes), and are skipped if PyPI cannot be reached, or with --no-python. --users N: only the loads
// with N users.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSimserve } from '../e2e/support/harness.mjs';
import { TOOLS, install, measure, prepare } from './load_tools.mjs';

const { values: options } = parseArgs({
    options: { 'no-python': { type: 'boolean' }, users: { type: 'string' } },
});

const BENCH = path.resolve('build/release/bin/bench_load');
const PEER = path.join(path.dirname(fileURLToPath(import.meta.url)), 'load_peer.js');
const LOADS = [
    { users: 64, stepMs: 20, tools: true },
    { users: 256, stepMs: 20, tools: true },
    { users: 1024, stepMs: 20 },
    { users: 2048, stepMs: 40 },
    { users: 2048, stepMs: 17 },
    { users: 2048, stepMs: 0, note: ', events as fast as the client reads them' },
];
const TOKENS = 128;
const WINDOW_S = 8;
const TOOL_S = 20;

const pinned = availableParallelism() >= 2;
const pin = pinned ? ['taskset', '-c', '1'] : [];

async function output(file, args) {
    const [command, ...rest] = [...pin, file, ...args];
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';

    child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    await once(child, 'close');
    return text;
}

const figure = (text, pattern) => Number(pattern.exec(text)?.[1] ?? NaN);

// Reads the figures from bench_load's output.
function readOurs(text) {
    return {
        events: figure(text, /events\/s (\d+)/),
        cpu: figure(text, /CPU ([\d.]+) %/),
        cost: figure(text, /([\d.]+) us\/event/),
        lag: figure(text, /lag p50 [\d.]+ p99 ([\d.]+)/),
        p50: figure(text, /ttft {2}p50 {4}client +([\d.]+)/),
        p99: figure(text, /ttft {2}p99 {4}client +([\d.]+)/),
        truth50: figure(text, /ttft {2}p50 {4}client.*truth +([\d.]+)/),
        truth99: figure(text, /ttft {2}p99 {4}client.*truth +([\d.]+)/),
        limited: /CLIENT LIMITED/.test(text),
    };
}

function line(name, got, ours = got) {
    const error = (measured, truth) => `${(measured - truth).toFixed(1)}`.padStart(9);
    const cells = [
        `  ${name}`.padEnd(24),
        got.events.toFixed(0).padStart(9),
        `${got.cpu.toFixed(1)} %`.padStart(8),
        got.cost.toFixed(2).padStart(9),
        `${(got.cost / ours.cost).toFixed(1)} x`.padStart(8),
        (got.lag?.toFixed(3) ?? '-').padStart(9),
        got.truth50.toFixed(1).padStart(9),
        error(got.p50, got.truth50),
        got.truth99.toFixed(1).padStart(9),
        error(got.p99, got.truth99),
    ];
    console.log(cells.join(' ') + (got.limited ? '  client limited' : ''));
    return got;
}

// withServer(load, step): runs the step with a new server, so that steps do not affect one another.
async function withServer({ stepMs }, step) {
    const endings = [];
    const pace = stepMs > 0 ? ['--step-ms', String(stepMs)] : ['--blast', 'true'];
    const { url, program } = await startSimserve({ after: (end) => endings.push(end) }, ['--max-running', '8192', ...pace]);
    try {
        if (pinned) execFileSync('taskset', ['-pc', '0', String(program.child.pid)], { stdio: 'ignore' });
        return await step(url);
    } finally {
        for (const end of endings) await end();
    }
}

async function compareTool(name, load, ours) {
    const got = await withServer(load, (url) =>
        measure(name, { url, users: load.users, stepMs: load.stepMs, tokens: TOKENS, seconds: TOOL_S }, pin),
    );
    if (typeof got === 'string') console.log(`  ${got}`);
    else line(name, got, ours);
}

async function compare(load, tools) {
    const shape = (url) => [url, String(load.users), '128', String(TOKENS), String(WINDOW_S)];
    const pace = load.stepMs > 0 ? `, one event per user every ${load.stepMs} ms` : (load.note ?? '');

    console.log(`${load.users} users${pace}`);
    const ours = line('opsbrain', await withServer(load, async (url) => readOurs(await output(BENCH, shape(url)))));
    const byLibcurl = async (url) => readOurs(await output(BENCH, [...shape(url), '1', 'libcurl']));
    line('opsbrain with libcurl', await withServer(load, byLibcurl), ours);
    if (load.stepMs > 0) {
        const peer = async (url) => JSON.parse(await output(process.execPath, [PEER, ...shape(url)]));
        line('node:http', await withServer(load, peer), ours);
    }
    if (load.tools) for (const name of tools) await compareTool(name, load, ours);
}

function findTools() {
    const found = [];
    for (const name of options['no-python'] ? [] : Object.keys(TOOLS)) {
        const installed = install(name); // true, or the reason why it cannot be installed
        if (installed !== true) console.log(installed);
        else if (!prepare(name)) console.log(`${name} skipped: no tokenizer could be made for it`);
        else found.push(name);
    }
    return found;
}

const tools = findTools();
console.log('                         events/s      CPU  us/event  x ours    lag p99 TTFT p50:    error      p99:    error (ms)');
for (const load of LOADS)
    if (options.users === undefined || options.users === String(load.users)) await compare(load, tools);
