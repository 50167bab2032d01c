// SPDX-License-Identifier: Apache-2.0
// ./run bench search    adaptive search against the full grid: five models, 28 loads x 3 contexts each (7 minutes)
//
// Options: --model NAME (one of the five), --contexts N (the first N), --workers N (how many models are measured at once;
// default: all).
// Prints the saturation point and the largest load within the limits, as found by the full grid and by the search, and how much
// of the grid the search measured. The bench fails if the two intervals for the saturation point do not overlap, if the largest
// loads differ, or if the search measured more than a quarter of the cells.
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve } from '../e2e/support/harness.mjs';
import { startSweep, waitForJob } from '../e2e/support/sweep_by_client.mjs';

const LOADS = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 18, 20, 23, 26, 30, 34, 39, 42, 45, 52, 60, 65, 70,
];
const CONTEXTS = [64, 256, 1024];
const PLAN = { concurrency: LOADS, output_tokens: [16], window_s: 1.5, warmup_limit_s: 1, repetitions: 1 };
// No figure is within 2 % of a threshold, at any load: otherwise, even two full grids might differ.
const MODELS = {
    slots: {
        about: 'twelve requests at once; others wait',
        flags: ['--ttft-ms', '20', '--step-ms', '10', '--jitter', '0.15', '--max-running', '12'],
        limits: { limit_ttft_ms: 197 },
    },
    batch: {
        about: 'each request slows the others down',
        flags: ['--ttft-ms', '20', '--step-ms', '5', '--step-ms-per-running', '0.6', '--max-running', '40'],
        limits: { limit_tpot_ms: 14.9 },
    },
    prefill: {
        about: 'prompts are read one after the other',
        flags: ['--ttft-ms', '5', '--step-ms', '11', '--prefill-tokens-per-s', '24000', '--prefill-serial', 'true'],
        limits: { limit_e2e_ms: 445 },
    },
    cache: {
        about: 'as many requests at once as fit in the KV cache',
        flags: ['--ttft-ms', '15', '--step-ms', '10', '--jitter', '0.15', '--kv-blocks', '140'],
        limits: { limit_ttft_ms: 132, limit_e2e_ms: 900 },
    },
    jitter: {
        about: 'times vary by 30 %',
        flags: ['--ttft-ms', '30', '--step-ms', '10', '--jitter', '0.3', '--max-running', '22'],
        limits: { limit_e2e_ms: 395 },
    },
};

function option(name, fallback) {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? fallback : process.argv[at + 1];
}

async function sweep(client, deployment, args) {
    const began = performance.now();
    const started = await startSweep(client, { deployment, ...PLAN, ...args });
    const job = await waitForJob(client, started.job);
    const { sweep: row, report } = await client.call('run_report', { sweep: started.sweep.id });
    if (job.state !== 'completed') throw new Error(`the sweep of ${deployment} is ${job.state}: ${row.reason}`);
    return {
        seconds: (performance.now() - began) / 1000,
        cells: row.cells_total,
        measured: report.sweep.cells.measured,
        output: report.outputs[0],
    };
}

// Returns the interval of the saturation point, both ends included, and the largest load within the limits (0: none).
function verdicts({ output }, at) {
    const { low_users: low, high_users: high = Infinity } = output.saturation[at];
    return { low, high, largest: output.limits[at].met?.users ?? 0 };
}

function measuredLoads({ output }, at) {
    return LOADS.filter((_, i) => output.states[at][i] === 'measured').join(' ');
}

function rowsOf(name, full, adaptive) {
    return adaptive.output.saturation.map(({ context_tokens: context }, at) => {
        const expected = verdicts(full, at);
        const found = verdicts(adaptive, at);
        const same = expected.low <= found.high && found.low <= expected.high && expected.largest === found.largest;
        return {
            same,
            cells: [
                name,
                context,
                `${expected.low}-${expected.high}`,
                `${found.low}-${found.high}`,
                expected.largest,
                found.largest,
                same ? 'yes' : 'no',
                measuredLoads(adaptive, at),
            ],
        };
    });
}

async function compare(t, client, name, contexts) {
    const { flags, limits } = MODELS[name];
    const { url } = await startSimserve(t, flags);
    await client.call('deployment_register', { name, url });
    const args = { ...limits, limit_percentile: 'p50', input_tokens: CONTEXTS.slice(0, contexts) };
    const full = await sweep(client, name, { ...args, search: 'full' });
    console.log(`${name}: the full grid took ${full.seconds.toFixed(0)} s`);
    const adaptive = await sweep(client, name, { ...args, search: 'adaptive' });
    return { name, full, adaptive, rows: rowsOf(name, full, adaptive) };
}

function print(heading, lines) {
    const widths = heading.map((title, i) => Math.max(title.length, ...lines.map((line) => String(line[i]).length)));
    for (const line of [heading, ...lines])
        console.log(line.map((cell, i) => String(cell)[i === 0 ? 'padEnd' : 'padStart'](widths[i])).join('  '));
    console.log();
}

function printAll(found) {
    const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
    const rows = found.flatMap(({ rows }) => rows);

    print(
        ['model', 'context', 'saturation: grid', 'search', 'within limits: grid', 'search', 'same', 'measured loads'],
        rows.map(({ cells }) => cells),
    );
    print(
        ['model', 'cells', 'measured', 'share', 'grid s', 'search s'],
        found.map(({ name, full, adaptive }) => [
            `${name}: ${MODELS[name].about}`,
            adaptive.cells,
            adaptive.measured,
            percent(adaptive.measured, adaptive.cells),
            full.seconds.toFixed(0),
            adaptive.seconds.toFixed(0),
        ]),
    );
    const measured = found.reduce((sum, { adaptive }) => sum + adaptive.measured, 0);
    const cells = found.reduce((sum, { adaptive }) => sum + adaptive.cells, 0);
    const same = rows.filter((row) => row.same).length;
    console.log(`${same} of ${rows.length} contexts have the same result, ${measured} of ${cells} cells measured (${percent(measured, cells)})`);
    return same === rows.length && measured * 4 <= cells;
}

async function run(t) {
    const names = option('model') ? [option('model')] : Object.keys(MODELS);
    const workers = Number(option('workers', names.length));
    const server = await startServer(t, { args: ['--sweep-workers', String(workers)] });
    const client = await connect('2x-2026', server.url);
    const contexts = Number(option('contexts', CONTEXTS.length));
    const found = await Promise.all(names.map((name) => compare(t, client, name, contexts)));

    await client.close();
    process.exitCode = printAll(found) ? 0 : 1;
}

// Stands in for the context of a test, where the harness registers the steps that stop what it started.
const endings = [];
const t = { after: (step) => endings.push(step) };
try {
    await run(t);
} finally {
    for (const step of endings) await step();
}
