// ./run bench load    what an event costs the load generator, next to a client of node:http with JSON.parse (2 minutes)
//
// Both run the same closed loop against simserve, one after the other; simserve's own record of its writes is the truth.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSimserve } from '../e2e/harness.mjs';

const BENCH = path.resolve('build/release/bin/bench_load');
const PEER = path.join(path.dirname(fileURLToPath(import.meta.url)), 'load_peer.js');
const LOADS = [
    { users: 64, stepMs: 20 },
    { users: 256, stepMs: 20 },
    { users: 1024, stepMs: 20 },
    { users: 2048, stepMs: 40 },
];
const TOKENS = 128;
const WINDOW_S = 8;

async function output(file, args) {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';

    child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    await once(child, 'close');
    return text;
}

const figure = (text, pattern) => Number(pattern.exec(text)?.[1] ?? NaN);

// The figures of bench_load's table.
function readOurs(text) {
    return {
        events: figure(text, /events\/s (\d+)/),
        cpu: figure(text, /CPU ([\d.]+) %/),
        cost: figure(text, /([\d.]+) us\/event/),
        lag: figure(text, /lag p50 [\d.]+ p99 ([\d.]+)/),
        p50: figure(text, /ttft {2}p50 {4}client +([\d.]+)/),
        p99: figure(text, /ttft {2}p99 {4}client +([\d.]+)/),
        truth99: figure(text, /ttft {2}p99 {4}client.*truth +([\d.]+)/),
        limited: /CLIENT LIMITED/.test(text),
    };
}

function line(name, got) {
    const cells = [
        name.padEnd(22),
        got.events.toFixed(0).padStart(9),
        `${got.cpu.toFixed(1)} %`.padStart(8),
        got.cost.toFixed(2).padStart(9),
        (got.lag?.toFixed(3) ?? '-').padStart(9),
        got.p50.toFixed(1).padStart(9),
        got.p99.toFixed(1).padStart(9),
        got.truth99.toFixed(1).padStart(9),
    ];
    console.log(cells.join(' ') + (got.limited ? '  client limited' : ''));
}

async function compare({ users, stepMs }) {
    const endings = [];
    const args = ['--max-running', '8192', '--step-ms', String(stepMs)];
    const { url } = await startSimserve({ after: (step) => endings.push(step) }, args);
    try {
        const shape = [url, String(users), '128', String(TOKENS), String(WINDOW_S)];
        const ours = readOurs(await output(BENCH, shape));
        line(`${users} users, opsbrain`, ours);
        const theirs = JSON.parse(await output(process.execPath, [PEER, ...shape]));
        line(`${users} users, node:http`, theirs);
        console.log(`${' '.repeat(22)} ${(theirs.cost / ours.cost).toFixed(1)} times the CPU per event`);
    } finally {
        for (const step of endings) await step();
    }
}

console.log('client                  events/s      CPU  us/event   lag p99  TTFT p50  TTFT p99 truth p99 (ms)');
for (const load of LOADS) await compare(load);
