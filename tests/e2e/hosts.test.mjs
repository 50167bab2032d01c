// SPDX-License-Identifier: Apache-2.0
// opsbrain's tools in hosts that rewrite tool schemas: the call for each task fits the rewritten schema, and opsbrain accepts it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { connect, text } from './support/clients.mjs';
import { startServer, startSimserve } from './support/harness.mjs';
import { TASKS } from './support/host_tasks.mjs';
import { geminiSchema, openAiArguments, openAiSchema } from './support/hosts.mjs';

const ajv = new Ajv2020({ strict: false, allowUnionTypes: true });

// If a host does not let its model omit arguments, the model sends these values for the arguments that it does not need.
const BLANKS = { string: '', array: [], number: null, integer: null, boolean: null };
// convert(tool) returns the host's version of the tool's schema; asSent(schema, args) returns the arguments as the model in that
// host would send them. `skip` is a tool whose arguments are sent unchanged, and are not compared with the schema.
const HOSTS = {
    'OpenAI strict, null for an unused argument': { convert: openAiSchema, asSent: (schema, args) => openAiArguments(schema, args, () => null) },
    'OpenAI strict, "" and [] for an unused argument': {
        convert: openAiSchema,
        asSent: (schema, args) => openAiArguments(schema, args, ({ type: [type] = [], enum: choices }) => (choices ? null : BLANKS[type])),
        skip: 'deployment_update', // there, "" clears a value
    },
    Gemini: { convert: geminiSchema, asSent: (schema, args) => args },
};

for (const [host, { convert, asSent, skip }] of Object.entries(HOSTS))
    test(`every task of host_tasks.mjs can be done through ${host}`, async (t) => {
        const model = await startSimserve(t, ['--ttft-ms', '5', '--step-ms', '1']);
        const server = await startServer(t);
        const client = await connect('2x-2026', server.url);
        const schemas = new Map((await client.listTools()).map((tool) => [tool.name, convert(tool)]));
        const problems = [];
        let seen = { url: model.url };
        assert.ok(TASKS.length >= 60);
        for (const [task, name, argsOf, learn] of TASKS) {
            const schema = schemas.get(name);
            const plain = argsOf(seen);
            const args = name === skip ? plain : asSent(schema, plain);
            const expressible = ajv.compile(schema);
            if (name !== skip && !expressible(args)) problems.push(`${task}: ${ajv.errorsText(expressible.errors)}`);
            const result = await client.callTool(name, args);
            if (result.isError) problems.push(`${task}: ${text(result)}`);
            else if (learn) seen = { ...seen, ...learn(result.structuredContent) };
        }
        assert.deepEqual(problems, []);
        assert.deepEqual([...new Set(TASKS.map(([, name]) => name))].sort(), [...schemas.keys()].sort(), 'every tool must have a task');
        await client.close();
    });
