// SPDX-License-Identifier: Apache-2.0
// Wrong calls are refused with a message that says what is wrong; model servers that fail are reported; secrets are never shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { freePort, post, startServer, startSimserve, until } from './support/harness.mjs';

const GRID = { deployment: 'sim', concurrency: [1], input_tokens: [16], output_tokens: [8], window_s: 1 };

// withClient(t, modelArgs, serverOptions): a server with the deployment `sim`, its model server, and a client.
async function withClient(t, modelArgs = [], serverOptions = {}) {
    const model = await startSimserve(t, modelArgs);
    const server = await startServer(t, serverOptions);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    return { model, server, client };
}

test('unknown tools, invalid arguments and unknown names are refused, and no sweep is stored', async (t) => {
    const { client } = await withClient(t);
    const cases = [
        ['sweep_begin', {}, /sweep_begin/],
        ['deployment_show', { deployment: 'sim', colour: 'red' }, /colour/],
        ['deployment_show', { deployment: 7 }, /deployment.*(text|string)/],
        ['deployment_show', { deployment: 'nobody' }, /nobody.*sim/],
        ['deployment_register', { name: 'x' }, /url/],
        ['deployment_register', { name: 'a b', url: 'http://127.0.0.1:1' }, /name/],
        ['deployment_register', { name: 'x', url: 'ftp://127.0.0.1:1' }, /url|http/],
        ['deployment_remove', { deployment: 'sim', confirm: 'yes' }, /confirm/],
        ['sweep_start', { ...GRID, concurrency: '4' }, /concurrency.*list/],
        ['sweep_start', { ...GRID, concurrency: [0] }, /concurrency.*0/],
        ['sweep_start', { ...GRID, concurrency: [1.5] }, /concurrency/],
        ['sweep_start', { ...GRID, options: ['ramp_s=9999'] }, /ramp_s.*0 to 3600/],
        ['sweep_start', { ...GRID, options: ['windows_s=5'] }, /did you mean "window_s"/],
        ['sweep_start', { ...GRID, window_s: 0 }, /window_s.*1/],
        ['sweep_start', { ...GRID, api: 'smoke' }, /api.*completions/],
        ['job_show', { job: 'job_nothing' }, /job_nothing/],
        ['job_show', { job: 'job_nothing', wait_s: 6000 }, /wait_s.*3600/],
        ['run_report', { run: 'run_nothing' }, /run_nothing/],
    ];
    for (const [tool, args, pattern] of cases) assert.match(await client.refusal(tool, args), pattern, tool);
    assert.deepEqual((await client.call('sweep_list')).sweeps, []);
    await client.close();
});

test('the refusal of a grid that is too large states its number of cells', async (t) => {
    const { client } = await withClient(t);
    const many = Array.from({ length: 64 }, (_, i) => i + 1);
    const message = await client.refusal('sweep_start', {
        ...GRID,
        concurrency: many,
        input_tokens: many,
        output_tokens: many,
        repetitions: 20,
    });
    assert.match(message, /5,?242,?880/);
    await client.close();
});

test('a sweep of more than an hour needs the digest of its plan', async (t) => {
    const { client } = await withClient(t);
    const grid = { ...GRID, concurrency: [1, 2, 4, 8, 16], window_s: 600, repetitions: 3 };
    assert.match(await client.refusal('sweep_start', grid), /plan_digest/);
    const plan = await client.call('sweep_plan', grid);
    assert.equal(plan.needs_go_ahead, true);
    assert.match(await client.refusal('sweep_start', { ...grid, seed: 2, plan_digest: plan.plan_digest }), /plan_digest/);
    const { sweep } = await client.call('sweep_start', { ...grid, plan_digest: plan.plan_digest });
    await client.call('sweep_cancel', { sweep: sweep.id });
    await client.close();
});

test('the addresses of metadata services and invalid secret names are refused', async (t) => {
    const { client, server } = await withClient(t);
    const urls = ['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://[::ffff:a9fe:a9fe]/', 'http://2852039166/'];
    for (const url of urls) {
        const message = await client.refusal('deployment_register', { name: 'meta', url });
        assert.match(message, /metadata|IPv4 address/, url);
    }
    const leaked = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789';
    for (const secret of ['../etc/passwd', 'lower', 'A B', leaked]) {
        const message = await client.refusal('deployment_register', { name: 'x', url: 'http://127.0.0.1:1', secret });
        assert.match(message, /secret/, secret);
        assert.ok(!message.includes(leaked));
    }
    assert.ok(!server.output().includes(leaked));
    assert.ok(!JSON.stringify(await client.call('audit_list')).includes(leaked));
    await client.close();
});

