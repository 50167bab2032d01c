// SPDX-License-Identifier: Apache-2.0
// ./run tools measures a faultless model server with other load generators, and imports the files that they write. The audit
// must report only what is true. Each export, when it is imported again, must have the same figures as the original file, except
// for those that the export reports as missing. All files of one run must agree.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve, temporaryFolder } from '../e2e/support/harness.mjs';
import { takeTrip } from '../e2e/support/trips.mjs';
import { runTool, TOOLS } from './tools.mjs';

const FOLDER = path.resolve(process.env.TOOLS_FOLDER ?? 'build/tools');
const BINARIES = { vllm: path.resolve('build/engine/vllm/bin') }; // ./run engine installs it
const TOKENIZER = path.join(FOLDER, 'tokenizer');
const MODEL_SERVER = ['--ttft-ms', '40', '--step-ms', '5', '--max-running', '64'];
// A figure is allowed to differ between two files of one run by ROUNDING (some files have only two decimals) plus SHARE of its
// value. SHARE_OF_RECORDS applies instead if one file has aiperf's records of single requests: they do not say how long the run
// took, so opsbrain takes the time from the first request to the last response.
const ROUNDING = 0.01;
const SHARE = 0.001, SHARE_OF_RECORDS = 0.03;

const binaries = (tool) => BINARIES[tool] ?? path.join(FOLDER, tool, 'bin');
const isThere = (file) => access(file).then(() => true, () => false);

before(async () => {
    if (await isThere(TOKENIZER)) return;
    for (const tool of Object.keys(TOOLS)) {
        const python = path.join(binaries(tool), 'python');
        if (await isThere(python)) return promisify(execFile)(python, ['tests/tools/make_tokenizer.py', TOKENIZER, 'bench/workload/words.c']);
    }
});

// Whether a finding is true. The only finding that can be true is actual_load: on a busy machine, a client in Python can have
// fewer requests in flight than users, and its file shows that.
function isTrue({ rule }, cells) {
    return rule === 'actual_load' && cells.some(({ figures }) => figures.get('concurrency_actual') < 0.95 * figures.get('concurrency'));
}

function checkFindings(name, { findings, cells }) {
    const wrong = findings.filter((finding) => !isTrue(finding, cells));
    assert.deepEqual(wrong.map(({ rule, arithmetic }) => `${name}: ${rule}: ${arithmetic}`), []);
}

function checkAgreement([first, ...others]) {
    const { figures } = first.cells[0];
    for (const other of others)
        for (const [name, value] of other.cells[0].figures) {
            if (!figures.has(name)) continue;
            const off = Math.abs(value - figures.get(name));
            const share = [first, other].some(({ format }) => format === 'aiperf-records') ? SHARE_OF_RECORDS : SHARE;
            assert.ok(off <= ROUNDING + share * Math.abs(value), `${name}: ${figures.get(name)} in ${first.name}, ${value} in ${other.name}`);
        }
}

async function measure(t, tool, makePlan) {
    const model = await startSimserve(t, MODEL_SERVER);
    const folder = path.join(await temporaryFolder(t), 'result');
    const files = await runTool(binaries(tool), makePlan({ url: model.url, tokenizer: TOKENIZER, folder, bin: binaries(tool) }), folder);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const trips = [];
    assert.ok(files.length > 0, 'the tool wrote no result file');
    for (const { name: file, bytes } of files) {
        const trip = await takeTrip(server, client, file, bytes);
        assert.equal(trip.refused, undefined, file);
        checkFindings(file, trip);
        t.diagnostic(`${file}: ${trip.format}, ${trip.cells.length} cells, ${trip.cells[0].figures.size} figures`);
        trips.push({ ...trip, name: file });
    }
    await client.close();
    if (tool !== 'inference-perf') checkAgreement(trips); // each of its files is about a different stage
}

for (const [tool, runs] of Object.entries(TOOLS))
    describe(tool, () => {
        for (const [name, makePlan] of Object.entries(runs))
            test(`${tool}, ${name}`, async (t) => {
                if (!(await isThere(binaries(tool)))) return t.skip(`${tool} is not installed`);
                await measure(t, tool, makePlan);
            });
    });
