// SPDX-License-Identifier: Apache-2.0
// Which database a server of the tests has: the files of its folder, or, where OPSBRAIN_TEST_DATABASE is the URI of a
// PostgreSQL database, a schema of the folder's own in it. If OPSBRAIN_TEST_POOLED is also set, the URI is that of a
// pooler, which does not accept a schema: the server then gets a database of its own.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const { OPSBRAIN_TEST_DATABASE: SERVER, OPSBRAIN_TEST_POOLED: POOLED } = process.env;

export const onPostgres = SERVER !== undefined;

const schemaOf = (data) => `e${createHash('sha256').update(data).digest('hex').slice(0, 16)}`;

const psql = (place, statement) => execFileSync('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', place, '-c', statement], { encoding: 'utf8' });

function placeOf(data) {
    const parameter = POOLED ? `dbname=${schemaOf(data)}` : `options=-csearch_path%3D${schemaOf(data)}`;
    return `${SERVER}${SERVER.includes('?') ? '&' : '?'}${parameter}`;
}

function make(name) {
    if (!POOLED) return psql(SERVER, `SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS ${name}`);
    const found = psql(SERVER, `SELECT 1 FROM pg_database WHERE datname = '${name}'`);
    return found || psql(SERVER, `CREATE DATABASE ${name} TEMPLATE template0`);
}

// databaseSettings(args): the variables that the environment of `opsbrain ... --data FOLDER` needs for its database.
export function databaseSettings(args) {
    const data = args[args.indexOf('--data') + 1];
    if (!onPostgres || !args.includes('--data')) return {};
    return { OPSBRAIN_DATABASE: placeFor(data) };
}

// placeFor(data): the URI of a data folder's database, which is made if it is missing.
export function placeFor(data) {
    make(schemaOf(data));
    return placeOf(data);
}

// query(data, statement): runs a query in that database; lines of values, with "|" between them.
export const query = (data, statement) => psql(placeOf(data), statement);

// rowsOf(data, statement, ...values): the rows of a query of that database, whichever it is; each "?" stands for a value.
export function rowsOf(data, statement, ...values) {
    if (!onPostgres) return inFile(data, { readOnly: true }, (database) => database.prepare(statement).all(...values));
    return JSON.parse(query(data, `SELECT coalesce(json_agg(t), '[]') FROM (${filled(statement, values)}) AS t`));
}

// execute(data, statement, ...values): runs a statement without rows, while no server runs.
export function execute(data, statement, ...values) {
    if (!onPostgres) return inFile(data, {}, (database) => database.prepare(statement).run(...values));
    return query(data, filled(statement, values));
}

function inFile(data, options, step) {
    const database = new DatabaseSync(path.join(data, 'opsbrain.db'), options);
    try {
        return step(database);
    } finally {
        database.close();
    }
}

function filled(statement, values) {
    return values.reduce((text, value) => text.replace('?', () => (typeof value === 'number' ? value : `'${value.replaceAll("'", "''")}'`)), statement);
}
