// SPDX-License-Identifier: Apache-2.0
// If somebody who can write to the database changes or removes rows of the audit log, this is detected. If they also recompute all
// digests, it is detected only with a key, or with a digest that was stored elsewhere.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { output } from './support/command_line.mjs';
import { addKey, OPSBRAIN, post, run, startServer, temporaryFolder } from './support/harness.mjs';

const TRIGGERS = ['audit_is_not_changed', 'audit_is_kept', 'audit_anchors_are_not_changed', 'audit_anchors_are_kept'];
const TEXT_COLUMNS = `request_id principal role client tool arguments phase outcome detail subject changed key_id`.split(' ');

const registration = (name) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'deployment_register', arguments: { name, url: 'http://127.0.0.1:9' } },
});

// usedFolder(t, env): {data, log}: the data folder of a server that was used and then stopped, and what that server logged.
async function usedFolder(t, env = {}) {
    const data = await temporaryFolder(t);
    const server = await startServer(t, { data, env });
    for (const name of ['a', 'b', 'c']) assert.equal((await post(server.port, registration(name))).status, 200);
    await post(server.port, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nothing' } });
    await server.stop();
    return { data, log: server.output() };
}

async function verify(data, env, ...flags) {
    return run(['audit-log', 'verify', '--data', data, ...flags], env);
}

// edited(t, data, edit): a copy of the folder; edit(db) has changed the copy's database without opsbrain.
async function edited(t, data, edit) {
    const copy = path.join(await temporaryFolder(t), 'data');
    await cp(data, copy, { recursive: true });
    const db = new DatabaseSync(path.join(copy, 'opsbrain.db'));
    for (const trigger of TRIGGERS) db.exec(`DROP TRIGGER ${trigger}`);
    edit(db);
    db.close();
    return copy;
}

const number = (value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    return bytes;
};
const text = (value) => Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)]);

// Recomputes every digest as store/audit/audit_chain.h describes for a log without a key.
function writeAnew(db) {
    let before = Buffer.alloc(32);
    db.exec("UPDATE audit SET key_id = ''");
    const rows = db.prepare('SELECT * FROM audit ORDER BY id').all();
    for (const row of rows) {
        const numbers = [row.id, row.at_ms, row.intent, row.times].map(number);
        const message = [Buffer.from('opsbrain audit row 1'), before, ...numbers, ...TEXT_COLUMNS.map((name) => text(row[name]))];
        before = createHash('sha256').update(Buffer.concat(message)).digest();
        db.prepare('UPDATE audit SET digest = ? WHERE id = ?').run(before, row.id);
    }
    const head = [Buffer.from('opsbrain audit head 1'), number(rows.at(-1).id), before, text('')];
    const seal = createHash('sha256').update(Buffer.concat(head)).digest();
    db.prepare("UPDATE audit_head SET id = ?, digest = ?, key_id = '', seal = ?").run(rows.at(-1).id, before, seal);
}

const EDITS = {
    changed: (db) => db.exec("UPDATE audit SET principal = 'mallory' WHERE id = 3"),
    'moved to another day': (db) => db.exec('UPDATE audit SET at_ms = at_ms - 86400000 WHERE id = 4'),
    removed: (db) => db.exec('DELETE FROM audit WHERE id = 3'),
    'the oldest removed': (db) => db.exec('DELETE FROM audit WHERE id = 1'),
    'the newest removed': (db) => db.exec('DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)'),
    swapped: (db) =>
        db.exec('UPDATE audit SET id = -1 WHERE id = 2; UPDATE audit SET id = 2 WHERE id = 4; UPDATE audit SET id = 4 WHERE id = -1'),
    'hidden by a forged anchor': (db) =>
        db.exec(`INSERT INTO audit_anchors SELECT 1, 2, at_ms, 2, at_ms, at_ms, digest, '', digest FROM audit WHERE id = 2;
                 DELETE FROM audit WHERE id <= 2`),
};

test('the audit log is intact after normal use, and changes to its rows are detected', async (t) => {
    const { data } = await usedFolder(t);
    const whole = await verify(data);
    assert.equal(whole.code, 0, whole.output);
    assert.match(whole.output, /the audit log is intact: \d+ rows/);
    for (const [what, edit] of Object.entries(EDITS)) {
        const { code, output } = await verify(await edited(t, data, edit));
        assert.equal(code, 1, `${what}: ${output}`);
        assert.match(output, /IS NOT INTACT/, what);
    }
});

test('a server reports at its start that another program changed the audit log, and still serves', async (t) => {
    const { data } = await usedFolder(t);
    const copy = await edited(t, data, EDITS['the newest removed']);
    const server = await startServer(t, { data: copy });
    assert.equal((await post(server.port, registration('d'))).status, 200);
    await server.stop();
    assert.match(server.output(), /error the audit log was changed by another program/);
    assert.match((await verify(copy)).output, /reporting that another program wrote to the audit log: \d/);
});

