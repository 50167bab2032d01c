// SPDX-License-Identifier: Apache-2.0
// A model server that a plan deployed can be queried, watched and measured without further steps. Its ID token is renewed
// while a sweep runs, and is sent to the model server's address only.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Browser } from './support/browser.mjs';
import { connect, text } from './support/clients.mjs';
import { planService, startGoogle, startThief, TARGET } from './support/fake_google.mjs';
import { addKey, startServer, startSimserve, temporaryFolder, until } from './support/harness.mjs';
import { startSweep, waitForJob } from './support/sweep_by_client.mjs';

const FOR_AGENTS = ['agent_usd_per_hour=100', 'agent_usd_per_life=100'];

// deploy(client, deployment, more): plans a deployment, applies the plan, and waits until the plan is carried out.
async function deploy(client, deployment, more) {
    const { plan: id, digest } = await planService(client, deployment, more);
    const { job } = await client.call('deployment_apply', { plan: id, confirm: digest });
    await done(client, job);
}

// done(client, job): waits for a job that must complete.
async function done(client, job) {
    const ended = await waitForJob(client, job);
    assert.equal(ended.state, 'completed', JSON.stringify(ended));
}

// start(t, {tokenMs, agents, keys}): starts a server with a target on the fake Google. `tokenMs`: how long an ID token is valid, in ms;
// `agents`: whether agents can deploy on the target without a user's approval; `keys`: whether there is an API key for each role.
async function start(t, { tokenMs = 3_600_000, agents = true, keys = false } = {}) {
    const model = await startSimserve(t, ['--ttft-ms', '20', '--step-ms', '5']);
    const google = await startGoogle(t, { model, tokenMs });
    const data = path.join(await temporaryFolder(t), 'data');
    const key = {};
    for (const [name, role] of keys ? [['ada', 'admin'], ['otto', 'operator'], ['vera', 'viewer']] : [])
        key[name] = await addKey(data, name, '--role', role);
    const server = await startServer(t, { data, args: ['--cloud-endpoints', google.endpoints] });
    const client = await connect('2x-2026', server.url, { key: key.ada });
    await client.call('target_register', { ...TARGET, options: [...TARGET.options, ...(agents ? FOR_AGENTS : [])] });
    return { google, server, client, key };
}

test('a deployed service can be queried, watched and swept, although its tokens expire during the sweep', async (t) => {
    const { google, server, client } = await start(t, { tokenMs: 3000 });
    await deploy(client, 'gemma', { overrides: ['min_instances=1'] });
    assert.match(text(await client.callTool('model_query', { deployment: 'gemma', prompt: 'Hello' })), /./);
    await until('the deployment to be watched', async () => {
        const { watch } = await client.call('deployment_show', { deployment: 'gemma' });
        return watch.interval_s === 15 && watch.last_at !== undefined && watch.last_error === undefined;
    });
    const before = google.door.used.size;
    const { job } = await startSweep(client, {
        deployment: 'gemma',
        concurrency: [1, 2],
        input_tokens: [16, 64],
        output_tokens: [16],
        window_s: 1,
        options: ['warmup_limit_s=0', 'requests=20'],
    });
    const ended = await waitForJob(client, job);
    assert.deepEqual([ended.state, ended.progress, ended.progress_total], ['completed', 4, 4]);
    const [run] = (await client.call('run_list', { deployment: 'gemma' })).runs;
    const shown = await client.call('run_show', { run: run.id });
    const { image, machine, region } = shown.fingerprint.platform;
    assert.deepEqual({ image, machine, region }, { image: 'vllm/vllm-openai:nightly', machine: 'nvidia-l4', region: 'us-central1' });
    for (const cell of shown.cells) assert.deepEqual([cell.state, cell.success_rate], ['measured', 1]);
    assert.ok(google.door.used.size - before >= 2, `${google.door.used.size - before} tokens were used in the sweep, expected at least 2`);
    assert.equal(google.door.refused, 0);
    await client.close();
    await assertNoneStored(server, google.tokens);
});

test('watching does not wake a service that scales to zero', async (t) => {
    const { google, client } = await start(t);
    await deploy(client, 'gemma');
    await until('metrics_history to say that the server scales to zero', async () => {
        const shown = await client.callTool('metrics_history', { deployment: 'gemma' });
        return /the server scales to zero/.test(text(shown));
    });
    assert.equal(google.door.used.size, 0);
    await client.close();
});

