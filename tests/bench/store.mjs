// SPDX-License-Identifier: Apache-2.0
// ./run bench store   p50 and p99 of the store's ten most common writes and reads, and of calls by 64 agents (4 minutes)
//
//     ./run bench store --before FOLDER    compares with a different build: FOLDER is build/release/bin of another checkout
//     ./run bench store --postgres         compares PostgreSQL with SQLite (5 minutes)
//
// The builds or engines take turns; the round with the smallest median counts, since other load on the machine only adds time.
// Without options, this build is measured against itself, which shows the measurement error. The data folders are in memory if
// /dev/shm exists, because the disk takes equally long for both builds, and its times vary more than the builds differ. With
// --postgres, they are in the system's folder for temporary files, so that both engines wait for a disk (unless that folder is in
// memory).
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { prepareDatabase } from '../e2e/support/database.mjs';
import { startSimserve } from '../e2e/support/harness.mjs';
import { runRound, startWorld } from './store_agents.mjs';

const { values: options } = parseArgs({ options: { before: { type: 'string' }, postgres: { type: 'boolean' } } });
const NOW = path.dirname(process.env.OPSBRAIN_BIN);
const TURNS = 8;

const sides = [{ title: options.postgres ? 'SQLite' : 'now', bin: NOW }];
if (options.postgres) sides.push({ title: 'PostgreSQL', bin: NOW, isPostgres: true });
if (options.before || !options.postgres) sides.unshift({ title: 'before', bin: options.before ?? NOW });

const folders = await mkdtemp(path.join(!options.postgres && existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'opsbrain-bench-'));
const endings = [() => rm(folders, { recursive: true })];
const t = { after: (end) => endings.unshift(end) }; // stands in for the context of a test

let number = 0;

// newPlace(side): {data, database}: a path for a new data folder, and the URI of an empty PostgreSQL schema, or "" for SQLite.
function newPlace({ isPostgres }) {
    const data = path.join(folders, String(++number));
    return { data, database: isPostgres ? prepareDatabase(data) : '' };
}

function percentile(sortedTimes, percent) {
    return sortedTimes[Math.floor((sortedTimes.length * percent) / 100)];
}

// For each operation, keeps each side's round with the smallest median.
class Table {
    rows = new Map();

    note(side, operation, p50, p99) {
        const row = this.rows.get(operation) ?? new Map();
        if (!(row.get(side)?.p50 <= p50)) row.set(side, { p50, p99 });
        this.rows.set(operation, row);
    }

    // print(unit): prints each side's figures and, from the second side on, the ratio of its median to the previous side's.
    print(unit) {
        const line = (name, cellsOf) => console.log(name.padEnd(18) + sides.flatMap(cellsOf).map((cell) => cell.padStart(15)).join(''));
        line(unit, ({ title }, i) => [`${title} p50`, 'p99', ...(i > 0 ? ['ratio'] : [])]);
        for (const [operation, row] of this.rows)
            line(operation, (side, i) => {
                const { p50, p99 } = row.get(side);
                return [p50, p99, ...(i > 0 ? [p50 / row.get(sides[i - 1]).p50] : [])].map((figure) => figure.toFixed(2));
            });
    }
}

async function measureStore() {
    const table = new Table();
    for (let turn = 0; turn < TURNS; turn++)
        for (const side of sides) {
            const { data, database } = newPlace(side);
            const { stdout } = await promisify(execFile)(path.join(side.bin, 'bench_store'), [data, ...(database ? [database] : [])]);
            for (const line of stdout.trim().split('\n')) {
                const [operation, p50, p99] = line.split(' ');
                table.note(side, operation, Number(p50), Number(p99));
            }
        }
    table.print('us');
}

async function measureAgents() {
    const table = new Table();
    const model = await startSimserve(t);
    for (const side of sides) {
        const { data, database } = newPlace(side);
        const env = { OPSBRAIN_DATABASE: database };
        side.world = await startWorld(t, { file: path.join(side.bin, 'opsbrain'), env, data }, model);
    }
    for (let turn = 0; turn < TURNS; turn++)
        for (const side of sides)
            for (const [tool, times] of await runRound(side.world)) {
                times.sort((a, b) => a - b);
                table.note(side, tool, percentile(times, 50), percentile(times, 99));
            }
    table.print('ms, 64 agents');
}

try {
    await measureStore();
    console.log();
    await measureAgents();
} finally {
    for (const end of endings) await end();
}
