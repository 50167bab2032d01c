// SPDX-License-Identifier: Apache-2.0
// Runs a provider's fake beside a real opsbrain server, for the tests that deploy to clouds.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from '../e2e/support/clients.mjs';
import { rowsOf } from '../e2e/support/database.mjs';
import { atEnd, OPSBRAIN, request, startServer, temporaryFolder } from '../e2e/support/harness.mjs';

const FAKE_CLOUDS = process.env.FAKE_CLOUDS_BIN ?? path.join(path.dirname(OPSBRAIN), 'fake_clouds');
export const NAME = 'gemma';

// providers(): the names of the cloud providers, each of which has a fake.
export function providers() {
    return spawnSync(FAKE_CLOUDS, { encoding: 'utf8' }).stdout.trim().split('\n');
}

// triedProviders(): the cloud providers that a test uses: all of them in `./run clouds`, otherwise one.
export function triedProviders() {
    return process.env.OPSBRAIN_ALL_CLOUDS ? providers() : providers().slice(0, 1);
}

// startCloud(t, provider): starts the provider's fake. Returns what fake_clouds.c prints ({port, endpoints, credential, recipe,
// target, verbs}), and also call(path, body), which sends the fake a command and returns the answer.
export async function startCloud(t, provider) {
    const child = spawn(FAKE_CLOUDS, [provider], { stdio: ['pipe', 'pipe', 'inherit'] });
    atEnd(t, async () => {
        child.stdin.end();
        await once(child, 'close');
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const cloud = JSON.parse(line);
    cloud.call = async (route, body = {}) => {
        const headers = { 'Content-Type': 'application/json' };
        const answer = await request(cloud.port, { method: 'POST', path: route, headers, body: JSON.stringify(body) });
        return JSON.parse(answer.body);
    };
    return cloud;
}

// cloudSettings(t, cloud): the settings with which `opsbrain serve` calls the fake instead of the cloud: {args, secrets}.
export async function cloudSettings(t, cloud) {
    const secrets = path.join(await temporaryFolder(t), 'secrets');
    await mkdir(secrets, { mode: 0o700 });
    if (cloud.credential)
        await writeFile(path.join(secrets, cloud.target.credential_file), cloud.credential, { mode: 0o600 });
    return { args: ['--secrets', secrets, '--cloud-endpoints', cloud.endpoints, '--cloud-pause-ms', '20'], secrets };
}

// startFleet(t, provider, {env, target, data, key, cloud, file}): a server whose target is the provider's fake:
// {server, cloud, secrets}. `target`: more arguments for target_register. `file`: the program to run instead of opsbrain.
export async function startFleet(t, provider, { env = {}, target = {}, data, key, cloud, file } = {}) {
    cloud ??= await startCloud(t, provider);
    const { args, secrets } = await cloudSettings(t, cloud);
    const server = await startServer(t, { args, env, data, file });
    await withClient(server, (client) => client.call('target_register', { ...cloud.target, ...target }), { key });
    return { server, cloud, secrets };
}

// withClient(server, work, options): connects a client, runs work(client), and closes the client.
export async function withClient(server, work, options = {}) {
    const client = await connect('2x-2026', server.url, options);
    try {
        return await work(client);
    } finally {
        await client.close();
    }
}

// planOf(client, cloud, verb): makes a plan for a verb that needs one.
export function planOf(client, cloud, verb) {
    const deployment = NAME;
    const calls = {
        create: ['deployment_plan', { deployment, target: cloud.target.name, recipe: cloud.recipe, life_s: 7200 }],
        scale: ['deployment_scale', { deployment, replicas: 2 }],
        start: ['deployment_start', { deployment }],
        extend: ['deployment_extend', { deployment, life_s: 14_400 }],
    };
    return client.call(...calls[verb]);
}

// begin(client, cloud, verb): makes a plan if the verb needs one, gives the go-ahead (as an agent or, if the cloud is machine.mjs's,
// on the command line with `approve`), and returns the plan's id.
export async function begin(client, cloud, verb) {
    if (verb === 'stop' || verb === 'destroy') {
        const { plan } = await client.call(`deployment_${verb}`, { deployment: NAME, confirm: NAME });
        return plan;
    }
    const { plan, digest } = await planOf(client, cloud, verb);
    if (cloud.approve) await cloud.approve(plan, digest);
    await client.call('deployment_apply', { plan, ...(!cloud.approve && { confirm: digest }) });
    return plan;
}

// rows(server, sql, ...values): the rows that a query finds in the running server's database.
export const rows = (server, sql, ...values) => rowsOf(server.data, sql, ...values);

// newest(server, verb): the newest plan for a verb; undefined if there is none.
export function newest(server, verb) {
    return rows(server, 'SELECT * FROM fleet_plans WHERE verb = ? ORDER BY created_ms DESC, id DESC LIMIT 1', verb)[0];
}

// journal(server, plan): the rows of a plan's journal, in order.
export function journal(server, plan) {
    return rows(server, 'SELECT step, action, outcome FROM fleet_journal WHERE plan_id = ? ORDER BY sequence', plan);
}

export function isApplying(server) {
    return rows(server, "SELECT id FROM fleet_plans WHERE state = 'applying'").length > 0;
}

// managedState(server): the state of the deployment; 'gone' if it is not managed.
export function managedState(server) {
    return rows(server, "SELECT state FROM fleet_managed WHERE deployment = ? AND state <> 'gone'", NAME)[0]?.state ?? 'gone';
}

// assertSameItems(made, reference, what): asserts that the two lists have the same items, in any order.
export function assertSameItems(made, reference, what) {
    assert.deepEqual([...made].sort(), [...reference].sort(), what);
}
