// SPDX-License-Identifier: Apache-2.0
// Attacks on the queue of sweeps. They take longer than the attacks in tests/e2e/attack_queue.test.mjs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG, SHORT, queueMany, state, team, untilRunning } from '../e2e/support/queue_team.mjs';
import { waitForJob } from '../e2e/support/sweep_by_client.mjs';

test('a sweep that joins the queue after 300 sweeps of another principal waits for only one of them', async (t) => {
    const { alice, bob } = await team(t, { args: ['--rate-per-principal', '0'] });
    const jobs = await queueMany(alice, 'a', 300);
    const other = await bob.call('sweep_start', { deployment: 'b', ...LONG });
    await untilRunning(bob, other.job);
    const next = await bob.call('sweep_start', { deployment: 'a', ...SHORT });
    const { leases } = await alice.call('lease_list');
    const holder = leases.find(({ held, principal }) => held && principal === 'alice');
    await alice.call('job_cancel', { job: holder.job });
    assert.equal((await waitForJob(bob, next.job)).state, 'completed');
    const states = await Promise.all(jobs.map((job) => state(alice, job)));
    assert.ok(states.filter((each) => each === 'queued').length >= 298, states.join(' '));
});

test('sweeps that need two endpoints, in either order and mixed with sweeps that need one, all complete', async (t) => {
    const { alice, bob } = await team(t, { servers: 3 });
    const started = [];
    for (let round = 0; round < 3; round++) {
        started.push([alice, { deployment: 'a', candidate: 'b' }], [bob, { deployment: 'b', candidate: 'a' }]);
        started.push([alice, { deployment: 'c', candidate: 'a' }], [bob, { deployment: 'b' }], [alice, { deployment: 'a' }]);
    }
    const jobs = await Promise.all(
        started.map(([client, args]) => client.call('sweep_start', { ...args, ...SHORT }).then(({ job }) => job)),
    );
    const ends = await Promise.all(jobs.map((job) => waitForJob(alice, job)));
    assert.deepEqual([...new Set(ends.map((job) => job.state))], ['completed']);
});
