// SPDX-License-Identifier: Apache-2.0
// Resources, prompts and completion, as the official clients see them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, forEachClient } from './support/clients.mjs';
import { post, startServer, startSimserve, until } from './support/harness.mjs';

const GRID = { deployment: 'sim', concurrency: [1, 2], input_tokens: [16], output_tokens: [8], window_s: 1 };

// In the protocol versions with sessions, the server's error code is -32002. Client 2.x reports it to its callers as -32602.
const NOT_FOUND = { 'legacy-1x': -32002, '2x-legacy': -32602, '2x-auto': -32602, '2x-2026': -32602 };

// listAll(client): every resource, page by page.
async function listAll(client) {
    const all = [];
    let cursor;
    do {
        const page = await client.listResources(cursor ? { cursor } : {});
        all.push(...page.resources);
        cursor = page.nextCursor;
    } while (cursor);
    return all;
}

async function start(t, kind) {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const connection = await connect(kind, server.url);
    await connection.call('deployment_register', { name: 'sim', url: model.url });
    return { server, connection, client: connection.client };
}

const contents = async (client, uri) => (await client.readResource({ uri })).contents[0];

forEachClient('resources can be listed and read, and their ids can be completed', async (t, kind) => {
    const { connection, client } = await start(t, kind);
    const capabilities = client.getServerCapabilities();
    assert.deepEqual(capabilities.resources, { subscribe: true, listChanged: true });
    assert.deepEqual(capabilities.prompts, { listChanged: true });
    assert.deepEqual(capabilities.completions, {});

    const { sweep, job } = await connection.call('sweep_start', GRID);
    await connection.call('job_show', { job, wait_s: 40 });
    const { runs } = await connection.call('run_list');
    const run = runs[0].id;

    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(
        resourceTemplates.map((template) => template.uriTemplate),
        [
            'opsbrain://arguments/{tool}',
            'opsbrain://deployments/{name}',
            'opsbrain://deployments/{name}/metrics',
            'opsbrain://sweeps/{id}',
            'opsbrain://runs/{id}',
            'opsbrain://runs/{id}/report',
            'opsbrain://runs/{id}/report.html',
            'opsbrain://sweeps/{id}/report.html',
            'opsbrain://runs/{id}/cells.csv',
            'opsbrain://sweeps/{id}/cells.csv',
            'opsbrain://runs/{id}/export/vllm',
            'opsbrain://runs/{id}/export/aiperf',
            'opsbrain://runs/{id}/export/csv',
            'opsbrain://runs/{id}/export/serving-report',
            'opsbrain://jobs/{id}',
        ],
    );
    const listed = await listAll(client);
    assert.deepEqual(
        listed.map((resource) => resource.uri),
        [
            'opsbrain://guide',
            'opsbrain://answers',
            'opsbrain://deployments/sim',
            'opsbrain://deployments/sim/metrics',
            `opsbrain://sweeps/${sweep.id}`,
            `opsbrain://runs/${run}`,
            `opsbrain://runs/${run}/report`,
            `opsbrain://runs/${run}/cells.csv`,
            `opsbrain://jobs/${job}`,
        ],
    );
    for (const { uri, mimeType } of listed) {
        const part = await contents(client, uri);
        assert.equal(part.uri, uri);
        assert.equal(part.mimeType, mimeType);
        if (mimeType === 'application/json') JSON.parse(part.text);
        else assert.ok(part.text.length > 50, uri);
    }
    const report = await connection.callTool('run_report', { run });
    const page = `Page: ${report.structuredContent.page}\n`;
    assert.equal(`${(await contents(client, `opsbrain://runs/${run}/report`)).text}\n${page}`, report.content[0].text);
    const csv = (await contents(client, `opsbrain://runs/${run}/cells.csv`)).text.trimEnd().split('\r\n');
    assert.equal(csv.length, 3);
    assert.equal(new Set(csv.map((line) => line.split(',').length)).size, 1);
    const all = (await contents(client, `opsbrain://sweeps/${sweep.id}/cells.csv`)).text.trimEnd().split('\r\n');
    assert.deepEqual(all, csv.map((line, i) => `${i === 0 ? 'run' : `"${run}"`},${line}`));

    const ids = await client.complete({
        ref: { type: 'ref/resource', uri: 'opsbrain://runs/{id}' },
        argument: { name: 'id', value: 'run_' },
    });
    assert.deepEqual(ids.completion, { values: [run], total: 1, hasMore: false });
    await connection.close();
});

forEachClient('prompts can be listed and filled in, and their arguments can be completed', async (t, kind) => {
    const { connection, client } = await start(t, kind);
    const { prompts } = await client.listPrompts();
    assert.deepEqual(
        prompts.map((prompt) => prompt.name),
        ['benchmark_a_deployment', 'compare_deployments', 'cost_report', 'diagnose_a_deployment'],
    );
    const tools = new Set((await connection.listTools()).map((tool) => tool.name));
    const { messages } = await client.getPrompt({
        name: 'benchmark_a_deployment',
        arguments: { deployment: 'sim', depth: 'quick' },
    });
    assert.equal(messages[0].role, 'user');
    assert.match(messages[0].content.text, /deployment sim.*\n1\. deployment_show/);
    for (const [name] of messages[0].content.text.matchAll(/\b(sweep|job|run|model|deployment)_[a-z]+\b/g))
        assert.ok(tools.has(name), name);
    const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'diagnose_a_deployment' },
        argument: { name: 'symptom', value: 'slow' },
    });
    assert.deepEqual(completion.values, ['slow_first_token', 'slow_tokens']);
    await assert.rejects(client.getPrompt({ name: 'nothing' }), { code: -32602 });
    await assert.rejects(client.getPrompt({ name: 'cost_report', arguments: {} }), /price_per_hour/);
    await connection.close();
});

