// SPDX-License-Identifier: Apache-2.0
// The main use of opsbrain from end to end, as an agent would do it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, forEachClient, text } from './support/clients.mjs';
import { startServer, startSimserve, until } from './support/harness.mjs';
import { waitForJob } from './support/sweep_by_client.mjs';

const GRID = {
    deployment: 'sim',
    concurrency: [1, 4],
    input_tokens: [16, 128],
    output_tokens: [16],
    window_s: 1,
    warmup_limit_s: 1,
};

forEachClient('a client registers, checks, plans, sweeps and reports', async (t, kind) => {
    const model = await startSimserve(t, ['--ttft-ms', '30', '--step-ms', '10']);
    const server = await startServer(t);
    const client = await connect(kind, server.url);

    const registered = await client.call('deployment_register', { name: 'sim', url: model.url });
    assert.equal(registered.reachable, true);
    assert.equal(registered.model, 'simserve/toy');
    assert.match(text(await client.callTool('model_health', { deployment: 'sim' })), /PASSED/);

    const plan = await client.call('sweep_plan', GRID);
    assert.equal(plan.cells, 4);
    assert.equal(plan.needs_go_ahead, false);

    const { sweep, job } = await client.call('sweep_start', GRID);
    const ended = await waitForJob(client, job);
    assert.deepEqual([ended.state, ended.progress, ended.progress_total], ['completed', 4, 4]);

    const shown = await client.call('sweep_show', { sweep: sweep.id });
    assert.equal(shown.sweep.state, 'completed');
    assert.deepEqual(shown.interrupted, []);
    for (const cell of shown.cells) {
        assert.equal(cell.state, 'measured');
        assert.equal(cell.success_rate, 1);
        between(29, cell.ttft_p50_ms, 100, 'TTFT');
        between(9, cell.itl_p50_ms, 40, 'ITL');
        between(0.7 * cell.concurrency, cell.concurrency_actual, cell.concurrency, 'concurrency');
    }

    const [run] = (await client.call('run_list', { deployment: 'sim' })).runs;
    const report = text(await client.callTool('run_report', { run: run.id }));
    for (const part of [/simserve\/toy/, /TTFT/, /ITL/, /[Ss]aturation/, /[Pp]eak/]) assert.match(report, part);
    for (const line of report.split('\n').filter((each) => each.startsWith('|')))
        assert.ok(line.length <= 100, `too wide for a terminal: ${line}`);
    await client.close();
});

// The model server's times are known, but a machine that is busy with other tests adds to them.
function between(low, actual, high, what) {
    assert.ok(low <= actual && actual <= high, `${what}: got ${actual}, expected ${low} to ${high}`);
}

test('two calls with the same idempotency key start one sweep', async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const first = await client.call('sweep_start', { ...GRID, idempotency_key: 'one' });
    const again = await client.call('sweep_start', { ...GRID, idempotency_key: 'one' });
    assert.equal(again.started, false);
    assert.equal(again.sweep.id, first.sweep.id);
    await client.call('sweep_cancel', { sweep: first.sweep.id });
    await client.close();
});

test('a second sweep on an endpoint waits in line and says what it waits for', async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const first = await client.call('sweep_start', { ...GRID, window_s: 60 });
    const second = await client.call('sweep_start', GRID);
    const message = await until('the second sweep to wait in line', async () => {
        const { job } = await client.call('job_show', { job: second.job });
        return job.message?.includes(`held by local for ${first.sweep.id}`) && job.message;
    });
    t.diagnostic(message);
    const { leases } = await client.call('lease_list');
    assert.deepEqual(
        leases.map(({ job, held }) => [job, held]),
        [
            [first.job, true],
            [second.job, false],
        ],
    );
    await client.call('sweep_cancel', { sweep: first.sweep.id });
    assert.equal((await waitForJob(client, second.job)).state, 'completed');
    await client.close();
});

test('a sweep that SIGTERM interrupts is completed after a restart', async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    let client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const { sweep, job } = await client.call('sweep_start', GRID);
    await until('a cell to be measured', async () => {
        return (await client.call('sweep_show', { sweep: sweep.id })).sweep.cells_done > 0;
    });
    await client.client.close();
    await server.stop();
    await server.start();

    client = await connect('2x-2026', server.url);
    assert.equal((await waitForJob(client, job)).state, 'completed');
    const { cells } = await client.call('sweep_show', { sweep: sweep.id });
    assert.ok(cells.every((cell) => cell.state === 'measured'));
    await client.close();
});
