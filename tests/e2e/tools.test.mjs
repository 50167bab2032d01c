// What every tool owes an agent: words, hints, schemas, and answers that keep what the schemas promise.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { connect } from './clients.mjs';
import { startServer, startSimserve } from './harness.mjs';

// Tools whose arguments with a default are described by another one, which their own description names.
const TOLD_ELSEWHERE = { sweep_start: 'sweep_plan', deployment_update: 'deployment_register' };
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

test('every tool has a title, a description, hints and closed schemas', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    for (const tool of await client.listTools()) {
        assert.match(tool.name, /^[a-z]+(_[a-z]+)+$/);
        assert.ok(tool.title?.length > 3, tool.name);
        assert.ok(tool.description.length >= 60, `${tool.name}: ${tool.description}`);
        for (const hint of HINTS) assert.equal(typeof tool.annotations[hint], 'boolean', `${tool.name} ${hint}`);
        assert.equal(tool.inputSchema.type, 'object', tool.name);
        assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
        for (const [name, property] of Object.entries(tool.inputSchema.properties ?? {}))
            assert.ok((property.description ?? TOLD_ELSEWHERE[tool.name])?.length > 5, `${tool.name} ${name}`);
        assert.equal(tool.outputSchema.type, 'object', tool.name);
        ajv.compile(tool.inputSchema);
        ajv.compile(tool.outputSchema);
    }
    await client.close();
});

test('the tools of the first release are all there', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const names = new Set((await client.listTools()).map((tool) => tool.name));
    const promised = `deployment_register deployment_update deployment_list deployment_show deployment_remove model_show
        model_health model_query metrics_show metrics_watch metrics_history dataset_import dataset_list sweep_plan sweep_start sweep_show sweep_list
        sweep_cancel sweep_resume run_list run_show run_report run_import run_export run_audit run_compare job_list job_show job_cancel lease_list audit_list`;
    for (const name of promised.split(/\s+/)) assert.ok(names.has(name), name);
    await client.close();
});

// A conversation that calls every tool once; each answer is held against its schema.
test('every answer conforms to its output schema', async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const ajv = new Ajv2020({ strict: false });
    const schemas = new Map((await client.listTools()).map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
    const uncalled = new Set(schemas.keys());

    const call = async (name, args) => {
        const result = await client.callTool(name, args);
        assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
        const conforms = schemas.get(name);
        assert.ok(conforms(result.structuredContent), `${name}: ${ajv.errorsText(conforms.errors)}`);
        assert.ok(result.content[0].text.length > 0, name);
        uncalled.delete(name);
        if (name === 'run_export') assert.equal(result.content[1].text, result.structuredContent.content);
        return result.structuredContent;
    };

    const grid = { deployment: 'sim', concurrency: [1, 2], input_tokens: [16], output_tokens: [8], window_s: 1 };
    await call('deployment_register', { name: 'sim', url: model.url });
    await call('deployment_update', { deployment: 'sim', hardware: 'one toy' });
    await call('secret_bind', { secret: 'LAB', origin: model.url });
    await call('deployment_list');
    await call('deployment_show', { deployment: 'sim' });
    await call('model_show', { deployment: 'sim' });
    await call('model_health', { deployment: 'sim' });
    await call('model_query', { deployment: 'sim', prompt: 'Hello', stats: true });
    await call('metrics_show', { deployment: 'sim' });
    await call('metrics_watch', { deployment: 'sim', interval_s: 1 });
    await call('dataset_import', { name: 'chats', text: '{"prompt":"Why?","completion":"Because."}' });
    await call('dataset_list');
    const { concurrency, window_s } = grid;
    await call('sweep_plan', { deployment: 'sim', concurrency, window_s, dataset: 'chats' });
    await call('sweep_plan', grid);
    const { sweep, job } = await call('sweep_start', grid);
    await call('lease_list');
    await call('job_list');
    await call('job_show', { job, wait_s: 40 });
    await call('sweep_show', { sweep: sweep.id });
    await call('sweep_list');
    const { runs } = await call('run_list');
    await call('run_show', { run: runs[0].id });
    await call('run_report', { run: runs[0].id });
    await call('run_audit', { run: runs[0].id });
    const again = await call('sweep_start', { ...grid, seed: 2 });
    await call('job_show', { job: again.job, wait_s: 40 });
    const sides = { baseline: [sweep.id], candidate: [again.sweep.id] };
    const refused = await call('run_compare', sides);
    assert.equal(refused.verdict, 'not_comparable');
    const named = refused.differences.map((difference) => difference.fact);
    const compared = await call('run_compare', { ...sides, factors: named, detail: true });
    assert.equal(compared.cells + compared.cells_left_out, 2);
    const { content } = await call('run_export', { run: runs[0].id, format: 'vllm' });
    const { run: imported } = await call('run_import', { text: content, name: 'exported.jsonl' });
    await call('run_list');
    await call('run_show', { run: imported.id, cell: 0 });
    await call('run_report', { run: imported.id });
    await call('metrics_history', { deployment: 'sim' });

    const long = await call('sweep_start', { ...grid, window_s: 60 });
    await call('job_cancel', { job: long.job });
    await call('job_show', { job: long.job, wait_s: 20 });
    await call('sweep_resume', { sweep: long.sweep.id });
    await call('sweep_cancel', { sweep: long.sweep.id });
    await call('job_show', { job: long.sweep.id, wait_s: 20 });
    await call('audit_list');
    await call('deployment_remove', { deployment: 'sim', confirm: 'sim' });
    assert.deepEqual([...uncalled], []);
    await client.close();
});
