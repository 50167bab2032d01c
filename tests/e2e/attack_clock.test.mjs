// SPDX-License-Identifier: Apache-2.0
// After the wall clock is set ahead or back, no row is deleted too early, metrics are still stored, and sweeps continue. The tests in
// tests/attack/clock.test.mjs take longer: there the clock stays ahead until the server looks for old rows to delete.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { fakedClock, NO_FAKED_CLOCK } from './support/faked_clock.mjs';
import { request, run, startServer, startSimserve, until } from './support/harness.mjs';

const skip = NO_FAKED_CLOCK;

async function secondsAhead(server) {
    const { body } = await request(server.port, { path: '/metrics' });
    return Number(body.match(/^opsbrain_clock_ahead_seconds (\S+)/m)[1]);
}

test('a deployment, a session and the audit log survive restarts with the clock 400 and 3000 days ahead', { skip }, async (t) => {
    const clock = await fakedClock(t);
    const server = await startServer(t, { env: clock.env });
    const client = await connect('legacy-1x', server.url);
    await client.call('deployment_register', { name: 'kept', url: 'http://127.0.0.1:9' });
    for (const offset of ['+400d', '+3000d', '+0']) {
        await server.stop();
        await clock.set(offset);
        await server.start();
        assert.equal((await client.call('deployment_list')).deployments.length, 1);
        assert.ok((await client.call('audit_list')).rows.length >= 1);
    }
    await client.close();
});

test('a jump of the clock is reported, and `opsbrain clock accept` accepts it', { skip }, async (t) => {
    const clock = await fakedClock(t);
    const server = await startServer(t, { env: clock.env });
    const ask = (what) => run(['clock', what, '--data', server.data]);
    assert.equal(await secondsAhead(server), 0);
    await clock.set('+400d');
    await until('the jump to be noticed', async () => Math.abs((await secondsAhead(server)) - 400 * 86400) < 60);
    assert.match(server.output(), /the wall clock is 400\.0 days ahead of .* `opsbrain clock accept`/);
    assert.equal(server.output().match(/days ahead of/g).length, 1);
    assert.match((await ask('show')).output, /400\.0 days ahead of .* opsbrain has run for 24\.0 more hours/);
    await clock.set('+0');
    assert.equal(await secondsAhead(server), 0);
    await clock.set('+400d');
    assert.ok((await secondsAhead(server)) > 0);
    assert.equal((await ask('accept')).output, 'the wall clock is trusted from now on\n');
    assert.equal(await secondsAhead(server), 0);
    const client = await connect('2x-2026', server.url);
    const { rows } = await client.call('audit_list', { tool: 'clock accept' });
    assert.deepEqual(
        rows.map(({ outcome, detail }) => [outcome, detail]),
        [['ok', '400.0 days ahead']],
    );
});

for (const offsets of [['-1h'], ['-10m', '-1d'], ['+400d', '+0'], ['-400d', '+0']])
    test(`metrics are still stored after the clock is set to an offset of ${offsets.join(', then ')}`, { skip }, async (t) => {
        const clock = await fakedClock(t);
        const model = await startSimserve(t);
        const server = await startServer(t, { env: clock.env });
        const client = await connect('2x-2026', server.url);
        await client.call('deployment_register', { name: 'sim', url: model.url });
        await client.call('metrics_watch', { deployment: 'sim', interval_s: 1 });
        const watched = async () => (await client.call('deployment_show', { deployment: 'sim' })).watch;
        const scraped = (what) =>
            until(what, async () => {
                const { last_at: at, last_error: problem } = await watched();
                assert.equal(problem, undefined);
                return at;
            });
        let last = await scraped('the first scrape');
        for (const offset of offsets) {
            await clock.set(offset);
            const now = await until(`a scrape at ${offset}`, async () => {
                const { last_at: at, last_error: problem } = await watched();
                assert.equal(problem, undefined);
                return Math.abs(Date.parse(at) - Date.parse(last)) > 300_000 && at;
            });
            await until(`another scrape at ${offset}`, async () => (await watched()).last_at > now);
            last = await scraped('a scrape without an error');
        }
        assert.doesNotMatch(server.output(), /metrics of sim are not stored/);
    });

test('a sweep continues when the clock is set ahead and back', { skip }, async (t) => {
    const clock = await fakedClock(t);
    const model = await startSimserve(t, ['--ttft-ms', '5', '--step-ms', '1']);
    const server = await startServer(t, { env: clock.env });
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const { job } = await client.call('sweep_start', {
        deployment: 'sim',
        concurrency: [1],
        input_tokens: [16],
        output_tokens: [4],
        window_s: 3,
        warmup_limit_s: 0,
    });
    await until('the sweep to measure', async () => /measuring/.test((await client.call('job_show', { job })).job.message));
    await clock.set('+400d');
    await new Promise((resolve) => setTimeout(resolve, 1200));
    await clock.set('-400d');
    const ended = await until('the end of the sweep', async () => {
        const shown = await client.call('job_show', { job });
        return shown.over && shown.job;
    });
    assert.equal(ended.state, 'completed');
    assert.doesNotMatch(server.output(), /taken over/);
});
