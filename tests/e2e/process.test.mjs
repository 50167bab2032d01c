// SPDX-License-Identifier: Apache-2.0
// How the server starts, refuses to start, stops, and serves metrics.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { atEnd, freePort, request, run, startServer, temporaryFolder } from './support/harness.mjs';

// refusesToStart(args, pattern): asserts that `opsbrain serve` fails, with output that matches the pattern.
async function refusesToStart(args, pattern) {
    const { code, output } = await run(['serve', ...args]);
    assert.notEqual(code, 0, output);
    assert.match(output, pattern);
}

async function argsOnFreePort(data) {
    return ['--listen', `127.0.0.1:${await freePort()}`, '--data', data];
}

test('only one process at a time can use a data folder', async (t) => {
    const server = await startServer(t);
    await refusesToStart(await argsOnFreePort(server.data), /in use.*process \d+/);
});

test('the server does not start on a port that is in use, by opsbrain or by another program', async (t) => {
    const server = await startServer(t);
    const data = await temporaryFolder(t);
    await refusesToStart(['--listen', `127.0.0.1:${server.port}`, '--data', data], /in use|taken/);

    const port = await freePort();
    const other = net.createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    atEnd(t, () => other.close());
    await refusesToStart(['--listen', `127.0.0.1:${port}`, '--data', data], /in use|taken/);
});

test('a database from a newer opsbrain is refused', async (t) => {
    const server = await startServer(t);
    await server.stop();
    const database = new DatabaseSync(path.join(server.data, 'opsbrain.db'));
    database.exec('PRAGMA user_version = 9000');
    database.close();
    await refusesToStart(await argsOnFreePort(server.data), /version 9000.*newer/);
});

test('a file that is not a database is refused', async (t) => {
    const data = path.join(await temporaryFolder(t), 'data');
    await mkdir(data);
    await writeFile(path.join(data, 'opsbrain.db'), 'not a database, '.repeat(1000));
    await refusesToStart(await argsOnFreePort(data), /opsbrain\.db/);
});

test('without keys, the server refuses to listen on an address that is not loopback', async (t) => {
    const data = await temporaryFolder(t);
    await refusesToStart(['--listen', `0.0.0.0:${await freePort()}`, '--data', data], /key add/);
});

test('an unknown flag or a bad value is refused, and the message quotes it', async (t) => {
    const data = await temporaryFolder(t);
    await refusesToStart(['--data', data, '--colour', 'red'], /--colour/);
    await refusesToStart(['--data', data, '--workers', 'many'], /workers.*many/);
    await refusesToStart(['--data', data, '--listen', 'nowhere'], /nowhere/);
});

test('an unknown command fails, and --help prints help', async () => {
    assert.notEqual((await run(['dance'])).code, 0);
    const help = await run(['--help']);
    assert.equal(help.code, 0);
    assert.match(help.output, /serve/);
});

test('SIGTERM stops the server within 8 seconds while clients are connected', async (t) => {
    const server = await startServer(t);
    const clients = await Promise.all(['legacy-1x', '2x-legacy', '2x-2026'].map((kind) => connect(kind, server.url)));
    const began = performance.now();
    await server.stop();
    assert.ok(performance.now() - began < 8000);
    await Promise.all(clients.map((client) => client.client.close()));
});

test('metrics are in the Prometheus text format', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.listTools();
    await client.close();
    const { status, headers, body } = await request(server.port, { path: '/metrics' });
    assert.equal(status, 200);
    assert.match(headers['content-type'], /^text\/plain/);
    for (const line of body.trimEnd().split('\n'))
        assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [-+0-9.eInfNa]+)$/);
    assert.match(body, /^opsbrain_requests_total\{.*\} [1-9]/m);
});
