// SPDX-License-Identifier: Apache-2.0
// Backup, restore and move: the backup of a running server, a move that is killed, and a server that starts with a copy.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from './support/clients.mjs';
import { databaseSettings, onPostgres } from './support/database.mjs';
import { OPSBRAIN, addKey, run, startServer, temporaryFolder } from './support/harness.mjs';

const KEY = '0123456789abcdef0123456789abcdef';
const KILLS = 4;

// runOk(args, env): runs a command that must succeed; returns its output.
async function runOk(args, env) {
    const { code, output } = await run(args, env);
    assert.equal(code, 0, output);
    return output;
}

async function refusal(args, env) {
    const { code, output } = await run(args, env);
    assert.notEqual(code, 0, output);
    return output;
}

// runJson(args, env): the parsed JSON that a command prints with --json.
const runJson = async (args, env) => JSON.parse(await runOk([...args, '--json'], env));

// nameForMove(data): what `move` takes as the name of the folder's database.
const nameForMove = (data) => databaseSettings(['--data', data]).OPSBRAIN_DATABASE ?? data;

// dump(data, name): {table: rows} for each non-empty table in the database file `name` of the folder; each row is JSON, and the rows
// are sorted.
function dump(data, name) {
    const database = new DatabaseSync(path.join(data, name), { readOnly: true });
    const tables = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).all();
    const rowsOf = (table) => database.prepare(`SELECT * FROM ${table}`).all().map((row) => JSON.stringify(row)).toSorted();
    const rows = Object.fromEntries(tables.map(({ name: table }) => [table, rowsOf(table)]).filter(([, found]) => found.length > 0));
    database.close();
    return rows;
}

// fill(t, data): starts a server, stores something in its database, and returns the running server.
async function fill(t, data) {
    await addKey(data, 'ada', '--role', 'admin');
    const key = await addKey(data, 'otto', '--role', 'operator');
    const server = await startServer(t, { data });
    const client = await connect('2x-2026', server.url, { key });
    for (let i = 0; i < 20; i++) await client.call('deployment_register', { name: `d${i}`, url: `http://127.0.0.1:${20_000 + i}` });
    await client.close();
    return server;
}

test('a backup of a running server can be restored, with its keys and audit log', async (t) => {
    const folder = await temporaryFolder(t);
    const [data, copy, file, key] = ['data', 'copy', 'all.backup', 'key'].map((name) => path.join(folder, name));
    const server = await fill(t, data);
    await writeFile(key, `${KEY}\n`);
    assert.match(await runOk(['backup', file, '--data', data, '--backup-key', key]), /rows in \d+ tables, \d+ bytes, encrypted/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(await refusal(['backup', file, '--data', data]), /there is already a file/);
    assert.match(await refusal(['restore', file, '--data', copy]), /is encrypted.*--backup-key/);
    assert.match(await refusal(['restore', file, '--data', data, '--backup-key', key]), /in use by another opsbrain|belongs to another opsbrain/);
    assert.match(await refusal(['move', '--from', data, '--to', copy], { OPSBRAIN_FROM: nameForMove(data) }), /another opsbrain|not a data folder/);
    await server.stop();
    assert.match(await runOk(['restore', file, '--data', copy], { OPSBRAIN_BACKUP_KEY: key }), /restored and compared/);
    assert.match(await refusal(['restore', file, '--data', copy, '--backup-key', key]), /not empty/);
    assert.match(await runOk(['audit-log', 'verify', '--data', copy]), /the audit log is intact/);
    assert.match(await runOk(['key', 'list', '--data', copy]), /ada.*\n.*otto|otto.*\n.*ada/);
    assert.deepEqual((await readdir(folder)).filter((name) => name.startsWith('all.backup')), ['all.backup']);

    const restored = await startServer(t, { data: copy });
    assert.match(restored.output(), /only reads the clouds until/);
    await runOk(['fleet', 'resume', '--data', copy]);
    await restored.stop();
});

test('after a move is killed, repeating it copies everything', async (t) => {
    const folder = await temporaryFolder(t);
    const [from, between, to] = ['from', 'between', 'to'].map((name) => path.join(folder, name));
    const server = await fill(t, from);
    await server.stop();
    if (onPostgres) await runOk(['move'], { OPSBRAIN_FROM: nameForMove(from), OPSBRAIN_TO: path.join(folder, 'files') });
    const source = onPostgres ? path.join(folder, 'files') : from;
    const env = { OPSBRAIN_FROM: source, OPSBRAIN_TO: nameForMove(between) };
    let killed = 0;
    for (let i = 0; i < KILLS; i++) {
        const child = spawn(OPSBRAIN, ['move'], { env: { ...process.env, ...env }, stdio: 'ignore' });
        const ended = once(child, 'close');
        await Promise.race([sleep(10 + 40 * i), ended]);
        child.kill('SIGKILL');
        if ((await ended)[1] === 'SIGKILL') killed++;
    }
    assert.ok(killed > 0, 'every move ended before it was killed');
    if (killed === KILLS) {
        // The last of these moves may have been killed after it had copied everything.
        const { output } = await run(['move'], env);
        assert.match(output, /copied and compared|is not empty/);
    }
    await runOk(['move'], { OPSBRAIN_FROM: nameForMove(between), OPSBRAIN_TO: to });
    // Only fleet_instance is allowed to differ, because its row records where the database is used.
    for (const name of ['opsbrain.db', 'scrapes.db']) {
        const { fleet_instance: instance, ...rows } = dump(to, name);
        const { fleet_instance: expectedInstance, ...expected } = dump(source, name);
        assert.deepEqual(rows, expected);
        assert.equal(instance?.length, expectedInstance?.length);
    }
});

test('with --json, backup, restore and move print their counts as JSON', async (t) => {
    const folder = await temporaryFolder(t);
    const [data, copy, moved, file] = ['data', 'copy', 'moved', 'all.backup'].map((name) => path.join(folder, name));
    await addKey(data, 'ada', '--role', 'admin');
    const { bytes, encrypted, ...counted } = await runJson(['backup', file, '--data', data]);
    assert.equal(bytes, (await stat(file)).size);
    assert.equal(encrypted, false);
    assert.ok(counted.tables > 0 && counted.rows > 0, JSON.stringify(counted));
    assert.deepEqual(await runJson(['restore', file, '--data', copy]), { ...counted, only_reads_clouds: true });
    const { only_reads_clouds: onlyReads, tables } = await runJson(['move'], { OPSBRAIN_FROM: nameForMove(copy), OPSBRAIN_TO: nameForMove(moved) });
    assert.deepEqual([onlyReads, tables], [true, counted.tables]);
    for (const word of ['backup', 'restore', 'move']) assert.match(await runOk(['help', word]), /--json .*prints JSON/);
});

test('a refused move, backup or restore says why', async (t) => {
    const folder = await temporaryFolder(t);
    assert.match(await refusal(['move', '--from', folder]), /needs --from and --to/);
    assert.match(await refusal(['move', '--from', folder, '--to', folder]), /the same database/);
    assert.match(await refusal(['move', '--from', 'postgresql://u:secret@h/d', '--to', folder]), /--from has a password.*OPSBRAIN_FROM/);
    const mistyped = await refusal(['move', '--to', folder], { OPSBRAIN_FROM: 'Postgresql://u:secret@h/d' });
    assert.match(mistyped, /write it as postgresql:/);
    assert.doesNotMatch(mistyped, /secret/);
    assert.match(await refusal(['backup']), /needs a file name/);
    assert.match(await refusal(['restore', path.join(folder, 'nothing')], { OPSBRAIN_DATA: folder }), /cannot be read/);
});
