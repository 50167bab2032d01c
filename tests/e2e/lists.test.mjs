// SPDX-License-Identifier: Apache-2.0
// Lists restricted to a period, descriptions of resources, and cell counts that are the same in every answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, text } from './support/clients.mjs';
import { startServer, startSimserve, until } from './support/harness.mjs';

const GRID = {
    deployment: 'sim', concurrency: [1, 2, 3, 4, 5, 6], input_tokens: [16], output_tokens: [8], window_s: 1, warmup_limit_s: 0,
};

async function withSweep(t) {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    return { client, ...(await client.call('sweep_start', GRID)) };
}

const minutesAgo = (minutes) => new Date(Date.now() - 60_000 * minutes).toISOString();

test('lists take since and until, as a time or as an age', async (t) => {
    const { client } = await withSweep(t);
    await client.call('dataset_import', { name: 'some', text: '[{"prompt":"why?"}]' });
    await until('a lease to be listed', async () => (await client.call('lease_list', {})).leases.length > 0);
    const lists = { sweep_list: 'sweeps', job_list: 'jobs', run_list: 'runs', audit_list: 'rows', dataset_list: 'datasets',
        deployment_list: 'deployments', lease_list: 'leases' };
    const inside = [{ since: '1h' }, { since: minutesAgo(2) }, { since: minutesAgo(2).slice(0, 16), until: minutesAgo(-2) },
        { since: '2026-01-01', until: minutesAgo(-1).replace('Z', '+00:00') }];
    const outside = [{ until: '1h' }, { since: minutesAgo(-1) }, { until: '2026-01-01' }];
    for (const [tool, member] of Object.entries(lists)) {
        for (const period of inside)
            assert.ok((await client.call(tool, period))[member].length > 0, `${tool} ${JSON.stringify(period)}`);
        for (const period of outside)
            assert.deepEqual((await client.call(tool, period))[member], [], `${tool} ${JSON.stringify(period)}`);
        for (const since of ['yesterday', '2026-02-30', '2026-01-01T25:00', '7', '-1h', '2026-01-01T03:00+2'])
            assert.match(await client.refusal(tool, { since }), /"since" is .*2026-11-21.*24h/, `${tool} ${since}`);
        assert.match(await client.refusal(tool, { since: '1h', until: '2h' }), /"until" is not after "since"/);
    }
    await client.close();
});

test('every resource has a description', async (t) => {
    const { client, sweep } = await withSweep(t);
    const { resources } = await client.client.listResources();
    assert.ok(resources.some(({ uri }) => uri.includes(sweep.id)));
    for (const { uri, description } of resources) assert.match(description ?? '', /\w+ .*\.$/s, uri);
    await client.close();
});

test('sweep_cancel, job_show and sweep_show report the same number of cells', async (t) => {
    const { client, sweep: { id }, job } = await withSweep(t);
    await until('two cells to be done', async () => (await client.call('sweep_show', { sweep: id })).sweep.cells_done >= 2);
    const cancelled = await client.callTool('sweep_cancel', { sweep: id });
    const { sweep, job: asked } = cancelled.structuredContent;
    assert.equal(asked.progress, sweep.cells_done);
    assert.match(text(cancelled), new RegExp(`\\b${sweep.cells_done} of 6`));
    const { job: ended, over } = await client.call('job_show', { job, wait_s: 30 });
    const shown = await client.call('sweep_show', { sweep: id });
    assert.equal(over, true);
    assert.equal(ended.progress, shown.sweep.cells_done);
    assert.equal(ended.outcome.measured, shown.sweep.cells_done);
    await client.close();
});
