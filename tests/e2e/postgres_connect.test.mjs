// SPDX-License-Identifier: Apache-2.0
// The ways to connect to PostgreSQL, with and without TLS, and the error message for each way that fails.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { request, run, startServer, temporaryFolder, until } from './support/harness.mjs';
import { findPostgres, startPostgres } from './support/postgres_server.mjs';

const PASSWORD = 'p@ss/word';
const LOGIN = 'postgresql://alice:p%40ss%2Fword@'; // a user, with the password
const USER = 'postgresql://alice@'; // the same user, without the password
const ACCESS = `local all all trust
hostssl tls_only alice 0.0.0.0/0 scram-sha-256
host plain alice 0.0.0.0/0 scram-sha-256
`;

// certify(folder, {uid, gid}): creates a certificate authority and a certificate for db.test, and writes pg_hba.conf.
async function certify(folder, { uid, gid }) {
    const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout'];
    openssl('req', '-x509', ...key, 'ca.key', '-out', 'ca.crt', '-subj', '/CN=authority');
    openssl('req', ...key, 'server.key', '-out', 'server.csr', '-subj', '/CN=db.test');
    openssl('x509', '-req', '-in', 'server.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-out', 'server.crt');
    await chmod(path.join(folder, 'server.key'), 0o600);
    if (uid !== undefined) for (const name of ['server.key', 'server.crt']) await chown(path.join(folder, name), uid, gid);
    await writeFile(path.join(folder, 'data/pg_hba.conf'), ACCESS);
}

async function startWithTls(t) {
    const settings = ['listen_addresses=127.0.0.1,127.0.0.2', 'ssl=on', 'ssl_cert_file=../server.crt', 'ssl_key_file=../server.key'];
    const server = await startPostgres(t, await findPostgres(), { settings, prepare: certify });
    server.query(`CREATE ROLE alice LOGIN PASSWORD '${PASSWORD}'`);
    for (const name of ['tls_only', 'plain']) server.query(`CREATE DATABASE ${name} OWNER alice`);
    return server;
}

// passwordFile(t, text, mode): writes a password file; returns its path.
async function passwordFile(t, text, mode) {
    const file = path.join(await temporaryFolder(t), 'password');
    await writeFile(file, text, { mode });
    return file;
}

const skip = (await findPostgres()) ? false : 'PostgreSQL is not installed';

test('each way to connect works, or fails with a message that says why', { skip }, async (t) => {
    const server = await startWithTls(t);
    const authority = path.join(server.folder, 'ca.crt');
    const data = await temporaryFolder(t);
    const here = `127.0.0.1:${server.port}`;
    const there = (database, more = '') => `db.test:${server.port}/${database}?hostaddr=127.0.0.2${more}`;
    const trusted = `&sslrootcert=${authority}`;
    const line = `127.0.0.1:${server.port}:*:alice:${PASSWORD}\n`;
    const connect = async (address, env = {}) => (await run(['key', 'list', '--data', data], { ...env, OPSBRAIN_DATABASE: address })).output;
    const works = async (...way) => assert.match(await connect(...way), /^\| id /, way[0]);
    const fails = async (message, ...way) => {
        const output = await connect(...way);
        assert.match(output, message, way[0]);
        assert.doesNotMatch(output, /p@ss|p%40ss|hunter2/, way[0]);
    };

    for (const mode of ['require', 'verify-ca', 'verify-full']) await works(LOGIN + there('tls_only', `${trusted}&sslmode=${mode}`));
    for (const mode of ['allow', 'prefer', 'require']) await works(LOGIN + there('tls_only', `&sslmode=${mode}`));
    for (const mode of ['disable', 'verify-full']) await works(LOGIN + there('plain', `${trusted}&sslmode=${mode}`));
    await works(LOGIN + there('tls_only'), { PGSSLROOTCERT: authority });
    await works(`${LOGIN}${here}/plain`);
    await works(`${USER}${here}/plain`, { PGPASSWORD: PASSWORD });
    await works(`${USER}${here}/plain`, { PGPASSFILE: await passwordFile(t, line, 0o600) });
    await works(`${USER}${here}/plain`, { OPSBRAIN_DATABASE_PASSWORD_FILE: await passwordFile(t, `${PASSWORD}\n`, 0o644) });
    await works(`${USER}${here}/plain?passfile=${await passwordFile(t, line, 0o600)}`);
    await works(`postgresql://postgres@/plain?host=${server.folder}&port=${server.port}`);

    const untrusted = /the database's certificate cannot be verified: name its CA certificate file with sslrootcert=FILE/;
    for (const more of ['', '&sslmode=verify-ca', '&sslmode=verify-full']) await fails(untrusted, LOGIN + there('tls_only', more));
    await fails(/certificate is for a different host name: use that name in the address/, `${LOGIN}127.0.0.2:${server.port}/tls_only?${trusted.slice(1)}`);
    await fails(/the file that sslrootcert names cannot be read/, LOGIN + there('tls_only', '&sslrootcert=/none.crt'));
    await fails(/sslmode must be disable, allow, prefer, require, verify-ca or verify-full/, LOGIN + there('tls_only', '&sslmode=strange'));
    await fails(/does not let this user in.*pg_hba\.conf/, LOGIN + there('tls_only', '&sslmode=disable'));
    await fails(/refuses the user or the password/, `postgresql://alice:hunter2@${here}/plain`);

    const without = /the database asks for a password, and none was given: .*PGPASSWORD.*PGPASSFILE.*mode 0600.*HOST:PORT:DATABASE:USER:PASSWORD/;
    await fails(without, `${USER}${here}/plain`);
    await fails(without, `${USER}${here}/plain`, { PGPASSFILE: await passwordFile(t, line, 0o644) });
    await fails(without, `${USER}${here}/plain`, { PGPASSFILE: await passwordFile(t, `${PASSWORD}\n`, 0o600) });

    const backup = path.join(await temporaryFolder(t), 'backup');
    const file = await passwordFile(t, PASSWORD, 0o600);
    const { code, output } = await run(['backup', backup, '--database', `${USER}${here}/plain`, '--database-password-file', file], {});
    assert.equal(code, 0, output);

    await fails(/OPSBRAIN_DATABASE_PASSWORD_FILE \/none cannot be read/, `${USER}${here}/plain`, { OPSBRAIN_DATABASE_PASSWORD_FILE: '/none' });
    await fails(/the database address contains a line break/, `${LOGIN}${here}/plain\n`);
    await fails(/cannot be reached: check that it is running, and that the address is right/, `${LOGIN}127.0.0.1:1/plain`);
    await fails(/cannot be reached: check that it is running, and that the address is right/, `${LOGIN}nowhere.invalid/plain`);
});

test('after the database password is changed, a running server reads the new one from the password file', { skip }, async (t) => {
    const postgres = await startWithTls(t);
    const file = await passwordFile(t, PASSWORD, 0o600);
    const args = ['--database', `${USER}127.0.0.1:${postgres.port}/plain`, '--database-password-file', file];
    const server = await startServer(t, { args });
    postgres.query(`ALTER ROLE alice PASSWORD 'changed'`);
    await writeFile(file, 'changed');
    postgres.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'alice'`);
    await until('the server to be ready', async () => (await request(server.port, { path: '/ready' })).status === 200);
});