test('a deployment that is down is stored, and reported as down', async (t) => {
    const { client } = await withClient(t);
    const url = `http://127.0.0.1:${await freePort()}`;
    const { reachable, problem } = await client.call('deployment_register', { name: 'down', url });
    assert.equal(reachable, false);
    assert.match(problem, /refused/);
    assert.match(await client.refusal('model_query', { deployment: 'down', prompt: 'Hello' }), /refused/);
    await client.close();
});

test('a secret that the model server refuses is reported as refused, but not shown', async (t) => {
    const secret = 'not-the-right-one-at-all';
    const { client, model } = await withClient(t, ['--api-key', 'right'], { env: { OPSBRAIN_SECRET_LAB: secret } });
    await client.call('deployment_register', { name: 'locked', url: model.url, secret: 'LAB' });
    const message = await client.refusal('model_query', { deployment: 'locked', prompt: 'Hello' });
    assert.match(message, /auth|401/);
    assert.ok(!message.includes(secret));
    await client.close();
});

test('a correct secret is used and never shown', async (t) => {
    const secret = 'the-right-one-for-this-server';
    const { client, model, server } = await withClient(t, ['--api-key', secret], {
        env: { OPSBRAIN_SECRET_LAB: secret },
    });
    await client.call('deployment_register', { name: 'locked', url: model.url, secret: 'LAB' });
    const shown = JSON.stringify([
        await client.call('model_query', { deployment: 'locked', prompt: 'Hello' }),
        await client.call('deployment_show', { deployment: 'locked' }),
        await client.call('audit_list'),
    ]);
    assert.ok(!shown.includes(secret));
    assert.ok(!server.output().includes(secret));
    await client.close();
});

test('a missing model and a prompt longer than the context are each reported with the class of the failure', async (t) => {
    const { client, model } = await withClient(t, ['--max-model-len', '64']);
    await client.call('deployment_register', { name: 'other', url: model.url, model: 'nope' });
    assert.match(await client.refusal('model_query', { deployment: 'other', prompt: 'Hi' }), /nope.*not_found/s);
    const prompt = 'many words '.repeat(200);
    assert.match(await client.refusal('model_query', { deployment: 'sim', prompt }), /too_long/);
    await client.close();
});

test('cells whose prompts are longer than the context are infeasible, not failed', async (t) => {
    const { client } = await withClient(t, ['--max-model-len', '64']);
    const grid = { ...GRID, input_tokens: [16, 128], warmup_limit_s: 1 };
    const { sweep, job } = await client.call('sweep_start', grid);
    const { job: ended } = await client.call('job_show', { job, wait_s: 40 });
    assert.equal(ended.state, 'completed');
    const { cells } = await client.call('sweep_show', { sweep: sweep.id });
    assert.deepEqual(cells.map((cell) => [cell.input_tokens, cell.state]).sort(), [
        [128, 'infeasible'],
        [16, 'measured'],
    ]);
    await client.close();
});

test('a request to a server that stalls ends with a timeout, and the failure is classified', async (t) => {
    const { client } = await withClient(t, ['--fault', 'stall_mid_stream=1']);
    const grid = { ...GRID, idle_timeout_s: 1, ttft_timeout_s: 2, request_timeout_s: 3, warmup_limit_s: 1 };
    const { sweep, job } = await client.call('sweep_start', grid);
    const { over } = await client.call('job_show', { job, wait_s: 45 });
    assert.equal(over, true);
    const { cells } = await client.call('sweep_show', { sweep: sweep.id });
    assert.equal(cells[0].state, 'failed');
    assert.match(cells[0].reason, /idle_timeout|stall/);
    await client.close();
});

test('a sweep stops if its deployment keeps failing, and says why', async (t) => {
    const { client, model } = await withClient(t);
    const { sweep, job } = await client.call('sweep_start', {
        ...GRID,
        concurrency: [1, 2, 4, 8],
        input_tokens: [16, 32, 64],
        warmup_limit_s: 1,
    });
    await until('a cell to be measured', async () => {
        return (await client.call('sweep_show', { sweep: sweep.id })).sweep.cells_done > 0;
    });
    const fault = { faults: { reset_mid_stream: { probability: 1 } } };
    assert.equal((await post(model.port, fault, {}, '/sim/config')).status, 200);
    await client.call('job_show', { job, wait_s: 45 });
    const { sweep: shown } = await client.call('sweep_show', { sweep: sweep.id });
    assert.equal(shown.state, 'stopped');
    assert.match(shown.reason, /reset/);
    assert.ok(shown.cells_done < shown.cells_total);
    await client.close();
});
