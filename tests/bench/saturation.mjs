// SPDX-License-Identifier: Apache-2.0
// ./run bench saturation  does the verdict's interval contain the truth? a hundred model servers, grids of 2 to 12 loads (20 minutes)
//
// Options: --models N (the first N of 100), --only N (only model N, counted from 0), --workers N (how many models are measured at
// once; default 4), --window S (seconds; default 1.5).
// The true number of users at which each model saturates is computed; the verdict of a sweep is right if its interval contains
// that number. The bench prints each model, how many verdicts are right, and how wide the intervals are. It fails if a verdict
// is wrong.
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve } from '../e2e/support/harness.mjs';
import { startSweep, waitForJob } from '../e2e/support/sweep_by_client.mjs';

const SHARE = 0.95; // a server is saturated when its throughput reaches this share of its peak
const OUTPUT_TOKENS = 16;
const INPUT_TOKENS = 64;
const MOST_USERS = 96;
const BLOCK_TOKENS = 16;

function option(name, fallback) {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? fallback : Number(process.argv[at + 1]);
}

// ---- Random numbers (mulberry32) ----

function random(seed) {
    let state = seed;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
}

const between = (next, low, high) => low * (high / low) ** next();

// ---- Models: simserve's flags, and the output tokens/ms for a number of users ----

const KINDS = {
    slots(next) {
        const slots = Math.round(between(next, 1, 32));
        return { about: `${slots} requests at once`, slots, jitter: next() < 0.5 ? 0 : 0.15 };
    },
    batch(next) {
        const slots = Math.round(between(next, 4, 64));
        return { about: `${slots} requests at once, which slow each other down`, slots, slower: between(next, 0.1, 1.5) };
    },
    memory(next) {
        const fit = Math.round(between(next, 2, 24));
        return { about: `${fit} requests fit in the KV cache`, slots: fit, blocks: fit * ((INPUT_TOKENS + OUTPUT_TOKENS) / BLOCK_TOKENS) };
    },
    prefill(next) {
        const serial = between(next, 8, 60);
        return { about: `prompts read one at a time, ${serial.toFixed(0)} ms each`, slots: 256, prefill: serial, serial: true };
    },
};

function makeModel(number) {
    const next = random(number + 1);
    const kind = Object.keys(KINDS)[number % 4];
    const model = { prefill: between(next, 5, 60), step: between(next, 10, 30), slower: 0, jitter: 0, ...KINDS[kind](next) };
    return { number, kind, next, ...model };
}

function flagsOf({ prefill, step, slower, slots, jitter, blocks, serial }) {
    const flags = ['--ttft-ms', prefill, '--step-ms', step, '--step-ms-per-running', slower, '--jitter', jitter];
    if (blocks) flags.push('--kv-blocks', blocks);
    else flags.push('--max-running', slots);
    return [...flags, '--prefill-serial', serial ?? false].map(String);
}

function tokensPerMs({ prefill, step, slower, slots, serial }, users) {
    const running = Math.min(users, slots);
    const request = prefill + (OUTPUT_TOKENS - 1) * (step + slower * running);
    return OUTPUT_TOKENS * Math.min(running / request, serial ? 1 / prefill : Infinity);
}

function truthOf(model) {
    const all = Array.from({ length: 1024 }, (_, i) => tokensPerMs(model, i + 1));
    return 1 + all.findIndex((tokens) => tokens >= SHARE * Math.max(...all));
}

// Returns at most twelve loads, each larger than the last by roughly the same factor; the largest is usually between half the truth
// and eight times the truth.
function gridOf({ next }, truth) {
    const wanted = 2 + Math.floor(next() * 11);
    const low = next() < 0.7 ? 1 : Math.ceil(between(next, 1, Math.max(2, truth / 2)));
    const high = Math.min(MOST_USERS, Math.max(low + 3, truth * between(next, 0.5, 8)));
    const loads = Array.from({ length: wanted }, (_, i) => Math.round(low * (high / low) ** (i / (wanted - 1)) * (0.85 + 0.3 * next())));
    return [...new Set([low, ...loads.slice(1)].map((load) => Math.min(MOST_USERS, Math.max(1, load))))].sort((a, b) => a - b);
}

