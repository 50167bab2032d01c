// SPDX-License-Identifier: Apache-2.0
// ./run bench grid    a grid as in published articles, through the official client: 12 loads x 13 contexts (50 minutes)
//
// Options: --small (5 loads x 7 contexts), --url URL (a model server to measure instead of simserve).
// Prints progress, the report, and opsbrain's own CPU time and peak resident memory.
import { readFile } from 'node:fs/promises';
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve } from '../e2e/support/harness.mjs';
import { report, startSweep, waitForJob } from '../e2e/support/sweep_by_client.mjs';

const powers = (from, to) => Array.from({ length: Math.log2(to / from) + 1 }, (_, i) => from * 2 ** i);
const GRIDS = {
    published: { concurrency: powers(1, 2048), input_tokens: powers(4, 16384), output_tokens: [16], window_s: 5 },
    small: { concurrency: powers(1, 16), input_tokens: powers(16, 1024), output_tokens: [16], window_s: 2 },
};
const CLOCK_TICKS_PER_S = 100;

async function resources(pid) {
    const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return {
        cpu_s: (Number(stat[11]) + Number(stat[12])) / CLOCK_TICKS_PER_S,
        peak_mib: Number(/VmHWM:\s+(\d+)/.exec(status)[1]) / 1024,
    };
}

async function run(t) {
    const args = process.argv.slice(2);
    const grid = args.includes('--small') ? GRIDS.small : GRIDS.published;
    const given = args.includes('--url') ? args[args.indexOf('--url') + 1] : undefined;
    const url =
        given ??
        (await startSimserve(t, ['--ttft-ms', '20', '--tokens-per-s', '50', '--max-running', '256'])).url;
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const began = performance.now();
    const print = (line) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);

    await client.call('deployment_register', { name: 'grid', url });
    const started = await startSweep(client, { deployment: 'grid', repetitions: 1, ...grid });
    const job = await waitForJob(client, started.job, { say: print });
    print(`the job is ${job.state}`);
    console.log(await report(client, { sweep: started.sweep.id }));
    const { cpu_s, peak_mib } = await resources(server.program.child.pid);
    const wall_s = (performance.now() - began) / 1000;
    console.log(
        `\nwall ${wall_s.toFixed(0)} s, opsbrain CPU ${cpu_s.toFixed(0)} s ` +
            `(${((100 * cpu_s) / wall_s).toFixed(0)} % of a core), peak resident memory ${peak_mib.toFixed(0)} MiB`,
    );
    await client.close();
    process.exitCode = job.state === 'completed' ? 0 : 1;
}

// Takes the place of a test: the harness registers here the steps that stop what it started.
const endings = [];
const t = { after: (step) => endings.push(step) };
try {
    await run(t);
} finally {
    for (const step of endings) await step();
}
