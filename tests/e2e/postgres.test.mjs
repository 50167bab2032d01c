// SPDX-License-Identifier: Apache-2.0
// Two processes that use one PostgreSQL database, a pooler in front of a database, and the key commands.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { onPostgres, prepareDatabase, query } from './support/database.mjs';
import { atEnd, request, run, startServer, temporaryFolder } from './support/harness.mjs';
import { POOLER, startPooler } from './support/postgres_server.mjs';

const HOLD_MS = 12_000; // how long a process keeps the database if it does not renew its hold
const skip = onPostgres ? false : 'OPSBRAIN_TEST_DATABASE is not set';

async function register(server, name) {
    const client = await connect('2x-2026', server.url);
    try {
        await client.call('deployment_register', { name, url: 'http://127.0.0.1:1' });
    } finally {
        await client.close();
    }
}

// startAt(t, data): starts a server with the PostgreSQL database of the folder `data`, but with a data folder of its own.
const startAt = (t, data) => startServer(t, { env: { OPSBRAIN_DATABASE: prepareDatabase(data) } });

// moveAway(data): pretends that the process that holds the database is on another machine, where it might still be running.
const moveAway = (data) => query(data, `UPDATE opsbrain_holder SET process = ''`);

async function timed(work) {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
}

test('after an orderly exit, and after a crash on the same machine, the next process opens the database at once', { skip }, async (t) => {
    const server = await startAt(t, await temporaryFolder(t));
    await server.stop();
    assert.ok((await timed(() => server.start())) < HOLD_MS / 2);
    await server.program.kill();
    assert.ok((await timed(() => server.start())) < HOLD_MS / 2);
});

test('after a crash on another machine, the next process opens the database within 15 s', { skip }, async (t) => {
    const data = await temporaryFolder(t);
    const server = await startAt(t, data);
    moveAway(data);
    await server.program.kill();
    const took = await timed(() => server.start());
    assert.ok(took < HOLD_MS + 3000, `${took} ms, including the start itself`);
    t.diagnostic(`${(took / 1000).toFixed(1)} s`);
});

test('a process that loses the database because it was paused for too long stores nothing more, and says so', { skip }, async (t) => {
    const data = await temporaryFolder(t);
    const first = await startAt(t, data);
    await register(first, 'before');
    moveAway(data);
    first.program.child.kill('SIGSTOP');
    atEnd(t, async () => first.program.child.kill('SIGCONT'));
    const second = await startAt(t, data);
    first.program.child.kill('SIGCONT');
    await assert.rejects(register(first, 'stale'), /was taken over by another opsbrain \(.* process \d+, since .*nothing can be stored here/);
    const { status, body } = await request(first.port, { path: '/ready' });
    assert.equal(status, 503);
    assert.match(body, /taken over by another opsbrain/);
    assert.match(first.output(), /nothing can be stored: .*taken over by another opsbrain/);
    await register(second, 'fresh');
    assert.equal(query(data, 'SELECT name FROM deployments ORDER BY name'), 'before\nfresh\n');
});

const noPooler = skip || (existsSync(POOLER) ? false : 'pgbouncer is not installed');

test('pgbouncer in transaction mode works in front of the database', { skip: noPooler }, async (t) => {
    const data = await temporaryFolder(t);
    prepareDatabase(data);
    const [schema, folder, port] = query(data, `SELECT current_schema(), split_part(current_setting('unix_socket_directories'), ',', 1),
                                                current_setting('port')`).trim().split('|');
    query(data, `CREATE ROLE p${schema} LOGIN; ALTER SCHEMA ${schema} OWNER TO p${schema}; ALTER ROLE p${schema} SET search_path = ${schema}`);
    atEnd(t, async () => query(data, `DROP OWNED BY p${schema}; DROP ROLE p${schema}`));
    const database = query(data, 'SELECT current_database()').trim();
    const pooler = await startPooler(t, `host=${folder} port=${port} dbname=${database} user=p${schema}`);
    const server = await startServer(t, { env: { OPSBRAIN_DATABASE: `postgresql://anybody@127.0.0.1:${pooler}/any` } });
    await register(server, 'pooled');
    await server.killAndRestart();
    assert.equal(query(data, 'SELECT name FROM deployments'), 'pooled\n');
    const { body } = await request(server.port, { path: '/ready' });
    assert.equal(body.trim(), 'ready');
    await server.stop();
});

test('the key commands use the database, not the data folder', { skip }, async (t) => {
    const data = path.join(await temporaryFolder(t), 'data');
    const added = await run(['key', 'add', 'alice', '--role', 'admin', '--data', data]);
    assert.equal(added.code, 0, added.output);
    assert.doesNotMatch(added.output, /new database/);
    await run(['key', 'revoke', 'alice', '--data', data]);
    const reset = await run(['key', 'reset', '--data', data]);
    assert.equal(reset.code, 1);
    assert.match(reset.output, /has keys.*nothing to reset/);
});
