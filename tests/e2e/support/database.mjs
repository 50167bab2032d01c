// SPDX-License-Identifier: Apache-2.0
// Chooses the database for each server in the tests: the SQLite files in its data folder or, if OPSBRAIN_TEST_DATABASE is the URI of a
// PostgreSQL database, a schema of its own in that database. If OPSBRAIN_TEST_POOLED is also set, the URI is that of a pooler,
// which does not let a client choose a schema, so the server gets a database of its own.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const { OPSBRAIN_TEST_DATABASE: URI, OPSBRAIN_TEST_POOLED: POOLED } = process.env;

export const onPostgres = URI !== undefined;

const schemaOf = (data) => `e${createHash('sha256').update(data).digest('hex').slice(0, 16)}`;

const psql = (uri, statement) => execFileSync('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', uri, '-c', statement], { encoding: 'utf8' });

function uriOf(data) {
    const parameter = POOLED ? `dbname=${schemaOf(data)}` : `options=-csearch_path%3D${schemaOf(data)}`;
    return `${URI}${URI.includes('?') ? '&' : '?'}${parameter}`;
}

function make(name) {
    if (!POOLED) return psql(URI, `SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS ${name}`);
    const found = psql(URI, `SELECT 1 FROM pg_database WHERE datname = '${name}'`);
    return found || psql(URI, `CREATE DATABASE ${name} TEMPLATE template0`);
}

// databaseSettings(args): the environment variables with which `opsbrain ... --data FOLDER` finds its database; {} for SQLite.
export function databaseSettings(args) {
    const data = args[args.indexOf('--data') + 1];
    if (!onPostgres || !args.includes('--data')) return {};
    return { OPSBRAIN_DATABASE: prepareDatabase(data) };
}

// prepareDatabase(data): creates the PostgreSQL schema or database for a data folder if it is missing; returns its URI.
export function prepareDatabase(data) {
    make(schemaOf(data));
    return uriOf(data);
}

// query(data, statement): runs a query in the folder's PostgreSQL database; returns a line for each row, with "|" between the
// values.
export const query = (data, statement) => psql(uriOf(data), statement);

// rowsOf(data, statement, ...values): the rows that a query returns from the folder's database, SQLite or PostgreSQL. Each "?" in
// the statement stands for the next value.
export function rowsOf(data, statement, ...values) {
    if (!onPostgres) return inFile(data, { readOnly: true }, (database) => database.prepare(statement).all(...values));
    return JSON.parse(query(data, `SELECT coalesce(json_agg(t), '[]') FROM (${filled(statement, values)}) AS t`));
}

// execute(data, statement, ...values): runs a statement that returns no rows; the folder's server must not be running.
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
