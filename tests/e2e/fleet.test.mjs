// SPDX-License-Identifier: Apache-2.0
// A database that was copied or restored only reads its clouds; a person's word at the command line.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './clients.mjs';
import { run, startServer, temporaryFolder } from './harness.mjs';

const ONLY_READS = /only reads the clouds until `opsbrain fleet resume`/;

test('a copy of the data folder only reads the clouds until an administrator resumes it', async (t) => {
    const folder = await temporaryFolder(t);
    const data = path.join(folder, 'data');
    for (let start = 0; start < 2; start++) {
        const server = await startServer(t, { data });
        assert.doesNotMatch(server.output(), ONLY_READS, 'a restart in its place');
        await server.stop();
    }
    const copy = path.join(folder, 'copy');
    await cp(data, copy, { recursive: true });
    const moved = await startServer(t, { data: copy });
    assert.match(moved.output(), ONLY_READS);
    await moved.stop();
    assert.match((await run(['fleet', 'resume', '--data', copy])).output, /changes what runs in its clouds again/);
    const resumed = await startServer(t, { data: copy });
    assert.doesNotMatch(resumed.output(), ONLY_READS);
    const client = await connect('2x-2026', resumed.url);
    const { rows } = await client.call('audit_list', { tool: 'fleet resume' });
    assert.equal(rows.length, 1);
    await client.close();
});

test('a plan is shown and approved at the command line, and only one that exists', async (t) => {
    const server = await startServer(t, { data: path.join(await temporaryFolder(t), 'data') });
    for (const word of ['show', 'approve']) {
        const { code, output } = await run(['plan', word, 'pln_none', '--data', server.data]);
        assert.equal(code, 1);
        assert.match(output, /no plan has the id "pln_none": deployment_plan makes one/);
    }
});
