// SPDX-License-Identifier: Apache-2.0
// Measures cells on real engines, directly and behind proxies, to find out whether foreign traffic (one request from another
// client for every ten from opsbrain) is detected in each cell that has it, and in no other. `./run engine` measures on all
// engines and paths, `node tests/engine/foreign.mjs [ENGINE[/PATH]...]` on some.
import { connect } from '../e2e/support/clients.mjs';
import { startServer } from '../e2e/support/harness.mjs';
import { Stranger, sweepBeside } from '../e2e/support/stranger.mjs';
import { ENGINES, MODEL, has, startLitellm, startNginx } from './engines.mjs';
import { canCapture, capture, timesOf } from './packets.mjs';

const OUTPUT = 24;
const PLAN = { deployment: 'engine', output_tokens: [OUTPUT], window_s: 3, warmup_limit_s: 2 };
// Grids by their number of cells.
const GRIDS = {
    20: { concurrency: [1, 2, 4, 6, 8], input_tokens: [32, 256], repetitions: 2 },
    10: { concurrency: [1, 2, 4, 6, 8], input_tokens: [32, 256], repetitions: 1 },
    5: { concurrency: [1, 2, 4, 6, 8], input_tokens: [128], repetitions: 1 },
};

// Returns how many requests all engines together have served, computed from the tokens that they have generated.
async function served(engines, counter) {
    const pages = await Promise.all(engines.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
    const sample = new RegExp(`^${counter}(?:\\{.*\\})? (\\S+)$`, 'gm');
    const values = pages.flatMap((page) => [...page.matchAll(sample)]).map(([, value]) => Number(value));
    return values.reduce((sum, value) => sum + value, 0) / OUTPUT;
}

const marked = ({ cells }) => cells.filter((cell) => cell.contaminated).length;
const unmeasured = ({ cells }) => cells.filter((cell) => cell.state !== 'measured').length;

function printOddities(title, calm, shared) {
    for (const attempt of calm.rejected)
        console.log(`  ${title}, clean, ${attempt.concurrency} x ${attempt.input_tokens}: ${attempt.reason}`);
    for (const cell of shared.cells.filter((each) => !each.contaminated))
        console.log(`  ${title}, foreign, ${cell.concurrency} x ${cell.input_tokens}: ${cell.state} ${cell.reason ?? ''}`);
}

// Returns, for every clean cell, what opsbrain measured, what the engine's own counters show, and what the packets show.
async function timesOfCells(client, requests) {
    const rows = [];
    const { runs } = await client.call('run_list', { deployment: 'engine' });
    for (const { id } of runs) {
        const { cells } = await client.call('run_show', { run: id, limit: 100 });
        for (const { position, concurrency, input_tokens } of cells) {
            const { measurement, witness } = (await client.call('run_show', { run: id, cell: position })).detail;
            const packets = timesOf(requests, measurement.window);
            rows.push({ concurrency, input_tokens, measurement, witness, packets });
        }
    }
    return rows;
}

// Measures the grid GRIDS[clean] alone, and then GRIDS[foreign] while a stranger sends requests to the same address.
async function measure(t, path, clean, foreign) {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'engine', url: path.front.url });
    const stop = canCapture() ? await capture(t, path.front.port) : async () => [];
    const calm = await sweepBeside(client, { ...PLAN, ...GRIDS[clean] });
    const requests = await stop();
    const times = await timesOfCells(client, requests);
    const counted = () => served(path.engines, path.counter);
    const stranger = new Stranger(path.front.url, { model: MODEL, tokens: OUTPUT, served: counted });
    const shared = await sweepBeside(client, { ...PLAN, ...GRIDS[foreign] }, stranger);
    printOddities(path.title, calm, shared);
    await client.close();
    return { path: path.title, calm, shared, times };
}

// Returns "median (worst) %": by how much opsbrain's means for the clean cells differ from those of another source.
function differences(times, ours, theirs) {
    const shares = times.map((each) => 100 * (ours(each) / theirs(each) - 1)).filter(Number.isFinite);
    if (shares.length === 0) return '-';
    shares.sort((a, b) => Math.abs(a) - Math.abs(b));
    const shown = (share) => `${share >= 0 ? '+' : ''}${share.toFixed(1)}`;
    return `${shown(shares[Math.floor(shares.length / 2)])} (${shown(shares.at(-1))}) %`;
}

