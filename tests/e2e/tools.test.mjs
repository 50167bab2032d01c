// SPDX-License-Identifier: Apache-2.0
// What every tool must have (a title, a description, hints and schemas), and which tools must exist.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { connect } from './support/clients.mjs';
import { startServer } from './support/harness.mjs';

// Tools that do not describe some of their arguments: their descriptions name another tool that does.
const DESCRIBED_ELSEWHERE = { sweep_start: 'sweep_plan', deployment_update: 'deployment_register' };

// Returns the hints that the tool must have. destructiveHint and idempotentHint mean nothing for a tool that only reads.
function hintsOf({ annotations }) {
    const always = ['readOnlyHint', 'openWorldHint'];
    return annotations.readOnlyHint ? always : [...always, 'destructiveHint', 'idempotentHint'];
}

test('every tool has a title, a description, hints and a closed input schema; all but run_chart have an output schema', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', `${server.url}?tools=all`);
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
    for (const tool of await client.listTools()) {
        assert.match(tool.name, /^[a-z]+(_[a-z]+)+$/);
        assert.ok(tool.title?.length > 3, tool.name);
        assert.ok(tool.description.length >= 60, `${tool.name}: ${tool.description}`);
        for (const hint of hintsOf(tool)) assert.equal(typeof tool.annotations[hint], 'boolean', `${tool.name} ${hint}`);
        assert.equal(tool.inputSchema.type, 'object', tool.name);
        assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
        for (const [name, property] of Object.entries(tool.inputSchema.properties ?? {}))
            assert.ok((property.description ?? DESCRIBED_ELSEWHERE[tool.name])?.length > 5, `${tool.name} ${name}`);
        ajv.compile(tool.inputSchema);
        assert.equal(tool.outputSchema === undefined, tool.name === 'run_chart', 'only run_chart, which draws a picture, has none');
        if (!tool.outputSchema) continue;
        assert.equal(tool.outputSchema.type, 'object', tool.name);
        ajv.compile(tool.outputSchema);
    }
    await client.close();
});

test('the tools that clients rely on are all there', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', `${server.url}?tools=all`);
    const names = new Set((await client.listTools()).map((tool) => tool.name));
    const promised = `deployment_register deployment_update deployment_list deployment_show deployment_remove model_show
        model_health model_query metrics_show metrics_watch metrics_history dataset_import dataset_list sweep_plan sweep_start sweep_show sweep_list
        sweep_cancel sweep_resume run_list run_show run_report run_import run_export run_audit run_chart run_compare job_list job_show job_cancel lease_list audit_list
        recipe_list recipe_show recipe_import target_register target_list target_show target_remove deployment_plan plan_show plan_approve deployment_apply
        deployment_start deployment_stop deployment_scale deployment_extend deployment_destroy deployment_discover deployment_adopt fleet_list`;
    for (const name of promised.split(/\s+/)) assert.ok(names.has(name), name);
    await client.close();
});
