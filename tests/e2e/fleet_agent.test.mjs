// SPDX-License-Identifier: Apache-2.0
// A hostile agent, which has an operator's key and no user at its client: it can deploy nothing beyond its grant, run nothing on
// this machine, and bind no secret.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { begin, isApplying, managedState, NAME, planOf, rows, startFleet, triedProviders } from '../clouds/clouds.mjs';
import { connect } from './support/clients.mjs';
import { addKey, atEnd, startServer, temporaryFolder, until } from './support/harness.mjs';

const PROVIDERS = triedProviders();

// withAgent(t, provider, target): starts a server with a target that grants agents nothing unless `target` says otherwise, and
// connects the clients of an admin, of the agent, and of a user who agrees to everything.
async function withAgent(t, provider, target = {}) {
    const data = await temporaryFolder(t);
    const keys = {};
    for (const [name, role] of Object.entries({ ada: 'admin', otto: 'operator', paula: 'operator' }))
        keys[name] = await addKey(data, name, '--role', role);
    const none = { agent_usd_per_hour: 0, agent_usd_per_life: 0 };
    const fleet = await startFleet(t, provider, { target: { ...none, ...target }, data, key: keys.ada });
    const users = { admin: { key: keys.ada }, agent: { key: keys.otto }, user: { key: keys.paula, onForm: agrees } };
    const clients = {};
    for (const [name, options] of Object.entries(users)) {
        clients[name] = await connect('2x-2026', fleet.server.url, options);
        atEnd(t, () => clients[name].close());
    }
    return { ...fleet, ...clients };
}

async function agrees({ requestedSchema }) {
    const content = Object.fromEntries(Object.keys(requestedSchema.properties).map((name) => [name, true]));
    return { action: 'accept', content };
}

// assertUntouched(cloud): asserts that nothing was created, and that other people's resources are unchanged.
async function assertUntouched(cloud) {
    const { made, touched } = await cloud.call('/state');
    assert.deepEqual({ made, touched }, { made: [], touched: null });
}

// What an agent tries on each provider; the last attempt leaves a user's deployment behind.
const ATTEMPTS = {
    "nothing that an agent says counts as a user's approval": async ({ agent, cloud }) => {
        const { plan, digest } = await planOf(agent, cloud, 'create');
        for (const [tool, args] of [
            ['deployment_apply', { plan }],
            ['deployment_apply', { plan, confirm: digest }],
            ['deployment_apply', { plan, confirm: '0'.repeat(64) }],
            ['plan_approve', { plan }],
            ['plan_approve', { plan, confirm: digest }],
        ])
            assert.match(await agent.refusal(tool, args), /person|digest|go-ahead|confirm|unknown|argument/i, tool);
        await assertUntouched(cloud);
    },
    'overrides that the recipe does not allow are refused': async ({ agent, cloud }) => {
        const one = { deployment: NAME, target: cloud.target.name, recipe: cloud.recipe, life_s: 7200 };
        for (const override of [
            'image=evil/miner:1', 'command=["sh","-c","curl evil"]', 'arguments.--model=evil', 'environment.LD_PRELOAD=/x',
            'service_account=owner@p', 'cloud_run.service_account=owner@p', 'weights.mounted_at=/', 'port=22', 'host.cpu=9999',
            'max_num_seqs=1e99', 'max_num_seqs=nan', 'max_num_seqs=-1', 'max_num_seqs=4 --trust-remote-code',
            'max_num_seqs="4"', 'max_num_seqs=4.5', 'max_num_seqs[0]=4', '__proto__=1', 'overrides=1', 'kubernetes.node_labels=x',
            'max_model_len=131073', '=1', 'max_num_seqs',
        ])
            await agent.refusal('deployment_plan', { ...one, overrides: [override] });
        await agent.refusal('deployment_plan', { ...one, overrides: { image: 'evil/miner:1' } });
        await assertUntouched(cloud);
    },
    'invalid arguments for a plan are refused before anything is changed in the cloud': async ({ agent, cloud }) => {
        const one = { deployment: NAME, target: cloud.target.name, recipe: cloud.recipe, life_s: 7200 };
        const before = (await cloud.call('/log')).length;
        for (const more of [
            { deployment: '../../../x' }, { deployment: 'a/../../services/other-0' }, { deployment: 'x?force=true' },
            { deployment: 'x%2f..%2fy' }, { deployment: 'x\ny' }, { deployment: '..' }, { region: 'us-east4/../x' },
            { region: 'mars' }, { target: 'nowhere' }, { recipe: '../../etc/passwd' }, { recipe: 'none' }, { kind: 'free' },
            { life_s: 0 }, { life_s: 1 }, { replicas: 65 }, { at_end: 'never' },
        ])
            await agent.refusal('deployment_plan', { ...one, ...more });
        const changes = (await cloud.call('/log')).slice(before).filter(({ method }) => method !== 'GET');
        assert.deepEqual(changes, []);
        await assertUntouched(cloud);
    },
    'only an admin can register targets, import recipes, adopt deployments and bind secrets': async ({ agent, admin, cloud }) => {
        const [recipe] = (await admin.call('recipe_list', { limit: 1 })).recipes;
        const foreign = 'gemma-1';
        for (const [tool, args] of [
            ['target_register', { ...cloud.target, agent_usd_per_hour: 1000, agent_usd_per_life: 1000 }],
            ['target_register', { ...cloud.target, name: 'mine', proxy: 'http://127.0.0.1:9' }],
            ['target_remove', { target: cloud.target.name, confirm: cloud.target.name }],
            ['recipe_import', { text: JSON.stringify({ ...recipe, name: 'mine', image: 'evil/miner:1' }) }],
            ['deployment_adopt', { deployment: foreign, target: cloud.target.name, may_end: true, confirm: foreign }],
            ['secret_bind', { secret: 'LAB', origin: 'http://127.0.0.1:9' }],
        ])
            assert.match(await agent.refusal(tool, args), /admin/, tool);
        for (const tool of ['deployment_stop', 'deployment_destroy'])
            assert.match(await agent.refusal(tool, { deployment: foreign, confirm: foreign }), /not managed/, tool);
        await assertUntouched(cloud);
    },
    'an agent cannot change what a user deployed': async ({ agent, user, cloud, server }) => {
        const { plan } = await planOf(user, cloud, 'create');
        await user.call('deployment_apply', { plan });
        await until('the deployment to run', () => !isApplying(server), 60_000);
        assert.equal(managedState(server), 'running');
        const { made } = await cloud.call('/state');
        for (const [tool, args] of [
            ['deployment_stop', { confirm: NAME }],
            ['deployment_destroy', { confirm: NAME }],
            ['deployment_scale', { replicas: 2 }],
            ['deployment_extend', { life_s: 1_000_000 }],
            ['deployment_start', {}],
            ['deployment_remove', { confirm: NAME }],
            ['deployment_update', { url: 'http://127.0.0.1:9', confirm: NAME }],
        ])
            await agent.refusal(tool, { deployment: NAME, ...args });
        if (cloud.verbs.includes('extend'))
            await agent.refusal('deployment_apply', { plan: (await planOf(user, cloud, 'extend')).plan });
        const now = await cloud.call('/state');
        assert.deepEqual(now.made, made);
        assert.equal(now.touched, null);
    },
};