const latency = (name) => ({ measurement }) => measurement.latency[name]?.mean_ms;
const packets = (name) => (each) => each.packets[name];
const engine = (name) => ({ witness }) => witness?.[name];

const COLUMNS = {
    'path': ({ path }) => path,
    'clean cells marked': ({ calm }) => `${marked(calm)} of ${calm.cells.length}`,
    'attempts at clean cells': ({ calm }) => calm.cells.length + calm.rejected.length,
    'foreign cells marked': ({ shared }) => `${marked(shared)} of ${shared.cells.length}`,
    'uneven': ({ calm }) => calm.cells.filter((cell) => cell.uneven).length,
    'not measured': ({ calm, shared }) => unmeasured(calm) + unmeasured(shared),
    'witness': ({ times }) => [...new Set(times.map(({ witness }) => witness?.state ?? 'none'))].join(', '),
    'TTFT vs. packets': ({ times }) => differences(times, latency('ttft'), packets('ttft_ms')),
    'E2E vs. packets': ({ times }) => differences(times, latency('e2e'), packets('e2e_ms')),
    'TTFT vs. engine': ({ times }) => differences(times, latency('ttft'), engine('mean_ttft_ms')),
    'E2E vs. engine': ({ times }) => differences(times, latency('e2e'), engine('mean_e2e_ms')),
    'gaps vs. engine': ({ times }) => differences(times, latency('icl'), engine('mean_itl_ms')),
};

const row = (cells) => `| ${cells.join(' | ')} |`;

function printResults(results) {
    console.log(row(Object.keys(COLUMNS)));
    console.log(row(Object.keys(COLUMNS).map(() => '---')));
    for (const result of results) console.log(row(Object.values(COLUMNS).map((column) => column(result))));
}

// For each path to an engine: the programs that it needs, and a function that starts the engines and, if the path has one, the proxy.
const PATHS = {
    'direct': { start: async (t, engine) => ({ front: await engine.start(t) }) },
    'nginx': {
        needs: ['nginx'],
        start: async (t, engine) => {
            const engines = [await engine.start(t), await engine.start(t)];
            return { front: await startNginx(t, engines), engines };
        },
    },
    'litellm': {
        needs: ['litellm'],
        start: async (t, engine) => {
            const engines = [await engine.start(t)];
            return { front: await startLitellm(t, engines[0]), engines };
        },
    },
};

// Calls work(t), where `t` stands in for a test. With t.after, the harness registers the steps that end its programs; they run
// when the work is done.
async function within(work) {
    const endings = [];
    try {
        return await work({ after: (step) => endings.push(step) });
    } finally {
        for (const step of endings) await step();
    }
}

const asked = process.argv.slice(2);
const isAsked = (...names) => asked.length === 0 || names.some((name) => asked.includes(name));
const known = Object.keys(ENGINES).flatMap((name) => [name, ...Object.keys(PATHS).map((path) => `${name}/${path}`)]);
for (const name of asked.filter((each) => !known.includes(each)))
    throw new Error(`there is no '${name}': choose from ${known.join(', ')}`);
const results = [];
for (const [name, engine] of Object.entries(ENGINES))
    for (const [pathName, { needs = [], start }] of Object.entries(PATHS)) {
        if (!isAsked(name, `${name}/${pathName}`)) continue;
        const title = `${engine.title}, ${pathName}`;
        const missing = [name, ...needs].filter((each) => !has(each));
        if (missing.length > 0) {
            console.log(`${title}: skipped, ${missing.join(' and ')} not installed`);
            continue;
        }
        await within(async (t) => {
            const { front, engines = [front] } = await start(t, engine);
            const path = { title, front, engines, counter: engine.counter };
            const [clean, foreign] = pathName === 'direct' ? [20, 10] : [10, 5];
            results.push(await measure(t, path, clean, foreign));
        });
        printResults(results.slice(-1));
    }
if (results.length > 1) printResults(results);
