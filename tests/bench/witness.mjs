// SPDX-License-Identifier: Apache-2.0
// ./run bench witness    foreign traffic in a cell: is it detected, and never where there is none? (10 minutes)
//
// 100 clean cells, then 20 with a tenth of foreign requests as long as they are measured, so that each is measured three times.
// Options: --small (6 and 2 cells).
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve } from '../e2e/support/harness.mjs';
import { startSweep, waitForJob } from '../e2e/support/sweep_by_client.mjs';

const QUICK = { output_tokens: [16], window_s: 1, warmup_limit_s: 0 };
const SIZES = {
    full: {
        clean: { concurrency: [1, 2, 8, 32, 64], input_tokens: [16, 64, 256, 1024], repetitions: 5 },
        foreign: { concurrency: [1, 2, 8, 32, 64], input_tokens: [16, 64, 256, 1024], repetitions: 1 },
    },
    small: {
        clean: { concurrency: [2, 16], input_tokens: [16, 64, 256], repetitions: 1 },
        foreign: { concurrency: [2, 16], input_tokens: [16], repetitions: 1 },
    },
};
const LOOK_MS = 25;

async function requestsOf(url) {
    const text = await (await fetch(`${url}/metrics`)).text();
    return [...text.matchAll(/^vllm:request_success_total\{.*\} (\S+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}

// Another client, which sends one request for every ten of others that it sees: none while nobody else sends any.
class Stranger {
    constructor(url) {
        this.url = url;
        this.sent = 0;
    }

    async ask() {
        this.sent++;
        const body = { model: 'simserve/toy', prompt: 'what else is there to say', max_tokens: 16, ignore_eos: true };
        await (await fetch(`${this.url}/v1/completions`, { method: 'POST', body: JSON.stringify(body) })).text();
    }

    async run(goesOn) {
        const before = await requestsOf(this.url);
        while (goesOn()) {
            const others = (await requestsOf(this.url)) - before - this.sent;
            const owed = Math.max(0, Math.floor(others / 10) - this.sent);
            await Promise.all(Array.from({ length: owed }, () => this.ask()));
            await sleep(LOOK_MS);
        }
    }
}

async function cellsOf(client, sweep) {
    const cells = [];
    let rejected, cursor;
    do {
        const shown = await client.call('sweep_show', { sweep, limit: 200, ...(cursor && { cursor }) });
        cells.push(...shown.cells);
        ({ rejected, next_cursor: cursor } = shown);
    } while (cursor);
    return { cells, rejected };
}

async function sweep(client, grid, stranger) {
    const { sweep, job } = await startSweep(client, { deployment: 'sim', ...QUICK, ...grid });
    let over = false;
    const asking = stranger?.run(() => !over);
    const ended = await waitForJob(client, job);
    over = true;
    await asking;
    if (ended.state !== 'completed') throw new Error(`the sweep is ${ended.state}: ${ended.outcome}`);
    return cellsOf(client, sweep.id);
}

const marked = ({ cells }) => cells.filter((cell) => cell.contaminated).length;

async function run(t) {
    const size = process.argv.includes('--small') ? SIZES.small : SIZES.full;
    const model = await startSimserve(t, ['--ttft-ms', '10', '--step-ms', '2', '--jitter', '0.2']);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });

    const clean = await sweep(client, size.clean);
    console.log(`clean: ${marked(clean)} of ${clean.cells.length} cells marked, ${clean.rejected.length} attempts rejected`);

    const foreign = await sweep(client, size.foreign, new Stranger(model.url));
    const again = foreign.rejected.length;
    console.log(`10 % foreign: ${marked(foreign)} of ${foreign.cells.length} cells marked, ${again} attempts rejected`);

    const right =
        marked(clean) === 0 &&
        clean.rejected.length === 0 &&
        marked(foreign) === foreign.cells.length &&
        again === 2 * foreign.cells.length;
    console.log(right ? 'as it must be' : 'NOT as it must be');
    for (const attempt of [...clean.rejected, ...foreign.rejected.slice(0, 3)])
        console.log(`  ${attempt.concurrency} users x ${attempt.input_tokens}: ${attempt.reason}`);
    await client.close();
    process.exitCode = right ? 0 : 1;
}

// The harness ends what it started through a test's `after`.
const endings = [];
const t = { after: (step) => endings.push(step) };
try {
    await run(t);
} finally {
    for (const step of endings) await step();
}
