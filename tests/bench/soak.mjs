// SPDX-License-Identifier: Apache-2.0
// ./run bench soak       mixed calls and sweeps: do memory and file descriptors stay flat in the second half? (1 hour)
//
// Clients of old and new versions of MCP come and go, sweeps run one after the other, metrics are watched, streams are opened and
// interrupted, and some calls are refused. Options: --minutes N (default 60), --csv FILE (where to save the readings).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connect } from '../e2e/support/clients.mjs';
import { post, startServer, startSimserve } from '../e2e/support/harness.mjs';
import { startSweep, waitForJob } from '../e2e/support/sweep_by_client.mjs';

const { values: options } = parseArgs({
    options: { minutes: { type: 'string', default: '60' }, csv: { type: 'string' } },
});
const LENGTH_MS = Number(options.minutes) * 60_000;
const READ_EVERY_MS = 10_000;
const ALLOWED_MIB_PER_MINUTE = 0.05;
const ALLOWED_DESCRIPTORS = 8;

let over = false;
const count = { calls: 0, refused: 0, sessions: 0, streams: 0, sweeps: 0 };

const READS = [
    ['deployment_list', {}],
    ['deployment_show', { deployment: 'sim' }],
    ['metrics_show', { deployment: 'sim' }],
    ['metrics_history', { deployment: 'sim', hours: 1 }],
    ['sweep_list', {}],
    ['run_list', {}],
    ['job_list', {}],
    ['audit_list', {}],
    ['lease_list', {}],
    ['sweep_plan', { deployment: 'sim', concurrency: [1, 4], input_tokens: [16] }],
    ['model_health', { deployment: 'sim' }],
    ['deployment_show', { deployment: 'nowhere' }],
    ['no_such_tool', {}],
];

// Connects, makes calls and disconnects; with the older protocols, the session is left open.
async function visit(server, kind) {
    const client = await connect(kind, server.url);
    count.sessions++;
    for (let i = 0; i < 20 && !over; i++) {
        const [name, args] = READS[Math.floor(Math.random() * READS.length)];
        const result = await client.callTool(name, args).catch((error) => ({ isError: true, error }));
        count[result.isError ? 'refused' : 'calls']++;
    }
    await client.close();
}

// Opens a long-lived stream, and closes its connection after a moment.
async function listen(server) {
    const headers = { Accept: 'text/event-stream', 'MCP-Protocol-Version': '2025-11-25' };
    const greeting = await post(server.port, {
        jsonrpc: '2.0', id: 1, method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'soak', version: '1' } },
    });
    const asked = http.request({
        host: '127.0.0.1', port: server.port, path: '/mcp', agent: false,
        headers: { ...headers, 'Mcp-Session-Id': greeting.headers['mcp-session-id'] },
    });
    asked.on('error', () => {}).end();
    await sleep(200 + Math.random() * 500);
    asked.destroy();
    count.streams++;
}

async function measure(server) {
    const client = await connect('2x-2026', server.url);
    const { job } = await startSweep(client, {
        deployment: 'sim', concurrency: [1, 8, 32], input_tokens: [16, 128], output_tokens: [32], window_s: 2, warmup_limit_s: 1,
    });
    await waitForJob(client, job);
    const { runs } = await client.call('run_list', { limit: 1 });
    await client.callTool('run_report', { run: runs?.[0]?.id });
    await client.close();
    count.sweeps++;
}

async function untilOver(step) {
    while (!over) await step().catch((error) => over || (console.error(error.message), sleep(1000)));
}

function memoryOf(pid) {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const kib = (name) => Number(rollup.match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'))[1]);
    return { rss: kib('Rss') / 1024, anonymous: kib('Anonymous') / 1024 };
}

function read(server, since) {
    const pid = server.program.child.pid;
    const row = { minute: (performance.now() - since) / 60_000, ...memoryOf(pid), descriptors: readdirSync(`/proc/${pid}/fd`).length };
    return { ...row, ...count };
}

// Returns a figure's growth per minute (the slope of the least-squares line).
function slope(rows, name) {
    const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
    const x = rows.map((row) => row.minute), y = rows.map((row) => row[name]);
    const mx = mean(x), my = mean(y);
    return x.reduce((sum, each, i) => sum + (each - mx) * (y[i] - my), 0) / x.reduce((sum, each) => sum + (each - mx) ** 2, 0);
}

async function run(t) {
    const model = await startSimserve(t, ['--ttft-ms', '20', '--step-ms', '5']);
    const server = await startServer(t);
    const admin = await connect('2x-2026', server.url);
    await admin.call('deployment_register', { name: 'sim', url: model.url });
    await admin.call('metrics_watch', { deployment: 'sim', interval_s: 2 });

    const since = performance.now(), rows = [];
    const work = [
        ...['legacy-1x', '2x-legacy', '2x-auto', '2x-2026'].map((kind) => untilOver(() => visit(server, kind))),
        untilOver(() => listen(server)),
        untilOver(() => measure(server)),
    ];
    while (performance.now() - since < LENGTH_MS) {
        await sleep(READ_EVERY_MS);
        rows.push(read(server, since));
        if (rows.length % 6 === 0) console.log(rows.at(-1));
    }
    over = true;
    await Promise.all(work);
    await admin.close();
    if (options.csv)
        writeFileSync(options.csv, [Object.keys(rows[0]), ...rows.map(Object.values)].map((row) => row.join(',')).join('\n'));

    const half = rows.slice(rows.length / 2), grows = slope(half, 'anonymous');
    // A sweep opens as many descriptors as it has users. Therefore, only the minimums of the third and fourth quarters, which are
    // reached between sweeps, are compared.
    const open = [half.slice(0, half.length / 2), half.slice(half.length / 2)].map((part) => Math.min(...part.map((row) => row.descriptors)));
    console.log(
        `second half: memory grows by ${grows.toFixed(3)} MiB a minute; fewest descriptors: ${open[0]} in the third quarter, ${open[1]} in the fourth`,
    );
    const flat = grows <= ALLOWED_MIB_PER_MINUTE && open[1] - open[0] <= ALLOWED_DESCRIPTORS;
    console.log(flat ? 'flat' : `NOT flat (limits: ${ALLOWED_MIB_PER_MINUTE} MiB a minute and ${ALLOWED_DESCRIPTORS} more descriptors)`);
    process.exitCode = flat ? 0 : 1;
}

// Stands in for the context of a test, where the harness registers the steps that stop what it started.
const endings = [];
const t = { after: (step) => endings.push(step) };
try {
    await run(t);
} finally {
    for (const step of endings) await step();
}
