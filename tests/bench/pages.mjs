// SPDX-License-Identifier: Apache-2.0
// ./run bench pages   64 agents call tools, with and without 50 people loading a run's page and its charts (2 minutes)
//
// The server is pinned to core 0. Agents pause before each call, people before each page; rounds with and without
// people alternate, so that a slow moment of the machine affects both. Fails if the p99 of the calls is more than 20 %
// higher with people. Options: --seconds N (length of a round), --rounds N, --people N, --agents N, --think-s N (a person's
// mean pause).
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gridFile } from '../browser/grid_file.mjs';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const DATA = 'build/bench/pages';
const PORT = 18240;
const RATIO_MAX = 1.2;
const AGENT_PAUSE_S = 0.5;
const { values: options } = parseArgs({
    options: {
        ...{ seconds: { type: 'string', default: '10' }, rounds: { type: 'string', default: '4' } },
        ...{ people: { type: 'string', default: '50' }, agents: { type: 'string', default: '64' } },
        'think-s': { type: 'string', default: '5' },
    },
});
const seconds = Number(options.seconds);
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

function startServer() {
    rmSync(DATA, { recursive: true, force: true });
    mkdirSync(DATA, { recursive: true });
    mkdirSync('build/log', { recursive: true });
    const log = openSync('build/log/bench-pages-server.log', 'w');
    return spawn('taskset', ['-c', '0', process.env.OPSBRAIN_BIN, 'serve', `--listen=127.0.0.1:${PORT}`, `--data=${DATA}`,
        '--connections-per-address=0', '--calls-per-principal=256'], { stdio: ['ignore', log, log] });
}

function ask(path, { method = 'GET', headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
        const outgoing = http.request({ host: '127.0.0.1', port: PORT, path, method, headers, agent }, async (incoming) => {
            let text = '';
            for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
            resolve({ status: incoming.statusCode, text });
        });
        outgoing.on('error', reject);
        outgoing.end(body);
    });
}

async function call(name, args) {
    const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } });
    const headers = {
        ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        ...{ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
    };
    const { status, text } = await ask('/mcp', { method: 'POST', headers, body });
    const answer = JSON.parse(text.startsWith('{') ? text : text.match(/^data: (.*)$/m)[1]);
    if (status !== 200 || answer.result?.isError !== false) throw new Error(`${name}: ${status} ${text.slice(0, 400)}`);
    return answer.result.structuredContent;
}

async function waitUntilReady(server) {
    for (let i = 0; i < 100 && server.exitCode === null; i++) {
        const answer = await ask('/ready').catch(() => null);
        if (answer?.status === 200) return;
        await sleep(100);
    }
    throw new Error('opsbrain did not start: see build/log/bench-pages-server.log');
}

// Loads the page of a run and the pictures in it, as a browser does; returns their total length in characters.
async function load(path) {
    const { status, text } = await ask(path, { headers: { Accept: 'text/html' } });
    if (status !== 200) throw new Error(`${path}: ${status}`);
    const pictures = [...text.matchAll(/<img[^>]* src="([^"]+)"/g)].map(([, url]) => url.replaceAll('&amp;', '&'));
    const lengths = await Promise.all(pictures.map(async (url) => (await ask(url)).text.length));
    return lengths.reduce((sum, each) => sum + each, text.length);
}

// repeat(until, pauseS, work): runs `work` repeatedly until the time `until`, with a random pause of 0 to 2 * `pauseS` seconds
// before each run; returns how long each run took, in ms.
async function repeat(until, pauseS, work) {
    const times = [];
    for (;;) {
        await sleep(2000 * pauseS * Math.random());
        if (performance.now() > until) return times;
        const begun = performance.now();
        await work();
        times.push(performance.now() - begun);
    }
}

async function round(run, people) {
    const until = performance.now() + 1000 * seconds;
    const actions = [
        () => call('run_show', { run }),
        () => call('run_list', {}),
        () => call('deployment_list', {}),
        () => call('job_list', {}),
    ];
    const agents = Array.from({ length: Number(options.agents) }, (_, i) => repeat(until, AGENT_PAUSE_S, actions[i % actions.length]));
    const readers = Array.from({ length: people }, () => repeat(until, Number(options['think-s']), () => load(`/runs/${run}`)));
    const [calls, pages] = await Promise.all([Promise.all(agents), Promise.all(readers)]);
    return { calls: calls.flat(), pages: pages.flat() };
}

function quantile(times, q) {
    const sorted = [...times].sort((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? NaN;
}

const shown = (times) =>
    `${times.length}, p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, longest ${Math.max(...times).toFixed(1)} ms`;

const server = startServer();
try {
    await waitUntilReady(server);
    const { run } = await call('run_import', { text: gridFile(), name: 'study.json' });
    const begun = performance.now();
    const length = await load(`/runs/${run.id}`);
    console.log(`the page of 156 cells with its charts: ${length} characters, ${(performance.now() - begun).toFixed(0)} ms for the first load`);
    const all = { without: [], with: [], pages: [] };
    for (let i = 0; i < Number(options.rounds); i++) {
        all.without.push(...(await round(run.id, 0)).calls);
        const { calls, pages } = await round(run.id, Number(options.people));
        all.with.push(...calls);
        all.pages.push(...pages);
    }
    console.log(`calls by ${options.agents} agents alone: ${shown(all.without)}`);
    console.log(`calls with ${options.people} people:     ${shown(all.with)}`);
    console.log(`pages with their charts:   ${shown(all.pages)}`);
    const ratio = quantile(all.with, 0.99) / quantile(all.without, 0.99);
    console.log(`p99 with people / without people: ${ratio.toFixed(2)}, limit ${RATIO_MAX}: ${ratio <= RATIO_MAX ? 'ok' : 'EXCEEDED'}`);
    process.exitCode = ratio <= RATIO_MAX ? 0 : 1;
} finally {
    server.kill('SIGTERM');
    agent.destroy();
}
