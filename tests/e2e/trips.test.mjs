// SPDX-License-Identifier: Apache-2.0
// Every result file, from the test data and from published results, is imported, audited, exported and imported again.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { startServer } from './support/harness.mjs';
import { takeTrip } from './support/trips.mjs';

const FOLDERS = ['tests/data/imports', '../shared/data/published-results'];

async function tripsOf(t, folder) {
    const files = (await readdir(folder).catch(() => [])).filter((name) => name !== 'README.md');
    if (files.length === 0) return t.skip(`there are no files in ${folder}`);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    for (const name of files)
        await t.test(name, async (step) => {
            const trip = await takeTrip(server, client, name, await readFile(path.join(folder, name)));
            assert.equal(trip.refused, undefined);
            step.diagnostic(`${trip.format}, ${trip.cells.length} cells: ${trip.findings.map(({ rule }) => rule).join(' ') || 'nothing found'}`);
        });
    await client.close();
}

for (const folder of FOLDERS)
    test(`figures from ${folder} survive export and import, unless the export says that they are lost`, (t) => tripsOf(t, folder));
