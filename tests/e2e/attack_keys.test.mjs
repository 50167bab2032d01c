// SPDX-License-Identifier: Apache-2.0
// Keys and roles: what the commands report, when a changed role takes effect, and what happens if the data folder is wrong.
import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { onPostgres } from './support/database.mjs';
import { addKey, run, startServer, temporaryFolder, until } from './support/harness.mjs';

function tryRegister(client, name) {
    return client.callTool('deployment_register', { name, url: 'http://127.0.0.1:9' });
}

test('key add cannot change a role, and a changed role takes effect in open sessions within a second', async (t) => {
    const data = await temporaryFolder(t);
    const admin = await addKey(data, 'root', '--role', 'admin');
    const key = await addKey(data, 'eve', '--role', 'viewer', '--label', 'laptop');
    const server = await startServer(t, { data });
    const eve = await connect('legacy-1x', server.url, { key });
    for (const role of ['operator', 'admin']) {
        const { code, output } = await run(['key', 'add', 'eve', '--role', role, '--data', data]);
        assert.notEqual(code, 0);
        assert.match(output, new RegExp(`eve is a viewer.*opsbrain principal role eve ${role}`));
        assert.doesNotMatch(output, /obk_/);
    }
    assert.ok((await tryRegister(eve, 'a')).isError);

    const promoted = await run(['principal', 'role', 'eve', 'operator', '--data', data]);
    assert.deepEqual(promoted, { code: 0, output: 'the role of eve is now operator; before, it was viewer\n' });
    await until('the new role', async () => !(await tryRegister(eve, 'a')).isError, 1000);
    await run(['principal', 'role', 'eve', 'viewer', '--data', data]);
    await until('the old role', async () => (await tryRegister(eve, 'b')).isError, 1000);

    const root = await connect('2x-2026', server.url, { key: admin });
    const { rows } = await root.call('audit_list', { tool: 'principal role' });
    assert.deepEqual([...new Set(rows.map(({ subject }) => subject))], ['eve']);
});

test('keys are listed with their label and last use, and principals with their role and how many keys they have', async (t) => {
    const data = await temporaryFolder(t);
    await addKey(data, 'ci', '--role', 'operator', '--label', 'nightly');
    const key = await addKey(data, 'ci', '--role', 'operator');
    const server = await startServer(t, { data });
    await (await connect('2x-2026', server.url, { key })).call('deployment_list');
    await until('the last use to be shown', async () => {
        const { output } = await run(['key', 'list', '--data', data]);
        const [first, second] = output.split('\n').filter((line) => line.includes('key_'));
        assert.match(first, /\| operator +\| nightly +\|/);
        return /\| \d{4}-\d\d-\d\dT\d\d:\d\d \|$/.test(second) && / - +\|$/.test(first);
    });
    const { keys } = JSON.parse((await run(['key', 'list', '--data', data, '--json'])).output);
    assert.deepEqual(keys.map(({ principal, label }) => [principal, label]), [['ci', 'nightly'], ['ci', '']]);
    const { output } = await run(['principal', 'list', '--data', data]);
    assert.match(output, /\| ci +\| operator +\| 2 +\| 2 +\|/);
});

const skip = onPostgres && 'with PostgreSQL there is no data folder';

test('a command with a wrong data folder says so and creates nothing; key add creates the folder, and says so', { skip }, async (t) => {
    const root = await temporaryFolder(t);
    await mkdir(path.join(root, 'empty'));
    await mkdir(path.join(root, 'others'));
    await writeFile(path.join(root, 'others', 'notes.txt'), 'mine');
    const commands = [['key', 'list'], ['key', 'revoke', 'x'], ['principal', 'list'], ['principal', 'role', 'x', 'admin']];
    const before = await readdir(root, { recursive: true });
    for (const command of commands)
        for (const folder of ['typo', 'typo/deep', 'empty', 'others', 'others/notes.txt']) {
            const { code, output } = await run([...command, '--data', path.join(root, folder)]);
            assert.notEqual(code, 0, output);
            assert.match(output, /^opsbrain: [^\n]*data folder[^\n]*\n$/);
        }
    const { code } = await run(['key', 'list'], { OPSBRAIN_DATA: path.join(root, 'typo') });
    assert.notEqual(code, 0);
    assert.deepEqual(await readdir(root, { recursive: true }), before);

    const first = await run(['key', 'add', 'alice', '--role', 'admin', '--data', path.join(root, 'new')]);
    assert.equal(first.code, 0, first.output);
    assert.match(first.output, /created a new database in/);
});

test('key add needs a role, demoting or revoking the last admin gives a warning, and --help works', async (t) => {
    const data = await temporaryFolder(t);
    const lacking = await run(['key', 'add', 'alice', '--data', data]);
    assert.notEqual(lacking.code, 0);
    assert.match(lacking.output, /--role is missing/);
    assert.deepEqual(await readdir(data), []);

    await addKey(data, 'alice', '--role', 'admin');
    const demoted = await run(['principal', 'role', 'alice', 'viewer', '--data', data]);
    assert.match(demoted.output, /warning: no admin has a valid key now/);
    await run(['principal', 'role', 'alice', 'admin', '--data', data]);
    const revoked = await run(['key', 'revoke', 'alice', '--data', data]);
    assert.match(revoked.output, /revoked 1 key\n[^]*warning: no admin/);

    for (const args of [['key', '--help'], ['key', 'add', '--help'], ['principal', '--help'], ['key', 'list', '-h']]) {
        const { code, output } = await run(args);
        assert.equal(code, 0, output);
        assert.match(output, new RegExp(`opsbrain ${args[0]} list`));
    }
    for (const args of [['key'], ['key', 'steal'], ['key', 'add'], ['key', 'add', '--role', 'admin'], ['principal', 'role', 'x']]) {
        const { code, output } = await run(args);
        assert.notEqual(code, 0);
        assert.match(output, /^opsbrain: .*use one of: .*\n$/);
    }
});
