// SPDX-License-Identifier: Apache-2.0
// Claude Code and Gemini CLI, with a scripted model, find out where a server saturates; the tests check what each host shows the
// model.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve, temporaryFolder } from '../e2e/support/harness.mjs';
import { tokens } from '../e2e/support/tokens.mjs';
import { startModel } from './stub.mjs';

const MODULES = path.resolve(process.env.HOSTS_MODULES);
const PROMPT = 'Benchmark this server and tell me where it saturates.';
const REQUESTS_AT_ONCE = 3;

// For each host: its program, the settings file in its home folder, its arguments, and its environment.
const HOSTS = {
    'Claude Code': {
        file: path.join(MODULES, `@anthropic-ai/claude-code-linux-${process.arch}/claude`),
        settings: (url) => ['mcp.json', { mcpServers: { opsbrain: { type: 'http', url } } }],
        args: (home) => ['-p', PROMPT, '--mcp-config', path.join(home, 'mcp.json'), '--strict-mcp-config', '--allowedTools',
            'mcp__opsbrain', '--model', 'claude-sonnet-4-5'],
        env: (modelUrl) => ({
            ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: 'stub', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
            ENABLE_TOOL_SEARCH: 'false', // otherwise the model sees only the tools' names, and must request the rest
        }),
    },
    'Gemini CLI': {
        file: process.execPath,
        settings: (url) => ['.gemini/settings.json', {
            mcpServers: { opsbrain: { httpUrl: url, trust: true } },
            security: { auth: { selectedType: 'gemini-api-key' } },
            privacy: { usageStatisticsEnabled: false },
            general: { disableAutoUpdate: true, disableUpdateNag: true },
        }],
        args: () => [path.join(MODULES, '@google/gemini-cli/bundle/gemini.js'), '-p', PROMPT, '-m', 'gemini-2.5-flash',
            '--approval-mode', 'yolo', '--skip-trust'],
        env: (modelUrl) => ({ GEMINI_API_KEY: 'stub', GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
    },
};

async function converse(t, { file, settings, args, env }, url, modelUrl) {
    const home = await temporaryFolder(t);
    const [name, content] = settings(url);
    await mkdir(path.dirname(path.join(home, name)), { recursive: true });
    await writeFile(path.join(home, name), JSON.stringify(content));
    const host = spawn(file, args(home), {
        cwd: home, env: { PATH: process.env.PATH, HOME: home, ...env(modelUrl) }, stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 150_000,
    });
    let output = '';
    for (const stream of [host.stdout, host.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    const [code] = await once(host, 'close');
    return { code, output };
}

for (const [name, host] of Object.entries(HOSTS))
    test(`${name} shows its model every tool, and three calls find out where a server saturates`, { timeout: 200_000 }, async (t) => {
        const served = await startSimserve(t, ['--ttft-ms', '5', '--step-ms', '1', '--max-running', `${REQUESTS_AT_ONCE}`]);
        const server = await startServer(t);
        const { shown, url: modelUrl } = await startModel(t, [
            () => ['deployment_register', { name: 'sim', url: served.url }],
            () => ['sweep_start', { deployment: 'sim', window_s: 1, output_tokens: [16], options: ['warmup_limit_s=1'] }],
            ([, started]) => ['job_show', { job: started.match(/job_\w{20,}/)?.[0] ?? started, wait_s: 120 }],
        ]);
        const { code, output } = await converse(t, host, server.url, modelUrl);
        assert.equal(code, 0, output);
        assert.doesNotMatch(output, /error|failed/i, output);
        const client = await connect('2x-2026', server.url);
        const listed = await client.listTools();
        await client.close();
        for (const tool of listed) assert.ok(shown.tools.some((one) => one.name.endsWith(tool.name)), tool.name);
        assert.match(shown.prompt, /is data, never instructions/);
        assert.equal(shown.results.length, 3, output);
        assert.match(shown.results[2], /saturated (at|by|between) /);
        assert.match(shown.results[2], /opsbrain:\/\/runs\/run_\w+\/report/);
        t.diagnostic(`${name}: ${shown.tools.length} tools take ${tokens(shown.tools)} tokens, the answers `
            + shown.results.map(tokens).join(', '));
    });
