// "Benchmark this server and tell me where it saturates", in three calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, text } from './clients.mjs';
import { startServer, startSimserve } from './harness.mjs';

const RUNS_AT_ONCE = 3;

// An answer of this model takes 16 ms, so that even windows of a second hold many.
const MODEL = ['--ttft-ms', '5', '--step-ms', '1', '--max-running', `${RUNS_AT_ONCE}`];

for (const kind of ['legacy-1x', '2x-2026'])
    test(`three calls tell where a server saturates (${kind})`, { timeout: 90_000 }, async (t) => {
        const model = await startSimserve(t, MODEL);
        const server = await startServer(t);
        const client = await connect(kind, server.url);
        const { next_step: next } = await client.call('deployment_register', { name: 'sim', url: model.url });
        assert.match(next, /sweep_start/);
        const { sweep, job, next_step: then } = await client.call('sweep_start', {
            deployment: 'sim', window_s: 1, warmup_limit_s: 1, output_tokens: [16],
        });
        assert.match(then, /job_show.*wait_s/);
        assert.ok(sweep.cells_total >= 10, `${sweep.cells_total} cells`);
        const told = [];
        const result = await client.callTool('job_show', { job, wait_s: 600 }, {
            timeout: 80_000, resetTimeoutOnProgress: true, onprogress: ({ message }) => told.push(message),
        });
        const { over, verdict, takeaways, page } = result.structuredContent;
        assert.equal(over, true);
        assert.ok(told.some((message) => /cell \d+/.test(message)), told.join('\n'));
        assert.equal(verdict.length, 1);
        const [, low, high] = verdict[0].match(/saturated (?:between|at|by) (\d+)(?: and (\d+))?/) ?? assert.fail(verdict[0]);
        assert.ok(low <= RUNS_AT_ONCE && (high ?? low) >= RUNS_AT_ONCE, verdict[0]);
        assert.ok(takeaways.some((sentence) => /^Peak: /.test(sentence)));
        assert.match(page, /^opsbrain:\/\/runs\/run_\w+\/report$/);
        for (const sentence of [...verdict, ...takeaways, page]) assert.ok(text(result).includes(sentence), sentence);
        await client.close();
    });

test('the grid for who states none needs no go-ahead', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const model = await startSimserve(t, ['--ttft-ms', '100']);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const plan = await client.call('sweep_plan', { deployment: 'sim' });
    assert.equal(plan.needs_go_ahead, false);
    assert.equal(plan.plan.search, 'climb');
    await client.close();
});
