// SPDX-License-Identifier: Apache-2.0
// The clock is put ahead, by as much as 400 days, and later put back. While it is ahead, the server looks for old rows to
// delete.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../e2e/support/clients.mjs';
import { fakedClock, NO_FAKED_CLOCK } from '../e2e/support/faked_clock.mjs';
import { startServer, startSimserve, until } from '../e2e/support/harness.mjs';

const AHEAD_MS = 75_000; // the server first looks for old rows a minute after its start

// survives(t, {monotonic, offsets}): puts the server's clock ahead by each of the offsets in turn, and then back. Checks that the server
// keeps its audit log, its deployment and its session, and that it goes on recording metrics.
async function survives(t, { monotonic, offsets }) {
    const clock = await fakedClock(t, { monotonic });
    const model = await startSimserve(t);
    const server = await startServer(t, { env: clock.env });
    const client = await connect('legacy-1x', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    await client.call('metrics_watch', { deployment: 'sim', interval_s: 1 });
    const points = async () => {
        const answer = await client.call('metrics_history', { deployment: 'sim', metric: 'requests_running', minutes: 5 });
        return JSON.stringify(answer).match(/"at":/g)?.length ?? 0;
    };
    await sleep(3000);
    const rows = (await client.call('audit_list', { limit: 100 })).rows.length;
    for (const offset of offsets) {
        await clock.set(offset);
        await sleep(AHEAD_MS / offsets.length);
    }
    await clock.set('+0');
    assert.ok((await client.call('audit_list', { limit: 100 })).rows.length >= rows);
    assert.equal((await client.call('deployment_list')).deployments.length, 1);
    await until('new metrics to be recorded', async () => (await points()) > 0);
    assert.doesNotMatch(server.output(), /metrics of .* are not stored/);
    await client.close();
}

const skip = NO_FAKED_CLOCK;
const VARIANTS = {
    'a wall clock that is 400 days ahead': { offsets: ['+400d'] },
    'a wall clock and a monotonic clock that are 400 days ahead': { offsets: ['+400d'], monotonic: true },
    'a clock that goes ahead in steps of less than a day': { offsets: ['+23h', '+46h', '+69h', '+92h', '+115h', '+138h'] },
};

for (const [title, variant] of Object.entries(VARIANTS))
    test(`the audit log, a deployment, a session and the recording of metrics survive ${title}`, { skip }, (t) =>
        survives(t, variant));
