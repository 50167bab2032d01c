// SPDX-License-Identifier: Apache-2.0
// Reads cells, attempts and calls from a server's database, whether or not the server is running.
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onPostgres, rowsOf } from './database.mjs';

const CELLS = `
    SELECT cells.position, cells.concurrency, cells.input_tokens, cells.state, cells.attempt_id, attempts.number,
           attempts.workload_digest, attempts.measurement,
           (SELECT count(*) FROM attempts AS each WHERE each.cell_id = cells.id) AS attempts
    FROM cells LEFT JOIN attempts ON attempts.id = cells.attempt_id
    WHERE cells.sweep_id = ? ORDER BY cells.position`;

const ATTEMPTS = `
    SELECT attempts.id, attempts.state, attempts.number, attempts.started_ms, attempts.finished_ms, cells.position
    FROM attempts JOIN cells ON cells.id = attempts.cell_id
    WHERE cells.sweep_id = ? ORDER BY attempts.id`;

// readLedger(data, sweep): {integrity, cells, attempts} of one sweep. It reads a copy of the SQLite files, because opening the
// originals could change them before the next server opens them. `integrity` is the result of SQLite's integrity check; it is
// 'ok' for PostgreSQL, which has no such check.
export async function readLedger(data, sweep) {
    if (onPostgres)
        return { integrity: 'ok', cells: rowsOf(data, CELLS, sweep), attempts: rowsOf(data, ATTEMPTS, sweep) };
    const folder = await mkdtemp(path.join(tmpdir(), 'opsbrain-ledger-'));
    try {
        const copy = path.join(folder, 'opsbrain.db');
        await copyFile(path.join(data, 'opsbrain.db'), copy);
        await copyFile(path.join(data, 'opsbrain.db-wal'), `${copy}-wal`).catch(() => {});
        const database = new DatabaseSync(copy);
        const integrity = database.prepare('PRAGMA integrity_check').get().integrity_check;
        const cells = database.prepare(CELLS).all(sweep);
        const attempts = database.prepare(ATTEMPTS).all(sweep);
        database.close();
        return { integrity, cells, attempts };
    } finally {
        await rm(folder, { recursive: true });
    }
}

const COUNTS = `
    SELECT attempts.state, count(*) AS count FROM attempts JOIN cells ON cells.id = attempts.cell_id
    WHERE cells.sweep_id = ? GROUP BY attempts.state`;

// watch(data, query, value): {rows, close}. rows() runs the query on the live database, with `value` in place of its "?".
function watch(data, query, value) {
    if (onPostgres) return { rows: () => rowsOf(data, query, value), close: () => {} };
    const database = new DatabaseSync(path.join(data, 'opsbrain.db'), { readOnly: true });
    const statement = database.prepare(query);
    return { rows: () => statement.all(value), close: () => database.close() };
}

// watchLedger(data, sweep): {counts, close}. counts() returns how many of the sweep's attempts are in each state.
export function watchLedger(data, sweep) {
    const { rows, close } = watch(data, COUNTS, sweep);
    return { counts: () => Object.fromEntries(rows().map(({ state, count }) => [state, count])), close };
}

// watchCalls(data, session): {calls, close}. calls() returns the session's calls that are answered with a stream.
export function watchCalls(data, session) {
    const { rows, close } = watch(data, 'SELECT * FROM event_calls WHERE session = ?', session);
    return { calls: rows, close };
}
