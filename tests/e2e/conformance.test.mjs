// SPDX-License-Identifier: Apache-2.0
// The official conformance suite is run against a server with the suite's fixtures, where every scenario must pass, and
// against the product itself, where the scenarios that need no fixtures must pass.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';

import { startConformanceServer, startServer, temporaryFolder } from './support/harness.mjs';

const SUITE = path.resolve('tests/e2e/node_modules/@modelcontextprotocol/conformance/dist/index.js');

// The scenarios that can be tested against the product itself. The others need the suite's fixtures.
const OF_THE_PRODUCT = {
    '2025-11-25': [
        'server-initialize',
        'server-session-lifecycle',
        'server-sse-multiple-streams',
        'logging-set-level',
        'ping',
        'tools-list',
        'resources-list',
        'prompts-list',
        'dns-rebinding-protection',
    ],
    '2026-07-28': [
        'server-stateless',
        'server-sse-multiple-streams',
        'tools-list',
        'resources-list',
        'prompts-list',
        'dns-rebinding-protection',
        'sep-2164-resource-not-found',
        'caching',
        'http-header-validation',
    ],
};
// The checks in these scenarios that need the fixtures nevertheless.
const NEED_FIXTURES = new Set([
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
    'sep-2575-server-sends-prompts-list-changed-on-subscription',
    'sep-2575-server-sends-tools-list-changed-on-subscription',
]);

// runSuite(t, url, args): {code, output, scenarios}, where `scenarios` maps the name of each scenario to its checks.
async function runSuite(t, url, args) {
    const folder = await temporaryFolder(t);
    const expectedFailures = path.join(folder, 'expected-failures.yml');
    await writeFile(expectedFailures, 'server: []\n');
    const results = path.join(folder, 'results');
    const words = [SUITE, 'server', '--url', url, '--expected-failures', expectedFailures, '-o', results, ...args];
    const { code, output } = await new Promise((resolve) => {
        execFile(process.execPath, words, { maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
            resolve({ code: error?.code ?? 0, output: stdout + stderr }),
        );
    });
    return { code, output, scenarios: await readResults(results) };
}

// readResults(folder): the checks of each scenario, from the files server-<scenario>-<time>/checks.json that the suite writes.
async function readResults(folder) {
    const scenarios = new Map();
    for (const entry of await readdir(folder)) {
        const [, name] = /^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(entry);
        scenarios.set(name, JSON.parse(await readFile(path.join(folder, entry, 'checks.json'), 'utf8')));
    }
    return scenarios;
}

// The suite's warnings count as failures here.
function failures(checks) {
    return checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
}

function explain(checks) {
    return failures(checks).map(({ id, errorMessage }) => `${id}: ${errorMessage}`).join('\n');
}

async function testScenario(t, name, checks) {
    await t.test(name, (t) => {
        assert.equal(explain(checks), '');
        const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
        assert.ok(passed > 0, 'the suite checked nothing');
        t.diagnostic(`${passed} checks passed`);
    });
}

// Our own tests of the scenarios that the suite names but does not implement.
const OURS = { 'tasks-status-notifications': testTaskNotifications };

async function testTaskNotifications(url) {
    const answer = await (await post(url, 'tools/call', { name: 'slow_compute', arguments: { seconds: 1 } })).json();
    const { taskId } = answer.result;
    const leaving = new AbortController();
    const stream = await post(url, 'subscriptions/listen', { notifications: { taskIds: [taskId] } }, leaving.signal);
    const received = [];
    for await (const message of messages(stream)) {
        received.push(message);
        if (message.params.status === 'completed') break;
    }
    leaving.abort();
    assert.equal(received[0].method, 'notifications/subscriptions/acknowledged');
    assert.deepEqual(received[0].params.notifications, { taskIds: [taskId] });
    for (const { method, params } of received.slice(1)) {
        assert.equal(method, 'notifications/tasks');
        assert.equal(params.taskId, taskId);
        assert.equal(params._meta['io.modelcontextprotocol/subscriptionId'], 1);
    }
}

function post(url, method, params, signal) {
    const named = params.name === undefined ? {} : { 'Mcp-Name': params.name };
    const headers = {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...named,
    };
    const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
    return fetch(url, { method: 'POST', headers, body, signal });
}

// messages(response): yields the messages in an event stream as they arrive.
async function* messages(response) {
    let pending = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const lines = (pending + chunk).split('\n');
        pending = lines.pop();
        for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6));
    }
}

const everyScenario = (revision) => ['--suite', 'all', '--spec-version', revision];

for (const [revision, args, expected] of [
    ['2025-06-18', everyScenario('2025-06-18'), 27],
    ['2025-11-25', ['--requirements', '2025-11-25'], 33],
    ['2026-07-28', ['--requirements', '2026-07-28'], 50],
])
    test(`the server with the fixtures conforms to ${revision}`, async (t) => {
        const server = await startConformanceServer(t);
        const { code, output, scenarios } = await runSuite(t, server.url, args);
        for (const [name, checks] of scenarios)
            if (name in OURS) await t.test(name, { timeout: 30_000 }, () => OURS[name](server.url));
            else await testScenario(t, name, checks);
        assert.equal(scenarios.size, expected, output);
        assert.equal(code, 0, output);
        t.diagnostic(output.match(/^Total: .*$/m)?.[0] ?? 'no total');
    });

for (const [revision, names] of Object.entries(OF_THE_PRODUCT))
    test(`the product itself passes the scenarios of ${revision} that need no fixtures`, async (t) => {
        const server = await startServer(t);
        const { scenarios } = await runSuite(t, server.url, everyScenario(revision));
        for (const name of names) {
            const checks = scenarios.get(name).filter(({ id }) => !NEED_FIXTURES.has(id));
            await testScenario(t, name, checks);
        }
    });
