// SPDX-License-Identifier: Apache-2.0
// A sweep that runs as an MCP task. The tests follow it with raw requests through the official client, and one test kills the
// server while the sweep is running. The client does not yet understand the answer to a call that became a task, so the tests
// send such calls themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connect } from './support/clients.mjs';
import { post, startServer, startSimserve, until } from './support/harness.mjs';

const TASKS = 'io.modelcontextprotocol/tasks';
const CAPABILITIES = { extensions: { [TASKS]: {} } };
const ENVELOPE = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
};
const GRID = { deployment: 'sim', concurrency: [1, 2, 4], input_tokens: [16], output_tokens: [8], window_s: 1 };
const ANY_RESULT = { '~standard': { version: 1, vendor: 'end-to-end', validate: (value) => ({ value }) } };
const SWEEP_MS = 120_000;

async function connectForTasks(url) {
    const options = { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: CAPABILITIES };
    const client = new Client({ name: 'end-to-end', version: '1.0.0' }, options);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
}

// callTool(server, name, arguments): calls a tool as a client that supports tasks does; returns the result.
async function callTool(server, name, args) {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: ENVELOPE } };
    const headers = {
        Accept: 'application/json',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': name,
    };
    const reply = await post(server.port, body, headers);
    const json = reply.headers['content-type'].startsWith('text/event-stream')
        ? reply.body.match(/^data: (.*)$/m)[1]
        : reply.body;
    return JSON.parse(json).result;
}

const ask = (client, method, params) => client.request({ method, params }, ANY_RESULT);

async function untilTask(client, taskId, what, reached) {
    return until(what, async () => {
        const task = await ask(client, 'tasks/get', { taskId });
        return reached(task) && task;
    }, SWEEP_MS);
}

async function start(t) {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const tool = (await client.listTools()).find(({ name }) => name === 'sweep_start');
    await client.close();
    return { server, tool };
}

test('a sweep is a task that survives kill -9', async (t) => {
    const { server, tool } = await start(t);
    const begun = await callTool(server, 'sweep_start', GRID);
    assert.equal(begun.resultType, 'task');
    assert.equal(begun.status, 'working');
    const { taskId } = begun;

    let client = await connectForTasks(server.url);
    assert.deepEqual(client.getServerCapabilities().extensions, { [TASKS]: {} });
    const working = await untilTask(client, taskId, 'the second cell', ({ statusMessage }) =>
        statusMessage?.startsWith('cell 2 of 3'),
    );
    assert.equal(working.status, 'working');
    await client.close();
    await server.killAndRestart();

    client = await connectForTasks(server.url);
    const done = await untilTask(client, taskId, 'the task to end', ({ status }) => status !== 'working');
    assert.equal(done.status, 'completed');
    assert.equal(done.createdAt, begun.createdAt);
    assert.ok(done.lastUpdatedAt > working.lastUpdatedAt);
    const { result } = done;
    assert.equal(result.isError, false);
    assert.match(result.content[0].text, /is completed: 3 cells measured, in .*\n(.*\n)*Next: run_report/);
    assert.equal(result.structuredContent.outcome.measured, 3);
    const page = `${new URL(server.url).origin}/sweeps/${result.structuredContent.sweep.id}`;
    assert.equal(result.structuredContent.page, page);
    assert.ok(result.content[0].text.includes(`Page: ${page}`));
    const link = { type: 'resource_link', name: 'page', mimeType: 'text/html', uri: page };
    assert.deepEqual(result.content.slice(1), [link], 'the only other content is a link to the page');
    for (const name of tool.outputSchema.required) assert.ok(name in result.structuredContent, name);
    await client.close();

    await server.killAndRestart();
    client = await connectForTasks(server.url);
    assert.deepEqual(await ask(client, 'tasks/get', { taskId }), done);
    await client.close();
});

test('cancelling the task cancels the sweep, a repeated call returns the same task, and an unknown task is refused', async (t) => {
    const { server } = await start(t);
    const client = await connectForTasks(server.url);
    const args = { ...GRID, window_s: 30, idempotency_key: 'once' };
    const { taskId } = await callTool(server, 'sweep_start', args);
    await untilTask(client, taskId, 'the first cell', ({ statusMessage }) => statusMessage?.startsWith('cell 1 of 3'));
    await ask(client, 'tasks/cancel', { taskId });
    const task = await untilTask(client, taskId, 'the task to end', ({ status }) => status !== 'working');
    assert.equal(task.status, 'cancelled');
    const again = await callTool(server, 'sweep_start', args);
    assert.equal(again.taskId, taskId);
    assert.equal(again.status, 'cancelled');
    const refusal = await ask(client, 'tasks/get', { taskId: 'job_none' }).catch((error) => error);
    assert.equal(refusal.code, -32602);
    await client.close();
});
