// SPDX-License-Identifier: Apache-2.0
// A viewer cannot fill the disk, concurrent calls do not exceed the storage limit, and a disk that is full or nearly full is
// reported.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { bearer, call, flood, FLOODS, random } from './support/floods.mjs';
import { addKey, atEnd, OPSBRAIN, post, request, run, startServer, temporaryFolder, until } from './support/harness.mjs';

const FLOOD_MS = 800;
const MIB = 1 << 20;

// rowsOfEve(data): eve's rows in the audit log.
async function rowsOfEve(data) {
    const { output } = await run(['audit-log', 'export', '--data', data]);
    return output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter((row) => row.principal === 'eve');
}

test('a viewer cannot fill the disk with refused calls', async (t) => {
    const data = await temporaryFolder(t);
    const eve = bearer(await addKey(data, 'eve', '--role', 'viewer'));
    // A fast client would exceed the limit on the rate, and such refusals are not in the audit log.
    const args = ['--log-requests=false', '--sessions-per-principal', '50', '--rate-per-principal', '0'];
    const server = await startServer(t, { data, args });
    const counts = {};
    for (const [what, make] of Object.entries(FLOODS)) counts[what] = await flood(server.port, make, eve, FLOOD_MS);
    await server.stop();
    const rows = await rowsOfEve(data);
    const sent = Object.values(counts).reduce((sum, count) => sum + count);
    assert.ok(rows.length < 150, `${rows.length} rows of ${sent} requests`);
    const bytes = rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0);
    assert.ok(bytes < 128 << 10, `${bytes} bytes`);
    assert.ok((await stat(path.join(data, 'opsbrain.db'))).size < 2 * MIB);
    // A row stands for as many refusals as its `times` says; together the rows account for every refusal.
    const refused = rows.filter((row) => row.outcome !== 'ok').reduce((sum, row) => sum + row.times, 0);
    assert.equal(refused, sent - counts.sessions);
    assert.match((await run(['audit-log', 'verify', '--data', data])).output, /the audit log is intact/);
});

// Starts a server whose data folder is on a separate disk, small enough for a test to fill. Returns {server, disk, data}: `disk` is
// the mount point and `data` the data folder, as paths that this process can use. If no disk can be mounted, skips the test and
// returns undefined.
async function serverOnSmallDisk(t, args = []) {
    const folder = await temporaryFolder(t);
    const script = path.join(folder, 'serve');
    const mounted = path.join(folder, 'disk');
    const namespaces = process.getuid() === 0 ? '-m' : '-rm';
    const mount = `mkdir -p "${mounted}" && mount -t tmpfs -o size=32m none "${mounted}"`;
    try {
        execFileSync('unshare', [namespaces, 'sh', '-c', mount], { stdio: 'ignore' });
    } catch {
        t.skip('no file system can be mounted here');
        return undefined;
    }
    await writeFile(script, `#!/bin/sh\nexec unshare ${namespaces} sh -c '${mount} && exec "$@"' sh "${OPSBRAIN}" "$@"\n`);
    await chmod(script, 0o755);
    const server = await startServer(t, { data: path.join(mounted, 'data'), file: script, args: ['--auth', 'keys', ...args] });
    const root = `/proc/${server.program.child.pid}/root`;
    return { server, disk: path.join(root, mounted), data: path.join(root, mounted, 'data') };
}

// fill(disk, left): writes a file that leaves `left` bytes of the disk free.
async function fill(disk, left) {
    const { bavail, bsize } = await statfs(disk);
    await writeFile(path.join(disk, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - left)));
}

