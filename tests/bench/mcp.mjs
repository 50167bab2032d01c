// SPDX-License-Identifier: Apache-2.0
// ./run bench mcp     echo calls to opsbrain, the official SDKs and the bare HTTP library, each on one core (8 minutes)
//
// Every server is pinned to core 0 and driven by wrk on core 1. The servers take turns in several short rounds; for each figure,
// the best round counts, since noise can only slow a round down. Each era (version of MCP) is measured separately. The "peers" are
// servers built with the official SDKs; a peer that cannot be built, for example because its package registry cannot be reached,
// is skipped with a message. The "ceiling" is libmicrohttpd alone, which receives and sends as many bytes as opsbrain.
// For a short run:
//
//     ./run bench mcp --servers go,rust --eras 2026-07-28 --connections 64 --seconds 1 --rounds 1
//
// To find out whether a change made opsbrain slower, use --before BIN: it also measures BIN, the bench_echo of another build, and
// compares the CPU time per call. Both builds are driven at the same time, since the speed of a shared machine can change by a
// fifth from one second to the next. Each round restarts both, since where a process lies in memory makes a difference of 3 %:
//
//     ./run bench mcp --servers '' --before ../before/build/release/bin/bench_echo
import { execFile, spawn, spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const SOURCES = 'tests/bench/mcp';
const BUILT = 'build/bench';
const PORT = 18200;
const SESSIONS = 16;
const TEXT = '0123456789abcdef0123456789abcdef';
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
// The minimum share of the ceiling's requests/s that opsbrain must reach with 64 or more connections.
const SHARE_MIN = { '2025-11-25': 0.6, '2026-07-28': 0.4 };

const { values: options } = parseArgs({
    options: {
        before: { type: 'string' },
        servers: { type: 'string', default: 'typescript,go,rust,python' },
        eras: { type: 'string', default: `${LEGACY},${MODERN}` },
        connections: { type: 'string', default: '1,16,64,256' },
        seconds: { type: 'string', default: '2' },
        rounds: { type: 'string', default: '3' },
    },
});
const connections = options.connections.split(',').map(Number);
const rounds = Number(options.rounds);

// ---- Building the peers: each builder returns the command that starts the peer, to which PORT and ERA are appended ----

function run(name, command, ...args) {
    const log = openSync(`build/log/bench-${name}.log`, 'a');
    const { status, error } = spawnSync(command, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    if (error) throw new Error(`${command} is not installed`);
    if (status !== 0) throw new Error(`'${command} ${args[0]}' failed, see build/log/bench-${name}.log`);
}

// Does `work`, unless it was already done for the versions that the file `pins` lists now.
function once(name, pins, work) {
    const stamp = `${BUILT}/${name}/${pins}`;
    if (existsSync(stamp) && readFileSync(stamp).equals(readFileSync(`${SOURCES}/${name}/${pins}`))) return;
    rmSync(`${BUILT}/${name}`, { recursive: true, force: true });
    mkdirSync(`${BUILT}/${name}`, { recursive: true });
    work();
    copyFileSync(`${SOURCES}/${name}/${pins}`, stamp);
}

const builders = {
    typescript() {
        once('typescript', 'package-lock.json', () => {
            copyFileSync(`${SOURCES}/typescript/package.json`, `${BUILT}/typescript/package.json`);
            copyFileSync(`${SOURCES}/typescript/package-lock.json`, `${BUILT}/typescript/package-lock.json`);
            run('typescript', 'npm', 'ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', `${BUILT}/typescript`);
        });
        copyFileSync(`${SOURCES}/typescript/server.mjs`, `${BUILT}/typescript/server.mjs`);
        return [process.execPath, `${BUILT}/typescript/server.mjs`];
    },
    go() {
        run('go', 'go', 'build', '-C', `${SOURCES}/go`, '-o', `${process.cwd()}/${BUILT}/go/peer`, '.');
        return [`${BUILT}/go/peer`];
    },
    rust() {
        run('rust', 'cargo', 'build', '--release', '--locked', '--manifest-path', `${SOURCES}/rust/Cargo.toml`,
            '--target-dir', `${BUILT}/rust`);
        return [`${BUILT}/rust/release/peer`];
    },
    python() {
        once('python', 'requirements.txt', () => {
            run('python', 'python3', '-m', 'venv', `${BUILT}/python/venv`);
            run('python', `${BUILT}/python/venv/bin/pip`, 'install', '-r', `${SOURCES}/python/requirements.txt`);
        });
        return [`${BUILT}/python/venv/bin/python`, `${SOURCES}/python/server.py`];
    },
};

function buildPeers() {
    const commands = {};
    mkdirSync('build/log', { recursive: true });
    for (const name of options.servers.split(',').filter(Boolean)) {
        if (!builders[name]) throw new Error(`there is no peer '${name}': choose from ${Object.keys(builders).join(', ')}`);
        process.stdout.write(`building the peer ${name}: `);
        try {
            commands[name] = builders[name]();
            console.log('done');
        } catch (error) {
            console.log(`skipped: ${error.message}`);
        }
    }
    return commands;
}

// ---- Servers ----

const running = [];
process.on('exit', () => running.forEach((server) => server.child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

function start(name, command, port) {
    const log = openSync(`build/log/bench-${name}-server.log`, 'w');
    const child = spawn('taskset', ['-c', '0', ...command], { stdio: ['ignore', log, log] });
    closeSync(log);
    const server = { name, child, port, url: `http://127.0.0.1:${port}/mcp`, best: new Map() };
    child.on('exit', () => (server.ended = true));
    running.push(server);
    return server;
}

async function stop(server) {
    running.splice(running.indexOf(server), 1);
    if (server.ended) return;
    server.child.kill();
    const end = Date.now() + 5000;
    while (!server.ended && Date.now() < end) await sleep(20);
    server.child.kill('SIGKILL');
}

async function waitUntilItListens(server) {
    const end = Date.now() + 30000;
    while (Date.now() < end && !server.ended) {
        try {
            await fetch(server.url, { method: 'DELETE' });
            return;
        } catch {
            await sleep(50);
        }
    }
    throw new Error(`${server.name} does not listen: see build/log/bench-${server.name}-server.log`);
}

// ---- Calls ----

const post = (url, headers, message) =>
    fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });

async function beginSession({ url }) {
    const clientInfo = { name: 'bench', version: '1.0.0' };
    const answer = await post(url, {}, {
        id: 1, method: 'initialize', params: { protocolVersion: LEGACY, capabilities: {}, clientInfo },
    });
    const session = answer.headers.get('mcp-session-id');
    await answer.text();
    const headers = { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': LEGACY };
    await (await post(url, headers, { method: 'notifications/initialized' })).text();
    return session;
}

// Makes a call as wrk.lua does, and checks the answer; returns the length of the answer's body.
async function checkEcho(server, era, session) {
    const modern = era === MODERN;
    const headers = modern
        ? { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'echo' }
        : { 'MCP-Protocol-Version': LEGACY, 'Mcp-Session-Id': session };
    const params = { name: 'echo', arguments: { text: TEXT } };
    if (modern)
        params._meta = {
            'io.modelcontextprotocol/protocolVersion': MODERN,
            'io.modelcontextprotocol/clientCapabilities': {},
            'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
        };
    const answer = await post(server.url, headers, { id: 100000000, method: 'tools/call', params });
    const body = await answer.text();
    const json = body.startsWith('{') ? body : body.match(/^data: ?(\{.*)$/m)?.[1];
    if (JSON.parse(json ?? '{}').result?.content?.[0]?.text !== TEXT)
        throw new Error(`${server.name} does not echo: ${answer.status} ${body}`);
    return body.length;
}

async function makeReady(server, era) {
    await waitUntilItListens(server);
    server.arguments = [era];
    for (let i = 0; era === LEGACY && i < SESSIONS; i++) server.arguments.push(await beginSession(server));
    server.bodyBytes = await checkEcho(server, era, server.arguments[1]);
}

// ---- Measuring ----

// Returns the CPU time of all threads of a process so far. Unlike requests/s, it hardly depends on other load.
function cpuMicroseconds({ child }) {
    const tasks = `/proc/${child.pid}/task`;
    const nanoseconds = readdirSync(tasks).map((task) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]));
    return nanoseconds.reduce((a, b) => a + b) / 1e3;
}

const runProgram = promisify(execFile);

async function drive(server, count, seconds) {
    const before = cpuMicroseconds(server);
    const { stdout, stderr } = await runProgram('taskset', ['-c', '1', 'wrk', '-t1', '-c', count, '-d', `${seconds}s`, '--timeout', '10s',
        '-s', `${SOURCES}/wrk.lua`, server.url, '--', ...server.arguments]);
    const last = stdout.trim().split('\n').at(-1);
    if (!last.startsWith('{')) throw new Error(`wrk against ${server.name} failed: ${stdout}${stderr}`);
    const measured = JSON.parse(last);
    if (measured.requests === 0) throw new Error(`${server.name} answered no call in ${seconds} s (connections: ${count})`);
    return {
        rps: (measured.requests * 1e6) / measured.us,
        cpu: (cpuMicroseconds(server) - before) / measured.requests,
        p50: measured.p50_us / 1e3,
        p99: measured.p99_us / 1e3,
        failed: measured.failed,
    };
}

function keepBest(server, count, round) {
    const best = server.best.get(count) ?? { rps: 0, cpu: Infinity, p50: Infinity, p99: Infinity, failed: 0 };
    server.best.set(count, {
        rps: Math.max(best.rps, round.rps),
        cpu: Math.min(best.cpu, round.cpu),
        p50: Math.min(best.p50, round.p50),
        p99: Math.min(best.p99, round.p99),
        failed: best.failed + round.failed,
    });
}

function memoryMB({ child }) {
    const [, kB] = readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m);
    return Number(kB) / 1024;
}

async function measure(servers) {
    for (const server of servers) await drive(server, 16, 1); // to warm up just-in-time compilers
    for (const count of connections)
        for (let round = 0; round < rounds; round++)
            for (const server of servers) keepBest(server, count, await drive(server, count, options.seconds));
    for (const server of servers) server.memory = memoryMB(server);
}

// ---- Printing ----

const columns = [11, 13, 12, 10, 9, 9, 9, 12, 17];
const line = (cells) => console.log(cells.map((cell, i) => (i === 0 ? `${cell}`.padEnd(columns[i]) : `${cell}`.padStart(columns[i]))).join(''));

function fastest(peers, count) {
    return peers.reduce((a, b) => (a && a.best.get(count).rps >= b.best.get(count).rps ? a : b), undefined);
}

function printRow(server, count, ceiling, peer) {
    const best = server.best.get(count);
    const ratio = (other) => (other ? (best.rps / other.best.get(count).rps).toFixed(2) : '-');
    line([server.name, count, Math.round(best.rps), best.cpu.toFixed(1), best.p50.toFixed(2), best.p99.toFixed(2),
        server === ceiling ? '-' : `${server.memory.toFixed(0)} MB`, ratio(ceiling), ratio(peer)]);
    if (best.failed > 0) console.log(`             ${best.failed} of ${server.name}'s requests failed`);
}

function printTargets(era, opsbrain, ceiling, peers) {
    for (const count of connections) {
        const { rps, p99, failed } = opsbrain.best.get(count);
        const share = rps / ceiling.best.get(count).rps;
        const peer = fastest(peers, count);
        const checked = [];
        const check = (holds, sentence) => checked.push(`${holds ? '' : 'MISSED: '}${sentence}`);
        if (peer) {
            const others = peers.map((other) => other.best.get(count).p99);
            check(rps >= 1.5 * peer.best.get(count).rps, `${(rps / peer.best.get(count).rps).toFixed(1)} times the requests/s of ${peer.name} (1.5)`);
            check(p99 < Math.min(...others), `p99 ${p99.toFixed(2)} ms (best peer ${Math.min(...others).toFixed(2)})`);
        }
        if (count >= 64) check(share >= SHARE_MIN[era], `${(100 * share).toFixed(0)} % of the ceiling (${100 * SHARE_MIN[era]})`);
        if (failed > 0) check(false, `failed requests: ${failed}`);
        console.log(`  ${era}, connections ${count}: ${checked.join('; ')}`);
    }
}

function printEra(era, { opsbrain, ceiling, peers }) {
    console.log(`\n${era === LEGACY ? `${LEGACY}, ${SESSIONS} sessions` : `${MODERN}, stateless`}`);
    line(['server', 'connections', 'requests/s', 'CPU us', 'p50 ms', 'p99 ms', 'memory', 'of ceiling', 'of fastest peer']);
    for (const server of [opsbrain, ...peers, ceiling])
        for (const count of connections) printRow(server, count, ceiling, fastest(peers, count));
}

// ---- Starting the servers of an era ----

async function startEcho(name, program, port, era) {
    const data = `${BUILT}/data-${name}`;
    rmSync(data, { recursive: true, force: true });
    mkdirSync(data, { recursive: true });
    const server = start(name, [program, `--listen=127.0.0.1:${port}`, '--http-threads=1', '--auth=none', `--data=${data}`], port);
    await makeReady(server, era);
    return server;
}

async function startAll(commands, era) {
    const bin = 'build/release/bin';
    const opsbrain = await startEcho('opsbrain', `${bin}/bench_echo`, PORT, era);
    const ceiling = start('ceiling', [`${bin}/bench_ceiling`, `${PORT + 1}`, `${opsbrain.bodyBytes}`], PORT + 1);
    await waitUntilItListens(ceiling);
    ceiling.arguments = opsbrain.arguments;
    const peers = [];
    for (const [name, command] of Object.entries(commands)) {
        const port = PORT + 2 + running.length;
        const peer = start(name, [...command, port, era === MODERN ? 'modern' : 'legacy'], port);
        try {
            await makeReady(peer, era);
            peers.push(peer);
        } catch (error) {
            console.log(`${era}: the peer ${name} is skipped: ${error.message}`);
        }
    }
    return { opsbrain, ceiling, peers };
}

// ---- Against another build ----

const DRIVES = 3; // measurements of each pair of processes, after a first drive that warms them up

async function startPair(round, era) {
    const programs = [['opsbrain', 'build/release/bin/bench_echo'], ['before', options.before]];
    const pair = {};
    for (const [name, program] of round % 2 ? programs : programs.reverse()) pair[name] = await startEcho(name, program, PORT + running.length, era);
    return pair;
}

// Returns the ratios of this build's CPU time per call to that of the other build, in ascending order.
async function compareCost(era, count) {
    const ratios = [];
    for (let round = 0; round < rounds; round++) {
        const { opsbrain, before } = await startPair(round, era);
        for (let i = 0; i <= DRIVES; i++) {
            const [now, then] = await Promise.all([opsbrain, before].map((server) => drive(server, count, options.seconds)));
            if (i > 0) ratios.push(now.cpu / then.cpu); // the first drive warms both up
        }
        for (const server of [...running]) await stop(server);
    }
    return ratios.sort((a, b) => a - b);
}

async function reportChange(era) {
    for (const count of connections) {
        const ratios = await compareCost(era, count);
        const at = (share) => ratios[Math.floor(share * (ratios.length - 1))].toFixed(3);
        console.log(`  ${era}, connections ${count}: ${at(0.5)} times the other build's CPU time per call (middle half of the ratios: ${at(0.25)} to ${at(0.75)})`);
    }
}

const commands = buildPeers();
const eras = [];
for (const era of options.eras.split(',')) {
    const servers = await startAll(commands, era);
    await measure([servers.ceiling, servers.opsbrain, ...servers.peers]);
    for (const server of [...running]) await stop(server);
    printEra(era, servers);
    eras.push([era, servers]);
}
console.log('\nopsbrain against its targets (in parentheses):');
for (const [era, { opsbrain, ceiling, peers }] of eras) printTargets(era, opsbrain, ceiling, peers);
if (options.before) for (const [era] of eras) await reportChange(era);
