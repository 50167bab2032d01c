// SPDX-License-Identifier: Apache-2.0
// The server is killed 100 times while 20 clients use it. After each kill, everything that was acknowledged is stored, nothing is
// stored twice, and the audit log's chain is intact. OPSBRAIN_KILLS sets a different number of kills.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, startServer, startSimserve } from '../e2e/support/harness.mjs';
import { checkNoted, countNoted, describeNoted, startWork } from './at_work.mjs';

const KILLS = Number(process.env.OPSBRAIN_KILLS ?? 100);
const CLIENTS = 20;
const LIFE_MS = 600; // the longest time for which the server runs before it is killed

// check(world, when): asserts, while the server is dead, that its database is intact and has everything that was acknowledged.
function check(world, when) {
    const database = new DatabaseSync(path.join(world.server.data, 'opsbrain.db'));
    const rows = (query) => database.prepare(query).all();
    assert.equal(rows('PRAGMA integrity_check')[0].integrity_check, 'ok');
    const changes = checkNoted(world, rows, when);
    database.close();
    return changes;
}

test(`${KILLS} kills of a server with ${CLIENTS} clients lose nothing that was acknowledged`, { timeout: 3_600_000 }, async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t, { args: ['--log-requests=false', '--rate-per-principal=0'] });
    const world = await startWork(t, server, model, CLIENTS);
    let changes = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
        await sleep(Math.random() * LIFE_MS);
        world.dead = true;
        await server.program.kill();
        const verified = await run(['audit-log', 'verify', '--data', server.data]);
        assert.equal(verified.code, 0, `kill ${kill}: ${verified.output}`);
        changes = check(world, `kill ${kill}`);
        await server.start();
        world.dead = false;
    }
    await world.end();
    t.diagnostic(describeNoted(world, changes));
    assert.ok(countNoted(world) > KILLS, 'too little was acknowledged for a meaningful test');
});
