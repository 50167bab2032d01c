// SPDX-License-Identifier: Apache-2.0
// Two PostgreSQL servers: the standby takes over, and the former primary comes back as a standby that lags behind.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chown, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { startServer, until } from './support/harness.mjs';
import { findPostgres, startPostgres } from './support/postgres_server.mjs';

const bin = await findPostgres();
const skip = bin ? false : 'PostgreSQL is not installed';

// register(server, name): registers a deployment; returns the list of deployments as JSON.
async function register(server, name) {
    const client = await connect('2x-2026', server.url);
    try {
        await client.call('deployment_register', { name, url: 'http://127.0.0.1:1' });
        return JSON.stringify(await client.call('deployment_list', {}));
    } finally {
        await client.close();
    }
}

// startStandby(t, primary): starts a PostgreSQL server that follows the primary.
const startStandby = (t, primary) =>
    startPostgres(t, bin, {
        prepare: async (folder, as) => {
            const data = path.join(folder, 'data');
            await rm(data, { recursive: true });
            const from = ['-h', primary.folder, '-p', String(primary.port), '-U', 'postgres'];
            execFileSync(`${bin}/pg_basebackup`, ['-D', data, '-R', '-c', 'fast', '--no-sync', ...from], { cwd: '/', stdio: 'ignore', ...as });
        },
    });

// comeBack(server): restarts a former primary as a standby that follows no server.
async function comeBack(server) {
    const signal = path.join(server.folder, 'data/standby.signal');
    await writeFile(signal, '');
    if (server.as.uid !== undefined) await chown(signal, server.as.uid, server.as.gid);
    await server.start();
}

const knows = (postgres, name) => postgres.query(`SELECT count(*) FROM deployments WHERE name = '${name}'`).trim() === '1';
const endSessions = (postgres) => postgres.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'opsbrain'`);

test('after a failover, nothing is read from the former primary or written to it', { skip }, async (t) => {
    const first = await startPostgres(t, bin);
    const second = await startStandby(t, first);
    const hosts = [first, second].map(({ port }) => `127.0.0.1:${port}`).join();
    const server = await startServer(t, { env: { OPSBRAIN_DATABASE: `postgresql://postgres@${hosts}/postgres?sslmode=disable` } });
    await register(server, 'one');
    await until('the standby to follow', () => knows(second, 'one'));
    await first.end('SIGKILL');
    second.query('SELECT pg_promote()');
    await register(server, 'two');
    await comeBack(first);
    endSessions(second);
    assert.match(await register(server, 'three'), /"one".*"two"|"two".*"one"/s);
    assert.ok(!knows(first, 'two') && knows(second, 'three'));
});
