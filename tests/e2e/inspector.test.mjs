// SPDX-License-Identifier: Apache-2.0
// Runs the command line of the official Inspector, with which users inspect a server, in each protocol era.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startServer, temporaryFolder } from './support/harness.mjs';

const INSPECTOR = path.resolve(
    import.meta.dirname,
    'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);
const VERSIONS = { legacy: '2025-11-25', auto: '2026-07-28', modern: '2026-07-28' };
const TOOL_IS_ERROR = 5; // the Inspector's exit status if the tool's result is an error

// inspector(t, era): starts a server; returns a function (method, ...options) that runs the Inspector on it and returns
// {code, result, error}.
async function inspector(t, era) {
    const server = await startServer(t);
    const home = await temporaryFolder(t);
    const target = ['--cli', server.url, '--transport', 'http', '--protocol-era', era];
    const forScripts = ['--format', 'json', '--stored-auth-only'];
    return async (method, ...options) => {
        const args = [INSPECTOR, ...target, ...forScripts, '--method', method, ...options];
        const run = promisify(execFile)(process.execPath, args, { env: { ...process.env, HOME: home } });
        const { code = 0, stdout, stderr } = await run.catch((error) => error);
        const error = stderr.split('\n').find((line) => line.startsWith('{"error"'));
        return { code, result: stdout && JSON.parse(stdout).result, error: error && JSON.parse(error).error };
    };
}

for (const [era, version] of Object.entries(VERSIONS))
    test(`the Inspector lists tools, resources and prompts (${era})`, async (t) => {
        const inspect = await inspector(t, era);
        const initialized = await inspect('initialize');
        assert.equal(initialized.result?.protocolVersion, version, JSON.stringify(initialized));
        assert.equal(initialized.result.serverInfo.name, 'opsbrain');

        const names = (list, key) => list.result[key].map((one) => one.name);
        assert.ok(names(await inspect('tools/list'), 'tools').includes('sweep_start'));
        assert.ok(names(await inspect('resources/list'), 'resources').includes('guide'));
        assert.ok(names(await inspect('prompts/list'), 'prompts').includes('benchmark_a_deployment'));

        const { result } = await inspect('resources/read', '--uri', 'opsbrain://guide');
        assert.match(result.contents[0].text, /sweep_start/);
    });

for (const era of Object.keys(VERSIONS))
    test(`the Inspector calls tools, gets prompts and, in the legacy era, sets the log level (${era})`, async (t) => {
        const inspect = await inspector(t, era);
        const register = ['--tool-arg', 'name=sim', 'url=http://127.0.0.1:9'];
        const registered = await inspect('tools/call', '--tool-name', 'deployment_register', ...register);
        assert.equal(registered.code, 0, JSON.stringify(registered));
        assert.equal(registered.result.structuredContent.reachable, false);

        const refused = await inspect('tools/call', '--tool-name', 'deployment_show', '--tool-arg', 'deployment=none');
        assert.deepEqual([refused.code, refused.error.code], [TOOL_IS_ERROR, 'tool_is_error']);
        assert.match(refused.result.content[0].text, /"none"/);

        const prompt = ['--prompt-name', 'diagnose_a_deployment', '--prompt-args', 'deployment=sim'];
        const got = await inspect('prompts/get', ...prompt);
        assert.match(got.result?.messages[0].content.text ?? JSON.stringify(got), /deployment sim/);

        const level = await inspect('logging/setLevel', '--log-level', 'debug');
        if (era === 'legacy') assert.deepEqual(level.result, {});
        else assert.match(level.error.message, /not supported/);
    });
