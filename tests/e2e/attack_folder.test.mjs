// SPDX-License-Identifier: Apache-2.0
// Data files are deleted, moved or replaced while the server is running, or a server is started without them.
import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { addKey, freePort, request, run, startServer, temporaryFolder, until } from './support/harness.mjs';

const NOTICED_MS = 5000;

async function ready(server) {
    return (await request(server.port, { path: '/ready' })).status === 200;
}

function register(client, name) {
    return client.callTool('deployment_register', { name, url: 'http://127.0.0.1:9' });
}

// loseFiles(server, client, lose): deletes or replaces files with lose(data). The server must notice this and refuse writes, but still
// allow reads.
async function loseFiles(server, client, lose) {
    assert.ok(!(await register(client, 'before')).isError);
    await lose(server.data);
    const refused = await register(client, 'after');
    assert.ok(refused.isError);
    assert.match(refused.content[0].text, /was moved or deleted while the server was running .*nothing can be stored/);
    assert.equal((await client.call('deployment_list')).deployments.length, 1);
    assert.equal(await ready(server), false);
    const { body } = await request(server.port, { path: '/ready' });
    assert.match(body, /^not ready: .*moved or deleted while the server was running/);
    await until('the log', () => server.output().includes('moved or deleted while'), NOTICED_MS);
    const lines = server.output().split('\n').filter((line) => / error \S+ was moved or deleted while/.test(line));
    assert.equal(lines.length, 1, lines.join('\n'));
}

const LOSSES = {
    'the folder is deleted': (data) => rm(data, { recursive: true }),
    'the database is deleted': (data) => unlink(path.join(data, 'opsbrain.db')),
    'only the write-ahead log is deleted': (data) => unlink(path.join(data, 'opsbrain.db-wal')),
    'the database is replaced by a copy': async (data) => {
        const file = path.join(data, 'opsbrain.db');
        await cp(file, `${file}.copy`);
        await rename(`${file}.copy`, file);
    },
    'the scrapes database is deleted': (data) => unlink(path.join(data, 'scrapes.db')),
};

for (const [title, lose] of Object.entries(LOSSES))
    test(`when ${title}, the running server refuses writes, and does not recreate any file`, async (t) => {
        const server = await startServer(t, { data: path.join(await temporaryFolder(t), 'data') });
        const client = await connect('2x-2026', server.url);
        await loseFiles(server, client, lose);
        const left = await readdir(path.dirname(server.data), { recursive: true });
        await server.stop();
        for (const name of await readdir(path.dirname(server.data), { recursive: true }))
            assert.ok(left.includes(name), `${name} was recreated`);
    });

test('the server notices that its folder was moved away, and later that it is back', async (t) => {
    const server = await startServer(t, { data: path.join(await temporaryFolder(t), 'data') });
    const metric = async () =>
        (await request(server.port, { path: '/metrics' })).body.match(/^opsbrain_data_folder_intact (\d)/m)[1];
    assert.equal(await metric(), '1');
    await rename(server.data, `${server.data}.away`);
    await until('the log', () => / error \S+data was moved or deleted while/.test(server.output()), NOTICED_MS);
    assert.equal(await metric(), '0');
    await mkdir(server.data);
    assert.equal(await ready(server), false);
    await rm(server.data, { recursive: true });
    await rename(`${server.data}.away`, server.data);
    assert.equal(await ready(server), true);
    const client = await connect('2x-2026', server.url);
    assert.ok(!(await register(client, 'back')).isError);
});

test('a server that had keys and lost its folder starts only with --auth keys, or after opsbrain key reset', async (t) => {
    const data = path.join(await temporaryFolder(t), 'data');
    const key = await addKey(data, 'alice', '--role', 'admin');
    const server = await startServer(t, { data });
    assert.equal((await stat(`${data}.keys`)).mode & 0o777, 0o600);
    assert.doesNotMatch(await readFile(`${data}.keys`, 'utf8'), /obk_|alice/);
    const client = await connect('2x-2026', server.url, { key });
    await loseFiles(server, client, LOSSES['the folder is deleted']);
    await server.stop();

    const serve = ['serve', '--listen', `127.0.0.1:${await freePort()}`, '--data', data];
    for (const folder of [data, `${data}/`, `${data}/../data`]) {
        const refused = await run([...serve.slice(0, -1), folder]);
        assert.notEqual(refused.code, 0, refused.output);
        assert.match(refused.output, /had API keys and now has none.*opsbrain key reset/);
    }
    const withKeys = await startServer(t, { data, args: ['--auth', 'keys'] });
    await assert.rejects(connect('2x-2026', withKeys.url, { key }), /401|[Uu]nauthorized|key/);
    await withKeys.stop();
    const reset = await run(['key', 'reset', '--data', data]);
    assert.equal(reset.code, 0, reset.output);
    assert.notEqual((await run(['key', 'reset', '--data', data])).code, 0);
    const withoutKeys = await startServer(t, { data });
    await (await connect('2x-2026', withoutKeys.url)).call('deployment_list');
    await withoutKeys.stop();
});

test('opsbrain key reset refuses a folder that has keys, even if all are revoked', async (t) => {
    const data = path.join(await temporaryFolder(t), 'data');
    await addKey(data, 'alice', '--role', 'admin');
    await run(['key', 'revoke', 'alice', '--data', data]);
    const { code, output } = await run(['key', 'reset', '--data', data]);
    assert.notEqual(code, 0);
    assert.match(output, /has keys.*nothing to reset/);
});
