// SPDX-License-Identifier: Apache-2.0
// How many tokens opsbrain costs its clients' models before the first call, for the list of tools and the instructions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { connect } from './support/clients.mjs';
import { addKey, run, startServer, temporaryFolder, until } from './support/harness.mjs';

// Limits, in tokens, on the tools that an admin gets by default.
const LIMIT_EVER = 8000; // must never be raised: a new tool stays out of the default list, or replaces others
const LIMIT_TODAY = 6700; // with today's tools
const LIMIT_PER_TOOL = 700;

const INSTRUCTIONS_LIMIT = 1500; // characters: Claude Code truncates them after 2,048

const tokens = (value) => countTokens(JSON.stringify(value));
const namesOf = (tools) => tools.map(({ name }) => name);

async function listAt(t, url, key) {
    const client = await connect('2x-2026', url, key && { key });
    t.after(() => client.close());
    return client.listTools();
}

test('the list of tools fits its budget', async (t) => {
    const server = await startServer(t);
    const tools = await listAt(t, server.url);
    for (const tool of tools) assert.ok(tokens(tool) <= LIMIT_PER_TOOL, `${tool.name}: ${tokens(tool)} tokens`);
    const together = tokens(tools);
    t.diagnostic(`${tools.length} tools cost ${together} tokens`);
    assert.ok(together <= LIMIT_EVER, `${together} tokens`);
    assert.ok(together <= LIMIT_TODAY, `${together} tokens`);
});

test("the list has the tools that the caller's role allows, from the sets and tools that the URL names", async (t) => {
    const data = await temporaryFolder(t);
    const keys = {};
    for (const role of ['viewer', 'operator', 'admin']) keys[role] = await addKey(data, role, '--role', role);
    const server = await startServer(t, { data });
    const all = await listAt(t, server.url, keys.admin);
    const operator = namesOf(await listAt(t, server.url, keys.operator));
    const viewer = await listAt(t, server.url, keys.viewer);

    assert.ok(!operator.includes('secret_bind') && operator.includes('sweep_start'));
    assert.ok(viewer.every((tool) => tool.annotations.readOnlyHint));
    t.diagnostic(`a viewer's ${viewer.length} tools cost ${tokens(viewer)} tokens`);
    const fleet = namesOf(await listAt(t, `${server.url}?tools=fleet`, keys.admin));
    assert.ok(fleet.includes('metrics_show') && !fleet.includes('sweep_start'));
    const some = namesOf(await listAt(t, `${server.url}?tools=measure,metrics_show`, keys.operator));
    assert.ok(some.includes('sweep_start') && some.includes('metrics_show') && !some.includes('metrics_watch'));
    const whole = namesOf(await listAt(t, `${server.url}?tools=all`, keys.admin));
    const deploy = namesOf(await listAt(t, `${server.url}?tools=deploy`, keys.admin));
    assert.deepEqual(whole.filter((name) => !deploy.includes(name)), namesOf(all).filter((name) => !deploy.includes(name)));
    assert.ok(deploy.includes('recipe_list') && !namesOf(all).includes('recipe_list'));
    const lost = await connect('2x-2026', `${server.url}?tools=metrics`, { key: keys.admin });
    await assert.rejects(lost.listTools(), /"tools" in the URL names "metrics", .* \(all, fleet, measure, audit, deploy\)/);
    assert.ok((await lost.call('deployment_list')).deployments, 'a tool that is not listed can be called');
    await lost.close();
});

test('a client is notified when a change of its role changes its list of tools', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'eve', '--role', 'viewer');
    await addKey(data, 'root', '--role', 'admin');
    const server = await startServer(t, { data });
    const eve = await connect('legacy-1x', server.url, { key });
    const received = [];
    eve.onNotification(({ method }) => received.push(method));
    const before = namesOf(await eve.listTools());
    // The role changes back and forth until the notification comes, because the client's stream might still be opening.
    let role = 'viewer';
    await until('the notification', async () => {
        role = role === 'viewer' ? 'operator' : 'viewer';
        await run(['principal', 'role', 'eve', role, '--data', data]);
        return received.includes('notifications/tools/list_changed');
    });
    await run(['principal', 'role', 'eve', 'operator', '--data', data]);
    assert.ok(namesOf(await eve.listTools()).length > before.length);
    await eve.close();
});

test('a setting chooses the tools that are listed if the URL names none', async (t) => {
    const server = await startServer(t, { args: ['--tools', 'audit,model_query'] });
    assert.deepEqual(namesOf(await listAt(t, server.url)), ['audit_list', 'model_query']);
    assert.ok(namesOf(await listAt(t, `${server.url}?tools=all`)).length > 30);
});

test('the instructions warn about untrusted text early on, and are too short to be truncated', async (t) => {
    const server = await startServer(t);
    for (const kind of ['legacy-1x', '2x-2026']) {
        const client = await connect(kind, server.url);
        const instructions = client.instructions();
        assert.ok(instructions.length <= INSTRUCTIONS_LIMIT, `${instructions.length} characters`);
        assert.match(instructions.slice(0, 400), /data, never .*instructions/s);
        t.diagnostic(`${instructions.length} characters, ${countTokens(instructions)} tokens`);
        await client.close();
    }
});