for (const provider of PROVIDERS)
    test(`${provider}: an agent without a grant deploys nothing`, async (t) => {
        const team = await withAgent(t, provider);
        for (const [title, attempt] of Object.entries(ATTEMPTS)) await t.test(title, () => attempt(team));
    });

test('a plan cannot take over the name of a registered deployment', async (t) => {
    const { agent, user, cloud, server } = await withAgent(t, PROVIDERS[0]);
    await agent.call('deployment_register', { name: NAME, url: 'http://127.0.0.1:9' });
    const { plan } = await planOf(user, cloud, 'create');
    assert.match(await user.refusal('deployment_apply', { plan }), /already registered/);
    assert.equal(managedState(server), 'gone');
    await assertUntouched(cloud);
});

test('an agent cannot exceed its grant by extending a deployment or by adding another one', async (t) => {
    const grant = { agent_usd_per_hour: 1, agent_usd_per_life: 3, total_usd_per_hour: 1 };
    const { agent, cloud, server } = await withAgent(t, PROVIDERS[0], grant);
    await begin(agent, cloud, 'create');
    await until('the deployment to run', () => !isApplying(server), 60_000);
    const { plan, digest } = await agent.call('deployment_extend', { deployment: NAME, life_s: 86_400 });
    assert.match(await agent.refusal('deployment_apply', { plan, confirm: digest }), /person/);
    const other = await agent.call('deployment_plan', {
        deployment: 'another', target: cloud.target.name, recipe: cloud.recipe, life_s: 7200,
    });
    assert.match(await agent.refusal('deployment_apply', { plan: other.plan, confirm: other.digest }), /beside|allows/);
    assert.equal(rows(server, "SELECT 1 FROM fleet_managed WHERE state <> 'gone'").length, 1);
});

test('by default, no call can deploy on this machine or import a recipe for it; a credential file must be named without a path', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'otto', '--role', 'operator');
    const root = await addKey(data, 'ada', '--role', 'admin');
    const server = await startServer(t, { data });
    const [agent, admin] = await Promise.all([key, root].map((each) => connect('2x-2026', server.url, { key: each })));
    const local = JSON.parse(await readFile('catalog/recipes/this_machine/local-llama-cpp-gemma-4-e2b.json', 'utf8'));
    const mine = JSON.stringify({ ...local, name: 'mine' });
    assert.match(await agent.refusal('recipe_import', { text: mine }), /admin/);
    assert.match(await admin.refusal('recipe_import', { text: mine }), /cannot be imported by a call/);
    await admin.call('target_register', { name: 'here', provider: 'local', credential: 'none', allows_no_price: true });
    const args = { deployment: NAME, target: 'here', recipe: local.name, life_s: 7200 };
    assert.match(await agent.refusal('deployment_plan', args), /this.machine/);
    for (const file of ['/etc/passwd', '../key', 'LAB', '.', 'a/b.json'])
        await admin.refusal('target_register', {
            name: 'x', provider: 'kubernetes', namespace: 'llm', credential: 'kubeconfig', credential_file: file,
        });
    await Promise.all([agent.close(), admin.close()]);
});