test('while the disk is nearly full, only admins can add data, and every refusal says why', async (t) => {
    const started = await serverOnSmallDisk(t);
    if (started === undefined) return;
    const { server, disk, data } = started;
    const key = async (name, role) => bearer(await addKey(data, name, '--role', role));
    const otto = await key('otto', 'operator');
    const ada = await key('ada', 'admin');
    const register = (name, who) => post(server.port, call('deployment_register', { name, url: 'http://127.0.0.1:9' }), who);
    const says = (answer) => JSON.parse(answer.body).result.content[0].text;

    assert.match(says(await register('a', otto)), /^a is stored/);
    await fill(disk, 2 * MIB);
    assert.match(says(await register('b', otto)), /the disk of the data folder is nearly full: .* \(setting disk_reserve_bytes\)/);
    assert.match(says(await register('b', ada)), /^b is stored/);
    const ready = await request(server.port, { path: '/ready' });
    assert.equal(ready.status, 200);
    assert.match(ready.body, /nearly full/);
    const { body } = await request(server.port, { path: '/metrics', headers: ada });
    const gauge = (name) => Number(body.match(new RegExp(`^${name} (\\S+)`, 'm'))[1]);
    assert.ok(gauge('opsbrain_disk_free_bytes') < gauge('opsbrain_disk_reserve_bytes'));
    const upload = await post(server.port, 'a,b\n1,2\n', otto, '/v1/imports?name=a.csv');
    assert.equal(upload.status, 503);
    assert.match(upload.body, /nearly full/);
    assert.match(says(await post(server.port, call('audit_list'), otto)), /\| busy +\|/);

    await unlink(path.join(disk, 'filler'));
    assert.match(says(await register('c', otto)), /^c is stored/);
});

test('the storage limit allows concurrent calls to store only as much as consecutive calls', async (t) => {
    const data = await temporaryFolder(t);
    const key = async (name) => bearer(await addKey(data, name, '--role', 'operator'));
    const [otto, otis] = [await key('otto'), await key('otis')];
    const server = await startServer(t, { data, args: ['--auth', 'keys', '--storage-limit-bytes', '1000'] });
    const isStored = async (name, who) => {
        const answer = await post(server.port, call('deployment_register', { name, url: 'http://127.0.0.1:9' }), who);
        const [{ text }] = JSON.parse(answer.body).result.content;
        if (!/ is stored/.test(text)) assert.match(text, /as much as the setting storage_limit_bytes allows/);
        return / is stored/.test(text);
    };
    const names = Array.from({ length: 32 }, (_, i) => `${10 + i}`);
    let most = 0;
    while (await isStored(`a${names[most]}`, otto)) most++;
    assert.ok(most > 2 && most < 16, `${most}`);
    const stored = await Promise.all(names.map((name) => isStored(`b${name}`, otis)));
    assert.equal(stored.filter(Boolean).length, most);
});

test('a full disk is reported to every caller that writes, and by /ready', async (t) => {
    const started = await serverOnSmallDisk(t);
    if (started === undefined) return;
    const { server, disk, data } = started;
    const ada = bearer(await addKey(data, 'ada', '--role', 'admin'));
    const opening = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'n', version: '1' } };
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: opening };
    const requests = [
        ['initialize', () => post(server.port, initialize, ada)],
        ['a tool', () => post(server.port, call('deployment_register', { name: random(), url: 'http://127.0.0.1:9' }), ada)],
        ['an upload', () => post(server.port, Buffer.alloc(MIB, 'a,b\n1,2\n'), ada, '/v1/imports?name=a.csv')],
        ['/ready', () => request(server.port, { path: '/ready' })],
    ];
    await fill(disk, 0);
    // Writes succeed until the free pages inside the database files are used up.
    await until('the disk to be full', async () => {
        await post(server.port, call('deployment_register', { name: random(), url: 'http://127.0.0.1:9' }), ada);
        return (await requests[0][1]()).status === 503;
    });
    for (const [what, ask] of requests) {
        const { body } = await ask();
        assert.match(body, /the disk of the data folder is (full|nearly full: 0\.)/, what);
        assert.doesNotMatch(body, /internal error/, what);
    }
    assert.equal((await post(server.port, call('audit_list'), ada)).status, 200);
    await unlink(path.join(disk, 'filler'));
    await until('the server to write again', async () => (await requests[0][1]()).status === 200);
    const { body } = await post(server.port, call('audit_list', { check: true }), ada);
    assert.match(JSON.parse(body).result.structuredContent.check, /the audit log is intact/);
    atEnd(t, () => assert.match(server.output(), /is writable again/));
});
