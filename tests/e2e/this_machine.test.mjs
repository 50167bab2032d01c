// SPDX-License-Identifier: Apache-2.0
// Model servers on the machine where opsbrain runs. They need a setting that allows them, and keep running when opsbrain is killed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { atEnd, freePort, OPSBRAIN, request, SIMSERVE, startServer, temporaryFolder, until } from './support/harness.mjs';
import { apply, endNow, HERE, plan } from './support/this_machine.mjs';

// Makes a folder with a recipe that runs simserve on `port`. `args` are the flags that let opsbrain run this recipe.
async function simserveHere(t) {
    const folder = await temporaryFolder(t);
    const program = await realpath(SIMSERVE);
    const port = await freePort();
    const recipe = {
        name: 'local-simserve', revision: 1, title: 'A simulated server', provider: 'local', engine: 'simserve',
        model: 'simulated', program, arguments: { '--listen': `127.0.0.1:${port}` }, port,
        weights: { from: 'hub', repository: 'none/none' }, licence: { name: 'none' }, cost: [],
        status: 'reported', source: 'made for a test', as_of: '2026-01-01',
    };
    await chmod(folder, 0o755);
    await mkdir(path.join(folder, 'recipes'));
    await mkdir(path.join(folder, 'work'), { mode: 0o755 });
    await writeFile(path.join(folder, 'recipes', 'local-simserve.json'), JSON.stringify(recipe));
    const args = ['--this-machine=true', `--this-machine-programs=${program}`, `--recipes=${folder}/recipes`];
    args.push(`--this-machine-work=${folder}/work`);
    return { data: path.join(folder, 'data'), args, port };
}

async function answers(port) {
    return (await request(port, { path: '/health' }).catch(() => ({}))).status === 200;
}

test('nothing can be deployed on this machine until a setting allows it, and no listed tool has "setting" in its name', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const { tools } = await client.client.listTools();
    assert.ok(!tools.some(({ name }) => /setting/.test(name)));
    await client.call('target_register', HERE);
    for (const [tool, args] of [
        ['target_show', { target: 'here' }],
        ['deployment_discover', { target: 'here' }],
        ['deployment_plan', { deployment: 'gemma', target: 'here', recipe: 'local-llama-cpp-gemma-4-e2b', life_s: 1200 }],
    ])
        assert.match(await client.refusal(tool, args), /an admin can switch them on with the setting this_machine/);
    await client.close();
});

test('opsbrain does not start with the setting this_machine on Cloud Run or in a pod', async (t) => {
    const data = path.join(await temporaryFolder(t), 'data');
    for (const env of [{ K_SERVICE: 'opsbrain' }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }]) {
        const args = ['serve', '--listen', '127.0.0.1:0', '--data', data, '--this-machine=true'];
        const child = spawn(OPSBRAIN, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
        let output = '';
        child.stderr.on('data', (chunk) => (output += chunk));
        const [code] = await once(child, 'close');
        assert.equal(code, 1);
        assert.match(output, /the setting this_machine cannot be used (on Cloud Run|in a Kubernetes pod)/);
    }
});

test('a server keeps running when opsbrain is killed, is found after a restart, and ends on time while opsbrain is down', async (t) => {
    const { data, args, port } = await simserveHere(t);
    const server = await startServer(t, { data, args });
    let client = await connect('2x-2026', server.url);
    await client.call('target_register', HERE);
    const made = await plan(client, { deployment: 'gemma', recipe: 'local-simserve' });
    assert.match(made.ends_by, /a watchdog on this machine ends the server/);
    assert.equal(made.requests[0].method, 'PUT');
    atEnd(t, () => endNow(data, 'gemma'));
    await apply(client, data, made);
    assert.ok(await answers(port));
    const { deployment } = await client.call('deployment_show', { deployment: 'gemma' });
    assert.equal(deployment.hardware, undefined, 'the recipe names no hardware');
    await client.close();

    await server.killAndRestart();
    assert.ok(await answers(port), 'the server kept running');
    client = await connect('2x-2026', server.url);
    const { servers } = await client.call('deployment_discover', { target: 'here' });
    const [found] = servers.filter(({ name }) => name === 'gemma');
    assert.deepEqual([found.state, found.whose], ['ready', 'managed']);
    await client.close();

    await server.program.kill();
    await endNow(data, 'gemma');
    await until('the end of the server', async () => !(await answers(port)));
    await server.start();
});

test("an agent's approval, an imported recipe, an unlisted program or an override cannot run anything on this machine", async (t) => {
    const { data, args, port } = await simserveHere(t);
    const server = await startServer(t, { data, args });
    const client = await connect('2x-2026', server.url);
    await client.call('target_register', HERE);
    const made = await plan(client, { deployment: 'gemma', recipe: 'local-simserve' });
    const approval = { plan: made.plan, confirm: made.digest };
    assert.match(await client.refusal('deployment_apply', approval), /needs a person's go-ahead/);
    const shell = {
        name: 'mine', revision: 1, title: 'A shell', provider: 'local', engine: 'sh', model: 'm', program: '/bin/sh', port,
        weights: { from: 'hub', repository: 'a/b' }, licence: { name: 'none' }, cost: [],
        status: 'reported', source: 'a call', as_of: '2026-01-01',
    };
    assert.match(await client.refusal('recipe_import', { text: JSON.stringify(shell) }), /cannot be imported by a call/);
    assert.match(
        await client.refusal('deployment_plan', {
            deployment: 'gemma', target: 'here', recipe: 'local-llama-cpp-gemma-4-e2b', life_s: 1200,
        }),
        /this_machine/,
    );
    for (const overrides of [{ program: '/bin/sh' }, { arguments: '-c id' }, { environment: 'A=1' }])
        assert.match(
            await client.refusal('deployment_plan', {
                deployment: 'gemma', target: 'here', recipe: 'local-simserve', life_s: 1200, overrides,
            }),
            /opens/,
        );
    assert.ok(!(await answers(port)));
    await client.close();
});
