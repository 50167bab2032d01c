// SPDX-License-Identifier: Apache-2.0
// A server that was put up by a plan can be asked, watched and measured with no further step: the key to its door is bound
// to its address, renewed while a sweep runs, and sent nowhere else.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect, text } from './clients.mjs';
import { startGoogle, startThief } from './fake_google.mjs';
import { startServer, startSimserve, temporaryFolder, until } from './harness.mjs';
import { startSweep, waitForJob } from './sweep_by_client.mjs';

const TARGET = {
    name: 'run',
    provider: 'cloud_run',
    credential: 'workload_identity',
    project: 'p',
    regions: ['us-east4'],
    bucket: 'models',
    usd_per_hour: 100,
    total_usd_per_hour: 100,
    options: { allows_no_price: true, agent_usd_per_hour: 100, agent_usd_per_life: 100 },
};

async function deploy(client, name) {
    const plan = await client.call('deployment_plan', {
        deployment: name,
        target: 'run',
        recipe: 'run-gemma-4-12b-fp8-l4',
        life_s: 3600,
    });
    const { job } = await client.call('deployment_apply', { plan: plan.plan, confirm: plan.digest });
    const ended = await waitForJob(client, job);
    assert.equal(ended.state, 'completed', JSON.stringify(ended));
}

async function start(t, tokenMs) {
    const model = await startSimserve(t, ['--ttft-ms', '20', '--step-ms', '5']);
    const google = await startGoogle(t, { model, tokenMs });
    const data = path.join(await temporaryFolder(t), 'data');
    const server = await startServer(t, { data, args: ['--cloud-endpoints', google.endpoints] });
    const client = await connect('2x-2026', `${server.url}?tools=all`);
    await client.call('target_register', TARGET);
    return { google, server, client };
}

// The tokens last 2 s: none that a cell begins with lasts until its end.
test('a service that was deployed is asked, watched and swept, by tokens that end within a cell', async (t) => {
    const { google, server, client } = await start(t, 2000);
    await deploy(client, 'gemma');
    assert.match(text(await client.callTool('model_query', { deployment: 'gemma', prompt: 'Hello' })), /./);
    await until('it is watched', async () => {
        const { deployment } = await client.call('deployment_show', { deployment: 'gemma' });
        return deployment.metrics?.last_at !== undefined || google.door.used.size > 0;
    });
    const before = google.door.used.size;
    const { job } = await startSweep(client, {
        deployment: 'gemma',
        concurrency: [1, 2],
        input_tokens: [16, 64],
        output_tokens: [16],
        window_s: 1,
        warmup_limit_s: 1,
    });
    const ended = await waitForJob(client, job);
    assert.deepEqual([ended.state, ended.progress, ended.progress_total], ['completed', 4, 4]);
    const [run] = (await client.call('run_list', { deployment: 'gemma' })).runs;
    const shown = await client.call('run_show', { run: run.id });
    for (const cell of shown.cells) assert.deepEqual([cell.state, cell.success_rate], ['measured', 1]);
    assert.ok(google.door.used.size - before >= 4, `${google.door.used.size - before} tokens in a sweep`);
    assert.equal(google.door.refused, 0);
    await client.close();
    await nothingHas(server, google.tokens);
});

test('the key goes to the bound address alone: not after a redirect, and not once the deployment points elsewhere', async (t) => {
    const { google, server, client } = await start(t, 3_600_000);
    const thief = await startThief(t);
    await deploy(client, 'gemma');
    google.door.redirectsTo = thief.url;
    assert.match(await client.refusal('model_query', { deployment: 'gemma', prompt: 'Hello' }), /307|redirect/);
    assert.deepEqual(thief.stolen, []);
    await client.call('deployment_register', { name: 'twin', url: google.door.url });
    await client.refusal('model_query', { deployment: 'twin', prompt: 'Hello' });
    assert.equal(google.door.refused > 0, true, 'another deployment of the same address has no key');
    await client.call('deployment_update', { name: 'gemma', url: thief.url }).catch(() => {});
    await client.callTool('model_query', { deployment: 'gemma', prompt: 'Hello' }).catch(() => {});
    assert.deepEqual(thief.stolen.filter(Boolean), []);
    await client.close();
    await nothingHas(server, google.tokens);
});

// Not in the log, and in no file of the data folder.
async function nothingHas(server, tokens) {
    await server.stop();
    const files = [server.output()];
    for (const file of await readdir(server.data, { recursive: true, withFileTypes: true }))
        if (file.isFile()) files.push(await readFile(path.join(file.parentPath, file.name), 'latin1'));
    for (const token of tokens)
        for (const file of files) assert.ok(!file.includes(token.split('.')[1]), 'a token is stored or logged');
}