test('a rewritten chain looks intact, but does not match a digest that was exported before the rewrite', async (t) => {
    const { data } = await usedFolder(t);
    const exported = await run(['audit-log', 'export', '--data', data]);
    const lines = exported.output.trim().split('\n').map(JSON.parse);
    const { id, digest } = lines.at(-1); // the last line repeats the id and digest of the newest row
    assert.equal(lines.at(-2).id, id);
    assert.equal(lines.at(-2).digest, digest);
    assert.deepEqual([lines[0].principal, lines[0].tool], ['(server)', 'start']);
    const mark = `${id}:${digest}`;
    assert.match((await verify(data, {}, '--digest', mark)).output, /the given digest matches its row/);
    const copy = await edited(t, data, (db) => {
        EDITS.changed(db);
        writeAnew(db);
    });
    assert.match((await verify(copy)).output, /the audit log is intact/);
    const found = await verify(copy, {}, '--digest', mark);
    assert.equal(found.code, 1);
    assert.match(found.output, /the given digest does not match its row/);
});

test('audit-log list and audit-log verify can print JSON', async (t) => {
    const server = await startServer(t);
    const asJson = async (...args) => {
        const { code, stdout, stderr } = await output(OPSBRAIN, ['audit-log', ...args, '--data', server.data, '--json']);
        return { code, stderr, answer: JSON.parse(stdout) };
    };
    for (let i = 0; i < 60; i++) assert.equal((await post(server.port, registration(`d${i}`))).status, 200);
    const { rows } = (await asJson('list', '--tool', 'deployment_register', '--limit', '53')).answer;
    assert.deepEqual(rows.map(({ subject }) => subject), Array.from({ length: 53 }, (_, i) => `d${59 - i}`));
    assert.deepEqual([rows[0].outcome, rows[0].arguments.name, 'detail' in rows[0]], ['ok', 'd59', false]);
    assert.equal((await asJson('list', '--limit', '7')).answer.rows.length, 7);
    assert.deepEqual((await asJson('list', '--tool', 'none')).answer, { rows: [] });
    const whole = await asJson('verify');
    assert.deepEqual([whole.code, whole.answer.whole], [0, true]);
    const mismatch = await asJson('verify', '--digest', `1:${'0'.repeat(64)}`);
    assert.deepEqual([mismatch.code, mismatch.answer.whole], [1, false]);
    assert.equal(mismatch.stderr, `opsbrain: ${mismatch.answer.found}\n`);
    assert.match((await run(['help', 'audit-log'])).output, /--json .*prints JSON/);
});

test('with a key, a rewritten chain is detected, and so is a missing or wrong key', async (t) => {
    const file = path.join(await temporaryFolder(t), 'key');
    await writeFile(file, '0123456789abcdef0123456789abcdef\n');
    const env = { OPSBRAIN_AUDIT_KEY: file };
    const { data, log } = await usedFolder(t, env);
    const mark = log.match(/newest (\d+:[0-9a-f]{64})/)[1];
    assert.equal((await verify(data, env, '--digest', mark)).code, 0);
    const copy = await edited(t, data, (db) => {
        EDITS.changed(db);
        writeAnew(db);
    });
    assert.match((await verify(copy, env)).output, /IS NOT INTACT.*the newest row was written without one/);
    assert.match((await verify(data)).output, /audit_key names no file/);
    await writeFile(file, 'another key that signed none of the rows\n');
    assert.match((await verify(data, env)).output, /IS NOT INTACT.*rows whose key is not there/);
    await writeFile(file, `${'k'.repeat(1100)}\n`);
    assert.match((await verify(data, env)).output, /audit_key: .* has a line of more than 1022 characters/);
    await rm(file);
    assert.match((await verify(data, env)).output, /audit_key: .* cannot be read/);
});

test('the audit log records who connected, who was refused, and the settings that the server started with', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'alice', '--role', 'admin');
    const server = await startServer(t, { data, args: ['--auth', 'keys', '--workers', '3'] });
    const authorized = { Authorization: `Bearer ${key}` };
    const opening = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'spy', version: '7' } };
    for (let i = 0; i < 3; i++) {
        await post(server.port, { jsonrpc: '2.0', id: 1, method: 'ping' });
        await post(server.port, { jsonrpc: '2.0', id: 1, method: 'ping' }, { Authorization: `Bearer ${key}x` });
    }
    await post(server.port, { jsonrpc: '2.0', id: 1, method: 'initialize', params: opening }, authorized);
    for (let i = 0; i < 3; i++)
        await post(server.port, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'audit_list' } }, authorized);
    await server.stop();
    const { output } = await run(['audit-log', 'export', '--data', data]);
    const rows = output.trim().split('\n').map(JSON.parse);
    const row = (tool) => rows.find((each) => each.tool === tool);
    assert.deepEqual(JSON.parse(row('start').arguments), {
        listen: `127.0.0.1:${server.port}`,
        data,
        auth: 'keys',
        workers: 3,
    });
    assert.equal(row('stop').detail, 'Terminated');
    assert.deepEqual([row('login').principal, row('login').subject, row('login').times], ['(nobody)', '127.0.0.1', 6]);
    assert.deepEqual([row('session_open').principal, row('session_open').client], ['alice', 'spy/7']);
    assert.deepEqual([row('audit_list').principal, row('audit_list').times], ['alice', 3]);
    assert.equal(row('key add').client, `command line, uid ${process.getuid()}`);
    assert.doesNotMatch(output, new RegExp(key));
});
