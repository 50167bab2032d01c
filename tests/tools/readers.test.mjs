// SPDX-License-Identifier: Apache-2.0
// Reads opsbrain's exports with the tools that define the formats: aiperf's data model and plots, and vLLM's sweep plot.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve, temporaryFolder } from '../e2e/support/harness.mjs';
import { startSweep, waitForJob } from '../e2e/support/sweep_by_client.mjs';
import { importFile } from '../e2e/support/trips.mjs';

const AIPERF = path.resolve(process.env.TOOLS_FOLDER ?? 'build/tools', 'aiperf');
const VLLM = path.resolve('build/engine/vllm'); // ./run engine installs it
const IMPORTS = 'tests/data/imports';
const USERS = [1, 2, 4];

const isThere = (file) => access(file).then(() => true, () => false);
const run = promisify(execFile);

async function packagesOf(environment) {
    const [python] = (await readdir(path.join(environment, 'lib'))).filter((name) => name.startsWith('python3'));
    return path.join(environment, 'lib', python, 'site-packages');
}

async function measureRun(t, client) {
    const model = await startSimserve(t, ['--ttft-ms', '20', '--step-ms', '5']);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const plan = { deployment: 'sim', concurrency: USERS, input_tokens: [16], output_tokens: [16], window_s: 1, warmup_limit_s: 1 };
    const { job } = await startSweep(client, plan);
    assert.equal((await waitForJob(client, job)).state, 'completed');
    return (await client.call('run_list', { deployment: 'sim' })).runs[0].id;
}

// exportAll(t, format) returns {own, imports}: `own` is the export of a run that opsbrain measured, and `imports` are the exports
// of the files in IMPORTS, each with the file's `name`.
async function exportAll(t, format) {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const exportRun = async (id) => client.call('run_export', { run: id, format, limit: 500 });
    const own = await exportRun(await measureRun(t, client));
    const imports = [];
    for (const name of (await readdir(IMPORTS)).filter((each) => each !== 'README.md')) {
        const { run: id } = await importFile(server, name, await readFile(path.join(IMPORTS, name)));
        imports.push({ name, ...(await exportRun(id)) });
    }
    await client.close();
    return { own, imports };
}

test("aiperf's data model accepts our exports, and its plots find a run for each exported cell", async (t) => {
    const python = path.join(AIPERF, 'bin/python');
    if (!(await isThere(python))) return t.skip('aiperf is not installed');
    const { own, imports } = await exportAll(t, 'aiperf');
    const folder = await temporaryFolder(t);
    const exports = [{ name: 'own', ...own }, ...imports];
    await mkdir(path.join(folder, 'exports'));
    for (const { name, content } of exports) await writeFile(path.join(folder, 'exports', name), content);
    const { stdout } = await run(python, ['tests/tools/read_aiperf.py', path.join(folder, 'exports'), path.join(folder, 'runs')]);
    const runs = stdout.split('\n').filter((line) => line.startsWith('run\t')).map((line) => line.split('\t').slice(1));
    const runsOf = (wanted) => runs.filter(([name]) => name === wanted);
    for (const { name, cells, left_out } of exports) assert.equal(runsOf(name).length, cells - left_out.length, name);
    assert.deepEqual(runsOf('own').map(([, , users]) => Number(users)).sort(), USERS);
});

test("vLLM's sweep plot draws the exports of a run that we measured and of an imported run", async (t) => {
    const python = path.join(VLLM, 'bin/python');
    if (!(await isThere(python)) || !(await isThere(AIPERF))) return t.skip("vLLM ('./run engine' installs it) or aiperf is not installed");
    const { own, imports } = await exportAll(t, 'vllm');
    const folder = await temporaryFolder(t);
    const [imported] = imports.filter(({ name }) => name === 'vllm.json');
    for (const { file_name, content } of [own, imported]) {
        await mkdir(path.join(folder, path.dirname(file_name)));
        await writeFile(path.join(folder, file_name), content); // the plot looks for files named summary.json
    }
    const { stdout } = await run(python, ['tests/tools/plot_vllm.py', folder, await packagesOf(AIPERF)]);
    assert.match(stdout, /Output file: .*FIGURE\.png/);
    assert.ok(await isThere(path.join(folder, 'FIGURE.png')));
});
