// SPDX-License-Identifier: Apache-2.0
// What an agent does to benchmark a deployment through an official client: plan, start, wait with progress, and report.
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from './clients.mjs';

const WAIT_S = 45;
const FINAL = new Set(['completed', 'failed', 'cancelled']);

// startSweep(client, arguments): plans a sweep, and starts it with the plan's digest, which is the go-ahead for a sweep of any
// size; returns the answer from sweep_start.
export async function startSweep(client, args) {
    const plan = await client.call('sweep_plan', args);
    return client.call('sweep_start', { ...args, plan_digest: plan.plan_digest });
}

// waitForJob(client, id, {say}): waits until the job has ended, and returns it; say(line) gets each new progress message.
export async function waitForJob(client, id, { say = () => {} } = {}) {
    let last = '';
    const onprogress = ({ message }) => {
        if (message && message !== last) say((last = message));
    };
    for (;;) {
        const { job } = await client.call('job_show', { job: id, wait_s: WAIT_S }, { onprogress, timeout: 60_000 });
        if (FINAL.has(job.state)) return job;
        await sleep(20);
    }
}

// report(client, arguments): the Markdown text that run_report returns.
export async function report(client, args) {
    return text(await client.callTool('run_report', args));
}
