// SPDX-License-Identifier: Apache-2.0
// Which database a server of the tests has: the files of its folder, or, where OPSBRAIN_TEST_DATABASE is the URI of a
// PostgreSQL database, a schema of the folder's own in it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

const { OPSBRAIN_TEST_DATABASE: SERVER } = process.env;

export const onPostgres = SERVER !== undefined;

const schemaOf = (data) => `e${createHash('sha256').update(data).digest('hex').slice(0, 16)}`;

const psql = (place, statement) => execFileSync('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', place, '-c', statement], { encoding: 'utf8' });

const placeOf = (data) => `${SERVER}${SERVER.includes('?') ? '&' : '?'}options=-csearch_path%3D${schemaOf(data)}`;

// databaseSettings(args): what the environment of `opsbrain ... --data FOLDER` needs for it.
export function databaseSettings(args) {
    const data = args[args.indexOf('--data') + 1];
    if (!onPostgres || !args.includes('--data')) return {};
    psql(SERVER, `SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS ${schemaOf(data)}`);
    return { OPSBRAIN_DATABASE: placeOf(data) };
}

// selectFrom(data, query, text): the rows of a query with one parameter "?", a text.
export function selectFrom(data, query, text) {
    const literal = `'${String(text).replaceAll("'", "''")}'`;
    const rows = `SELECT coalesce(json_agg(t), '[]') FROM (${query.replace('?', literal)}) AS t`;
    return JSON.parse(psql(placeOf(data), rows));
}
