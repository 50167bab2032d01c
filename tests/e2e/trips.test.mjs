// SPDX-License-Identifier: Apache-2.0
// Every result file of the fixtures and of published results is imported, audited, exported and imported again.
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
    if (files.length === 0) return t.skip(`there is no ${folder}`);
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
    test(`figures of ${folder} survive export and import, unless the export names them as lost`, (t) => tripsOf(t, folder));
