// SPDX-License-Identifier: Apache-2.0
// ./run bench witness    are cells with other clients' ("foreign") traffic marked, and only those? (10 minutes)
//
// Measures 100 clean cells, then 20 during which another client sends one request for every ten of the cell's own. It does so in
// every attempt, so that each of these cells is measured three times.
// Options: --small (6 and 2 cells).
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve } from '../e2e/support/harness.mjs';
import { Stranger, sweepBeside } from '../e2e/support/stranger.mjs';

const TOKENS = 16;
const PLAN = { deployment: 'sim', output_tokens: [TOKENS], window_s: 1, warmup_limit_s: 0 };
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

async function requestsOf(url) {
    const text = await (await fetch(`${url}/metrics`)).text();
    return [...text.matchAll(/^vllm:request_success_total\{.*\} (\S+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}

const marked = ({ cells }) => cells.filter((cell) => cell.contaminated).length;

async function run(t) {
    const size = process.argv.includes('--small') ? SIZES.small : SIZES.full;
    const model = await startSimserve(t, ['--ttft-ms', '10', '--step-ms', '2', '--jitter', '0.2']);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });

    const clean = await sweepBeside(client, { ...PLAN, ...size.clean });
    console.log(`clean: ${marked(clean)} of ${clean.cells.length} cells marked, ${clean.rejected.length} attempts rejected`);

    const stranger = new Stranger(model.url, { model: 'simserve/toy', tokens: TOKENS, served: () => requestsOf(model.url) });
    const foreign = await sweepBeside(client, { ...PLAN, ...size.foreign }, stranger);
    const rejected = foreign.rejected.length;
    console.log(`10 % foreign: ${marked(foreign)} of ${foreign.cells.length} cells marked, ${rejected} attempts rejected`);

    const right =
        marked(clean) === 0 &&
        clean.rejected.length === 0 &&
        marked(foreign) === foreign.cells.length &&
        rejected === 2 * foreign.cells.length;
    console.log(right ? 'as expected' : 'NOT as expected');
    for (const attempt of [...clean.rejected, ...foreign.rejected.slice(0, 3)])
        console.log(`  ${attempt.concurrency} users x ${attempt.input_tokens}: ${attempt.reason}`);
    await client.close();
    process.exitCode = right ? 0 : 1;
}

// Stands in for the context of a test, where the harness registers the steps that stop what it started.
const endings = [];
const t = { after: (step) => endings.push(step) };
try {
    await run(t);
} finally {
    for (const step of endings) await step();
}
