// SPDX-License-Identifier: Apache-2.0
// ./run bench streams 10,000 idle event streams on one core: memory per stream, keep-alives, calls meanwhile (2 minutes)
//
// opsbrain (the echo program of `./run bench mcp`) is pinned to core 0, the client to core 1. Options: --streams N.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const BIN = 'build/release/bin';
const DATA = 'build/bench/streams';
const PORT = 18230;
const KEEP_ALIVE_S = 5;
const HELD_S = 21; // time for four keep-alives of each stream; three are required
const { values: options } = parseArgs({ options: { streams: { type: 'string', default: '10000' } } });
const streams = Number(options.streams);

function startServer() {
    rmSync(DATA, { recursive: true, force: true });
    mkdirSync(DATA, { recursive: true });
    mkdirSync('build/log', { recursive: true });
    const log = openSync('build/log/bench-streams-server.log', 'w');
    return spawn('taskset', ['-c', '0', `${BIN}/bench_echo`, `--listen=127.0.0.1:${PORT}`, '--http-threads=1', '--auth=none',
        `--data=${DATA}`, `--keep-alive=${KEEP_ALIVE_S}s`, `--connections=${streams + 100}`, '--connections-per-address=0', `--sessions=${streams + 100}`,
        `--sessions-per-principal=${streams + 100}`],
        { stdio: ['ignore', log, log] });
}

async function waitUntilReady() {
    for (let i = 0; i < 100; i++) {
        const answer = await fetch(`http://127.0.0.1:${PORT}/health`).catch(() => null);
        if (answer?.ok) return;
        await sleep(100);
    }
    throw new Error('opsbrain did not start: see build/log/bench-streams-server.log');
}

function residentKib(server) {
    return Number(readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m)[1]);
}

function cpuSeconds(server) {
    const [user, system] = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
    return (Number(user) + Number(system)) / 100;
}

async function measure(era) {
    const server = startServer();
    try {
        await waitUntilReady();
        const beforeKib = residentKib(server);
        const client = spawn('taskset', ['-c', '1', `${BIN}/bench_streams`, PORT, streams, era, HELD_S],
            { stdio: ['ignore', 'pipe', 'inherit'] });
        const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
        if ((await lines.next()).done) throw new Error('the streams could not be opened');
        const cpu = cpuSeconds(server);
        await sleep((HELD_S - 1) * 1000);
        const eachKib = (residentKib(server) - beforeKib) / streams;
        const share = (cpuSeconds(server) - cpu) / (HELD_S - 1);
        return { era, eachKib, share, ...JSON.parse((await lines.next()).value) };
    } finally {
        server.kill('SIGKILL');
        await once(server, 'exit');
    }
}

const leastWanted = Math.floor(HELD_S / KEEP_ALIVE_S) - 1;
const judge = (holds, sentence) => (holds ? sentence : `MISSED: ${sentence}`);
for (const era of ['2025-11-25', '2026-07-28']) {
    const result = await measure(era);
    console.log(`${era}: ${result.streams} streams, ${result.closed} closed, ${(100 * result.share).toFixed(0)} % of a core
  ${judge(result.eachKib < 16, `${result.eachKib.toFixed(1)} KiB resident per stream (limit 16)`)}
  ${judge(result.least_keep_alives >= leastWanted && result.closed === 0, `keep-alives (a comment every ${KEEP_ALIVE_S} s): at least ${result.least_keep_alives} on each stream in ${HELD_S} s (minimum ${leastWanted})`)}
  ${judge(result.p99_ms < 5 && result.failed === 0, `${result.calls} calls meanwhile: p50 ${result.p50_ms} ms, p99 ${result.p99_ms} ms (limit 5), longest ${result.max_ms} ms; ${result.failed} failed`)}`);
}