// ---- Measuring ----

async function judge(client, model, windowS) {
    const truth = truthOf(model);
    let concurrency = gridOf(model, truth);
    if (concurrency.length < 2) concurrency = [concurrency[0], concurrency[0] * 4];
    const endings = [];
    try {
        const { url } = await startSimserve({ after: (step) => endings.push(step) }, flagsOf(model));
        const deployment = `model-${model.number}`;
        await client.call('deployment_register', { name: deployment, url });
        const plan = { concurrency, input_tokens: [INPUT_TOKENS], output_tokens: [OUTPUT_TOKENS], window_s: windowS, warmup_limit_s: 2, repetitions: 1 };
        const started = await startSweep(client, { deployment, ...plan });
        const job = await waitForJob(client, started.job);
        if (job.state !== 'completed') throw new Error(`the sweep of ${deployment} is ${job.state}`);
        const { findings } = await client.call('sweep_show', { sweep: started.sweep.id });
        const found = findings[0].saturation[0];
        const low = found.low_users;
        const high = found.high_users ?? Infinity;
        return { model, truth, concurrency, low, high, right: found.found && low <= truth && truth <= high, atOnce: found.requests_at_once };
    } finally {
        for (const step of endings) await step();
    }
}

function print({ model, truth, concurrency, low, high, right, atOnce }) {
    const interval = low === high ? `${low}` : `${low} to ${high}`;
    const counted = atOnce ? `, ${atOnce.toFixed(1)} requests at once` : '';
    console.log(
        `${right ? 'right' : 'WRONG'}  ${model.number} ${model.kind} (${model.about}): saturates at ${truth}, verdict ${interval}${counted}; measured ${concurrency.join(' ')}`,
    );
}

function printAll(results) {
    const right = results.filter((result) => result.right).length;
    const enclosing = results.filter(({ truth, concurrency }) => concurrency[0] <= truth && concurrency.at(-1) >= 2 * truth);
    const bounded = enclosing.filter(({ high }) => high < Infinity);
    const ratios = bounded.map(({ low, high }) => high / low).sort((a, b) => a - b);
    const steps = bounded.map(({ truth, concurrency }) => {
        const above = concurrency.find((load) => load >= truth);
        return above / (concurrency.findLast((load) => load < truth) ?? 1);
    });
    const mean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
    console.log(`\n${right} of ${results.length} right`);
    console.log(
        `of ${enclosing.length} grids that reach from the truth or below to twice the truth or above, ${bounded.length} give an interval with both ends; high / low: geometric mean ` +
            `${mean(ratios).toFixed(2)}, median ${ratios[ratios.length >> 1]?.toFixed(2)} (of the two loads around the truth: ${mean(steps).toFixed(2)})`,
    );
    return right === results.length;
}

async function run(t) {
    const workers = option('workers', 4);
    const all = Array.from({ length: option('models', 100) }, (_, number) => makeModel(number));
    const models = all.filter(({ number }) => number === option('only', number));
    const server = await startServer(t, { args: ['--sweep-workers', String(workers)] });
    const client = await connect('2x-2026', server.url);
    const results = [];
    const work = async () => {
        for (let model = models.shift(); model; model = models.shift()) {
            results.push(await judge(client, model, option('window', 1.5)));
            print(results.at(-1));
        }
    };
    await Promise.all(Array.from({ length: workers }, work));
    await client.close();
    process.exitCode = printAll(results) ? 0 : 1;
}

// Stands in for the context of a test, where the harness registers the steps that stop what it started.
const endings = [];
const t = { after: (step) => endings.push(step) };
try {
    await run(t);
} finally {
    for (const step of endings) await step();
}