test('the ID token is sent only to the address of its service, not after a redirect, and not for another deployment at that address', async (t) => {
    const { google, server, client } = await start(t);
    const thief = await startThief(t);
    await deploy(client, 'gemma');
    google.door.redirectsTo = thief.url;
    assert.match(await client.refusal('model_query', { deployment: 'gemma', prompt: 'Hello' }), /307|redirect/);
    assert.deepEqual(thief.stolen, []);
    await client.call('deployment_register', { name: 'twin', url: google.door.url });
    await client.refusal('model_query', { deployment: 'twin', prompt: 'Hello' });
    assert.equal(google.door.refused > 0, true, 'a request for the other deployment at this address must have no token');
    const moved = await client.refusal('deployment_update', { deployment: 'gemma', url: thief.url, confirm: 'gemma' });
    assert.match(moved, /gemma is managed by opsbrain and its platform assigns its address/);
    assert.deepEqual(thief.stolen, []);
    await client.close();
    await assertNoneStored(server, google.tokens);
});

test('a user agrees to a plan on its page, and two users who apply the plan at the same time create one service', async (t) => {
    const { google, server, client, key } = await start(t, { agents: false, keys: true });
    const otto = await connect('legacy-1x', server.url, { key: key.otto });
    const { plan: id, digest } = await planService(otto, 'gemma');
    assert.match(await otto.refusal('deployment_apply', { plan: id, confirm: digest }), new RegExp(`the page /plans/${id}`));

    const vera = new Browser(server.port);
    await vera.signIn(key.vera);
    const seen = await vera.get(`/plans/${id}`);
    for (const part of [/USD per hour|cost is not known/, /Cloud Scheduler/, /ID token/, /POST https:\/\/run\.googleapis\.com/, /otto/])
        assert.match(seen.body, part);
    assert.doesNotMatch(seen.body, /<button>Agree/);
    assert.equal((await vera.post(`/plans/${id}`, { token: await vera.token('/') })).status, 403);

    const ada = new Browser(server.port);
    await ada.signIn(key.ada);
    assert.match((await ada.get('/')).body, new RegExp(`Plans that have not begun.*href="/plans/${id}"`, 's'));
    assert.equal((await ada.post(`/plans/${id}`, {})).status, 403, "without the form's token");
    assert.equal((await ada.post(`/plans/${id}`, { token: await ada.token(`/plans/${id}`) })).status, 303);
    assert.match((await ada.get(`/plans/${id}`)).body, /You agreed/);

    const begun = await Promise.all([otto, client].map((each) => each.call('deployment_apply', { plan: id })));
    assert.equal(begun[0].job, begun[1].job);
    assert.deepEqual(begun.map(({ started }) => started).sort(), [false, true]);
    await done(client, begun[0].job);
    assert.equal(google.changes.filter((change) => /^POST .*\/services\/gemma$/.test(change)).length, 1);
    const late = await ada.post(`/plans/${id}`, { token: await ada.token('/register') });
    assert.equal(late.status, 409);
    const { rows } = await client.call('audit_list', { tool: 'plan_approve' });
    assert.deepEqual(rows.map(({ outcome, principal }) => [outcome, principal]), [['conflict', 'ada'], ['ok', 'ada']]);
    await otto.close();
    await client.close();
});

test('a plan cannot be applied after its target has changed, and the message says what changed', async (t) => {
    const { google, client } = await start(t);
    const { plan: id, digest } = await planService(client, 'gemma');
    await client.call('target_register', { ...TARGET, bucket: 'others', options: [...TARGET.options, ...FOR_AGENTS] });
    assert.match(
        await client.refusal('deployment_apply', { plan: id, confirm: digest }),
        /the target has changed since the plan was made: revision 1 -> 2/,
    );
    assert.deepEqual(google.changes, []);
    await client.close();
});

// Stops the server, and asserts that no token is in its log or in a file of the data folder.
async function assertNoneStored(server, tokens) {
    await server.stop();
    const files = [server.output()];
    for (const file of await readdir(server.data, { recursive: true, withFileTypes: true }))
        if (file.isFile()) files.push(await readFile(path.join(file.parentPath, file.name), 'latin1'));
    for (const token of tokens)
        for (const file of files) assert.ok(!file.includes(token.split('.')[1]), 'a token is stored or logged');
}
