// SPDX-License-Identifier: Apache-2.0
// If an operator queues many sweeps, nobody else waits for more than one of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './support/harness.mjs';
import { LONG, SHORT, lineAt, queueMany, state, team, untilRunning } from './support/queue_team.mjs';
import { waitForJob } from './support/sweep_by_client.mjs';

test('60 sweeps at one endpoint do not delay a sweep at an idle endpoint', async (t) => {
    const { alice, bob } = await team(t);
    const jobs = await queueMany(alice, 'a', 60);
    const other = await bob.call('sweep_start', { deployment: 'b', ...LONG });
    await untilRunning(bob, other.job);
    await bob.call('sweep_cancel', { sweep: other.sweep.id });
    const own = await alice.call('sweep_start', { deployment: 'b', ...SHORT });
    assert.equal((await waitForJob(alice, own.job)).state, 'completed');
    assert.equal((await Promise.all(jobs.map((job) => state(alice, job)))).filter((one) => one === 'running').length, 1);
});

test('a principal who joins the line gets the next turn, and a sweep in line can be cancelled at once', async (t) => {
    const { alice, bob } = await team(t, { servers: 1 });
    await queueMany(alice, 'a', 40);
    const late = await bob.call('sweep_start', { deployment: 'a', ...SHORT });
    const { job: shown } = await bob.call('job_show', { job: late.job });
    assert.match(shown.message, /held by alice for swp_\w+ since [\d:]+Z; 1st in line$/);
    const line = (await alice.call('lease_list', { limit: 500 })).leases.map(({ job }) => job);
    const { job: last } = await alice.call('job_show', { job: line.at(-1) });
    assert.match(last.message, /; 40th in line$/);

    for (const job of line.slice(3)) assert.equal((await alice.call('job_cancel', { job })).job.state, 'cancelled');
    const { leases, unlisted } = await bob.call('lease_list');
    assert.deepEqual(
        [unlisted, ...leases.map(({ principal, held, place }) => [principal, held, place])],
        [0, ['alice', true, undefined], ['bob', false, 1], ['alice', false, 2]],
    );
    await alice.call('job_cancel', { job: leases[0].job });
    assert.equal((await waitForJob(bob, late.job)).state, 'completed');
});

test('places in line survive kill -9, and a sweep at an idle endpoint still runs', async (t) => {
    const { server, alice, bob } = await team(t);
    await queueMany(alice, 'a', 20);
    await queueMany(bob, 'a', 20);
    const { url } = (await alice.call('deployment_show', { deployment: 'a' })).deployment;
    const port = new URL(url).port;
    const before = await lineAt(alice, port);
    assert.equal(before.length, 40);
    await server.killAndRestart();
    const other = await bob.call('sweep_start', { deployment: 'b', ...SHORT });
    assert.equal((await waitForJob(bob, other.job)).state, 'completed');
    const after = await lineAt(alice, port);
    assert.deepEqual(
        after.map(({ job, held }) => [job, held]),
        before.map(({ job, held }) => [job, held]),
    );
});

test('the number of unfinished sweeps per principal is limited, and the refusal says so', async (t) => {
    const { alice, bob } = await team(t, { servers: 1, args: ['--sweeps-per-principal', '3'] });
    const first = await alice.call('sweep_start', { deployment: 'a', ...LONG, idempotency_key: 'one' });
    await queueMany(alice, 'a', 2);
    const sentence = await alice.refusal('sweep_start', { deployment: 'a', ...LONG });
    assert.match(sentence, /alice has 3 sweeps queued or running, and the limit is 3 \(sweeps_per_principal\): wait .* sweep_cancel/);
    const again = await alice.call('sweep_start', { deployment: 'a', ...LONG, idempotency_key: 'one' });
    assert.deepEqual([again.started, again.job], [false, first.job]);
    await bob.call('sweep_start', { deployment: 'a', ...LONG });
    await alice.call('sweep_cancel', { sweep: first.sweep.id });
    await until('room for one more sweep', async () => {
        const answer = await alice.callTool('sweep_start', { deployment: 'a', ...LONG });
        return !answer.isError;
    });
});
