// SPDX-License-Identifier: Apache-2.0
// A data folder from an old version (tests/data/upgrade), whose audit log had no chain of digests and whose secrets were not
// bound to an origin, can still be served. Nothing in it is lost, and its keys work. If an admin last set a deployment's secret
// and address, the secret is bound to that address. `secret list` names a deployment whose secret is bound nowhere.
import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { connect, text } from './support/clients.mjs';
import { run, startServer, temporaryFolder } from './support/harness.mjs';

const KEYS = {
    ada: 'obk_98454906ee493c49e453b2a711ef5cb52dd6cfeb8f1862f418f9d44cccaa2316', // admin
    gone: 'obk_de159028e67c3eba57c74a4190f01b0001a4001de076fa9bf3e04881c3ccb6c3', // revoked
    otto: 'obk_a280799bde56cde8f341c1374102c1b39535eba6987cb155f2a79c8963c6449e', // operator
    vera: 'obk_d5bb74acf74c6341bd6b6d4003f363d7ee9301a947f231db719c344319098e4c', // viewer
};
const SECRETS = { OPSBRAIN_SECRET_ALPHA: 'alpha-secret-value-1', OPSBRAIN_SECRET_BETA: 'beta-secret-value-22', OPSBRAIN_SECRET_GAMMA: 'gamma-secret-value-3' };
const RUN = 'run_4w5ae1pyffgavs8zr1041q8vc4';
const VOLATILE_TABLES = new Set(['sessions']); // tables whose rows are added and removed all the time
const VOLATILE_COLUMNS = new Set(['last_used_ms']); // columns that each use of a key changes

async function oldFolder(t) {
    const data = path.join(await temporaryFolder(t), 'data');
    await mkdir(data, { mode: 0o700 });
    for (const name of ['opsbrain', 'scrapes']) {
        const database = new DatabaseSync(path.join(data, `${name}.db`));
        database.exec(await readFile(new URL(`../data/upgrade/${name}.sql`, import.meta.url), 'utf8'));
        database.close();
    }
    return data;
}

// rowsOf(file): {table: rows}, with every table of the database.
function rowsOf(file) {
    const database = new DatabaseSync(file, { readOnly: true });
    const tables = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).all();
    const found = Object.fromEntries(tables.map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all()]));
    database.close();
    return found;
}

// checkKept(table, after, before): checks that every old row is still there, unchanged in all old columns that are not volatile.
function checkKept(table, after, before) {
    const columns = Object.keys(before[0] ?? {}).filter((name) => !VOLATILE_COLUMNS.has(name));
    const written = (row) => JSON.stringify(columns.map((name) => String(row[name])));
    const rows = new Set(after.map(written));
    for (const row of before) assert.ok(rows.has(written(row)), `${table} lost or changed ${written(row)}`);
}

test('a data folder from an older version can still be served, and nothing in it is lost', async (t) => {
    const data = await oldFolder(t);
    const before = rowsOf(path.join(data, 'opsbrain.db'));
    const server = await startServer(t, { data, env: SECRETS });

    const as = (who) => connect('2x-2026', server.url, { key: KEYS[who] });
    const [ada, otto, vera] = await Promise.all(['ada', 'otto', 'vera'].map(as));
    await assert.rejects(as('gone'), /401/);
    assert.deepEqual(
        (await vera.call('deployment_list')).deployments.map(({ name }) => name).toSorted(),
        ['admin-kept', 'by-admin', 'by-operator', 'operator-secret', 'removed'],
    );
    assert.match(await vera.refusal('deployment_register', { name: 'no', url: 'http://127.0.0.1:1' }), /operator/);
    assert.equal((await otto.call('run_list')).runs.length, 2);
    assert.match(text(await vera.callTool('run_report', { run: RUN })), /TTFT/);

    // An admin last chose where ALPHA and GAMMA are sent, but an operator chose where BETA is sent.
    const { code, output } = await run(['secret', 'list', '--data', data]);
    assert.equal(code, 0, output);
    for (const name of ['ALPHA', 'GAMMA']) assert.match(output, new RegExp(`${name} .*http://127\\.0\\.0\\.1:21801`));
    assert.match(output, /BETA .*nowhere/);
    assert.match(output, /opsbrain does not call operator-secret,/);
    assert.match(text(await otto.callTool('model_health', { deployment: 'operator-secret' })), /BETA.*(bound|bind)/);

    for (const client of [ada, otto, vera]) await client.close();
    await server.stop();
    const verified = await run(['audit-log', 'verify', '--data', data]);
    assert.equal(verified.code, 0, verified.output);
    const after = rowsOf(path.join(data, 'opsbrain.db'));
    for (const [table, rows] of Object.entries(before)) if (!VOLATILE_TABLES.has(table)) checkKept(table, after[table] ?? [], rows);
});
