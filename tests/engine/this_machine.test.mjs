// SPDX-License-Identifier: Apache-2.0
// A real engine is deployed on this machine from a recipe: it is planned, approved, started and benchmarked, and ends on time
// while opsbrain is not running. `./run engine` runs this test with the engine that it has installed below build/engine. If
// Podman and runc are installed, a container that runs simserve is deployed too.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from '../e2e/support/clients.mjs';
import { atEnd, freePort, SIMSERVE, startServer, temporaryFolder, until } from '../e2e/support/harness.mjs';
import { startSweep, waitForJob } from '../e2e/support/sweep_by_client.mjs';
import { apply, endNow, HERE, plan } from '../e2e/support/this_machine.mjs';
import { has } from './engines.mjs';

const HOME = path.resolve('build/engine');
const CELLS = { concurrency: [1, 2], input_tokens: [32, 128], output_tokens: [24], repetitions: 1 };

// Returns a recipe that runs llama-server in Python, with the packages of the virtual environment. If /usr/bin has the same
// Python, the recipe uses that one, because the virtual environment's might be in a home folder that the engine's account cannot
// enter.
async function engineRecipe(port) {
    const [version] = await readdir(path.join(HOME, 'llama/lib'));
    const installed = path.join('/usr/bin', version);
    return {
        name: 'local-engine', revision: 1, title: 'llama-server with a tiny model', provider: 'local', engine: 'xllamacpp',
        model: 'tiny', program: await realpath(existsSync(installed) ? installed : path.join(HOME, 'llama/bin/python')), port,
        command: [path.resolve('tests/engine/llama_server.py'), path.join(HOME, 'tiny.gguf'), String(port)],
        environment: { PYTHONPATH: path.join(HOME, 'llama/lib', version, 'site-packages') },
        probes: { startup: { path: '/health', period_s: 1, failures: 300 } },
        weights: { from: 'mounted', folder: HOME }, licence: { name: 'none' }, cost: [],
        status: 'reported', source: 'tests/engine', as_of: '2026-11-23',
    };
}

test('a real engine is started from a recipe, benchmarked, and ends on time while opsbrain is down', { skip: !has('llama') }, async (t) => {
    const folder = await temporaryFolder(t);
    const port = await freePort();
    const recipe = await engineRecipe(port);
    await chmod(folder, 0o755);
    for (const each of ['recipes', 'work']) await mkdir(path.join(folder, each), { mode: 0o755 });
    await writeFile(path.join(folder, 'recipes/local-engine.json'), JSON.stringify(recipe));
    const args = ['--this-machine=true', `--this-machine-programs=${recipe.program}`, `--this-machine-models=${HOME}`];
    args.push(`--this-machine-work=${folder}/work`, `--recipes=${folder}/recipes`);
    const server = await startServer(t, { data: path.join(folder, 'data'), args });
    const client = await connect('2x-2026', server.url);
    await client.call('target_register', HERE);
    atEnd(t, () => endNow(server.data, 'engine'));
    await apply(client, server.data, await plan(client, { deployment: 'engine', recipe: 'local-engine' }));

    const { sweep, job } = await startSweep(client, { deployment: 'engine', window_s: 2, warmup_limit_s: 2, ...CELLS });
    assert.equal((await waitForJob(client, job)).state, 'completed');
    const { cells } = await client.call('sweep_show', { sweep: sweep.id });
    assert.deepEqual(cells.map((cell) => cell.state), Array(4).fill('measured'));
    await client.close();

    await server.program.kill();
    const answers = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok, () => false);
    assert.ok(await answers(), 'the engine keeps running when opsbrain is killed');
    await endNow(server.data, 'engine');
    await until('the end of the engine', async () => !(await answers()));
    await server.start();
});

// Starts a Podman service for this test alone, with an image of simserve that is in no registry; returns the service's socket.
async function startPodman(t, folder) {
    const root = path.join(folder, 'root');
    const podman = ['--root', `${folder}/store`, '--runroot', `${folder}/run`, '--storage-driver', 'vfs'];
    podman.push('--cgroup-manager', 'cgroupfs', '--runtime', 'runc');
    const libraries = command('ldd', [SIMSERVE]).match(/\/\S+/g) ?? [];
    for (const file of libraries) {
        await mkdir(path.join(root, path.dirname(file)), { recursive: true });
        await copyFile(file, path.join(root, file));
    }
    await copyFile(SIMSERVE, path.join(root, 'simserve'));
    command('tar', ['-C', root, '-cf', `${folder}/root.tar`, '.']);
    command('podman', [...podman, 'import', '--change', 'ENTRYPOINT ["/simserve"]', `${folder}/root.tar`, IMAGE]);
    const socket = path.join(folder, 'podman.sock');
    const limits = path.join(folder, 'containers.conf'); // an account without privileges cannot raise its limits
    await writeFile(limits, '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n');
    const service = spawn('podman', [...podman, 'system', 'service', '--time=0', `unix://${socket}`], {
        env: { ...process.env, CONTAINERS_CONF: limits },
        stdio: 'ignore',
    });
    atEnd(t, () => service.kill());
    await until("Podman's socket", () => existsSync(socket));
    return socket;
}

const IMAGE = 'localhost/simserve:latest';

function command(file, args) {
    const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
    assert.equal(status, 0, `${file}: ${stderr}`);
    return stdout;
}

const hasPodman = ['podman', 'runc'].every((file) => spawnSync(file, ['--version']).status === 0);

test("a real Podman container is started by its image's digest, and ends on time while opsbrain is down", { skip: !hasPodman }, async (t) => {
    const folder = await temporaryFolder(t);
    const port = await freePort();
    const recipe = {
        name: 'local-container', revision: 1, title: 'simserve in a container', provider: 'local', engine: 'simserve',
        model: 'simulated', image: IMAGE, arguments: { '--listen': '0.0.0.0:8000' }, port: 8000, local: { port },
        weights: { from: 'hub', repository: 'none/none' }, licence: { name: 'none' }, cost: [],
        status: 'reported', source: 'tests/engine', as_of: '2026-11-23',
    };
    await mkdir(path.join(folder, 'recipes'));
    await writeFile(path.join(folder, 'recipes/local-container.json'), JSON.stringify(recipe));
    const args = ['--this-machine=true', `--this-machine-containers=${await startPodman(t, folder)}`];
    const server = await startServer(t, { data: path.join(folder, 'data'), args: [...args, `--recipes=${folder}/recipes`] });
    const client = await connect('2x-2026', server.url);
    await client.call('target_register', HERE);
    atEnd(t, () => endNow(server.data, 'boxed'));
    const made = await plan(client, { deployment: 'boxed', recipe: 'local-container' });
    assert.match(made.requests[0].body.image, /^sha256:[0-9a-f]{64}$/);
    await apply(client, server.data, made);
    await client.close();
    const answers = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok, () => false);
    await server.program.kill();
    assert.ok(await answers(), 'the container keeps running when opsbrain is killed');
    await endNow(server.data, 'boxed');
    await until('the end of the container', () => !existsSync(path.join(server.data, 'this_machine/boxed')));
    assert.ok(!(await answers()));
    await server.start();
});