forEachClient('an unknown resource is refused with the error code that this client expects, an unknown cursor with -32602', async (t, kind) => {
    const { connection, client } = await start(t, kind);
    for (const uri of ['opsbrain://runs/run_nobody', 'opsbrain://nothing', 'file:///etc/passwd', 'opsbrain://runs/a%2Fb'])
        await assert.rejects(client.readResource({ uri }), (error) => {
            assert.equal(error.code, NOT_FOUND[kind], `${uri}: ${error.message}`);
            assert.equal(error.data?.uri, uri);
            return true;
        });
    await assert.rejects(client.listResources({ cursor: 'sweep:x' }), { code: -32602 });
    await connection.close();
});

// Only these kinds of clients have a session. The session's stream carries the notifications.
for (const kind of ['legacy-1x', '2x-legacy'])
    test(`a running sweep notifies its subscribers, at most once a second (${kind})`, async (t) => {
        const { connection, client } = await start(t, kind);
        const received = [];
        connection.onNotification(({ method, params }) => received.push({ method, uri: params?.uri, at: performance.now() }));
        const { sweep, job } = await connection.call('sweep_start', { ...GRID, window_s: 3 });
        const uri = `opsbrain://sweeps/${sweep.id}`;
        await client.subscribeResource({ uri });
        await assert.rejects(client.subscribeResource({ uri: 'opsbrain://sweeps/swp_nobody' }), { code: NOT_FOUND[kind] });
        const updates = () => received.filter((one) => one.method === 'notifications/resources/updated');
        await until('a second update', () => updates().length >= 2);
        await connection.call('job_show', { job, wait_s: 40 });
        const overAt = performance.now();
        await until('the last update', () => updates().at(-1).at > overAt - 300, 3000);
        for (const one of updates()) assert.equal(one.uri, uri);
        for (const [i, one] of updates().entries())
            if (i > 0) assert.ok(one.at - updates()[i - 1].at > 900, 'more than one update a second');
        await client.unsubscribeResource({ uri });
        await until('the notification that the list has changed', () => received.some((one) => one.method === 'notifications/resources/list_changed'));
        await connection.close();
    });

test('a subscriptions/listen stream receives the notifications that it asked for, and no others', async (t) => {
    const { server, connection } = await start(t, '2x-2026');
    const { sweep, job } = await connection.call('sweep_start', { ...GRID, window_s: 2 });
    const uri = `opsbrain://sweeps/${sweep.id}`;
    const events = await listen(t, server.port, {
        resourcesListChanged: true,
        resourceSubscriptions: [uri, 'opsbrain://sweeps/swp_nobody'],
    });
    const acknowledged = await until('the acknowledgement', () => events[0]);
    assert.deepEqual(acknowledged.params.notifications, { resourcesListChanged: true, resourceSubscriptions: [uri] });
    await connection.call('job_show', { job, wait_s: 40 });
    await connection.call('deployment_remove', { deployment: 'sim', confirm: 'sim' });
    const of = (method) => events.filter((event) => event.method === method);
    await until('the notification that the list has changed', () => of('notifications/resources/list_changed').length > 0);
    assert.ok(of('notifications/resources/updated').length > 0);
    for (const event of events) assert.equal(event.params._meta['io.modelcontextprotocol/subscriptionId'], 'l1');
    for (const event of of('notifications/resources/updated')) assert.equal(event.params.uri, uri);
    await connection.close();
});

// listen(t, port, notifications): opens a subscriptions/listen stream; returns an array to which its messages are added as they
// arrive.
async function listen(t, port, notifications) {
    const events = [];
    const abort = new AbortController();
    t.after(() => abort.abort());
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
        method: 'POST',
        signal: abort.signal,
        headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            'MCP-Protocol-Version': '2026-07-28',
            'Mcp-Method': 'subscriptions/listen',
        },
        body: JSON.stringify({
            jsonrpc: '2.0',
            id: 'l1',
            method: 'subscriptions/listen',
            params: {
                notifications,
                _meta: {
                    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                    'io.modelcontextprotocol/clientCapabilities': {},
                },
            },
        }),
    });
    assert.equal(response.status, 200);
    read(response.body, events).catch(() => {});
    return events;
}

async function read(body, events) {
    let pending = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        pending += chunk;
        const frames = pending.split('\n\n');
        pending = frames.pop();
        for (const frame of frames) {
            const data = frame.split('\n').find((line) => line.startsWith('data: '));
            if (data) events.push(JSON.parse(data.slice(6)));
        }
    }
}

test('in 2026-07-28, results of list and read methods state their type and lifetime in caches; resources/subscribe is unknown', async (t) => {
    const { server, connection } = await start(t, '2x-2026');
    const ask = async (method, params, name) => {
        const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method };
        if (name) headers['Mcp-Name'] = name;
        const _meta = {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
        };
        const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
        return JSON.parse((await post(server.port, body, headers)).body);
    };
    for (const [method, params, name] of [
        ['resources/list', {}],
        ['resources/templates/list', {}],
        ['prompts/list', {}],
        ['resources/read', { uri: 'opsbrain://guide' }, 'opsbrain://guide'],
    ]) {
        const { result } = await ask(method, params, name);
        assert.equal(result.resultType, 'complete', method);
        assert.equal(result.cacheScope, 'private', method);
        assert.ok(Number.isInteger(result.ttlMs) && result.ttlMs >= 0, method);
    }
    const { error } = await ask('resources/subscribe', { uri: 'opsbrain://guide' }, undefined);
    assert.equal(error.code, -32601);
    await connection.close();
});
