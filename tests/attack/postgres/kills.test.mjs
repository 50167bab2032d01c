// SPDX-License-Identifier: Apache-2.0
// During tool calls, uploads, sweeps and deployments, opsbrain is killed, and its PostgreSQL is killed, restarted, cut off and
// delayed. Afterwards, everything that was acknowledged is stored, nothing is stored twice, no answer was wrong, and everything
// continues by itself. OPSBRAIN_KILLS is the number of kills of opsbrain. OTHERS is two fifths of this number, rounded up: PostgreSQL is
// restarted OTHERS times, killed OTHERS times and, with toxiproxy, cut off or delayed OTHERS times.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloudSettings, startCloud } from '../../clouds/clouds.mjs';
import { request, run, startServer, startSimserve, until } from '../../e2e/support/harness.mjs';
import { POOLER, findPostgres, startPooler, startPostgres, startToxiproxy } from '../../e2e/support/postgres_server.mjs';
import { callTool, checkNoted, countNoted, describeNoted, startWork } from '../at_work.mjs';
import { startFleetAtWork } from '../deployers.mjs';

const KILLS = Number(process.env.OPSBRAIN_KILLS ?? 50);
const OTHERS = Math.ceil((KILLS * 2) / 5);
const { TOXIPROXY } = process.env; // the path of toxiproxy's server; '' or undefined: it is not used
const CLIENTS = 12;
const PROVIDER = 'cloud_run';
const PAUSE_MS = 1000; // the longest pause before an event
const READY_MS = 60_000;
const PLAN = { deployment: 'measured', concurrency: [1, 2], input_tokens: [16], output_tokens: [8], window_s: 1, warmup_limit_s: 0 };

const EVENTS = {
    'kill -9 of opsbrain': async ({ world, fleet, server, postgres, env }) => {
        world.dead = true;
        await server.program.kill();
        await fleet.approvalsEnd();
        const verified = await run(['audit-log', 'verify', '--data', server.data], env);
        assert.equal(verified.code, 0, verified.output);
        checkNoted(world, postgres.rows, 'after a kill of opsbrain');
        fleet.check(postgres.rows, 'after a kill of opsbrain');
        await server.start();
        world.dead = false;
    },
    'restart of PostgreSQL': ({ postgres }) => postgres.restart(),
    'kill -9 of PostgreSQL': ({ postgres }) => postgres.killAndRestart(),
    partition: ({ proxy }) => proxy.whileCutOff(() => sleep(500 + Math.random() * 5500)),
    delay: ({ proxy }) => proxy.whileDelayed(200 + Math.floor(Math.random() * 800), () => sleep(3000)),
};

const isReady = async (server) => (await request(server.port, { path: '/ready' }).catch(() => ({}))).status === 200;

// shuffledEvents(): the names of the events in random order, each repeated as often as the event is to happen.
function shuffledEvents() {
    const times = { 'kill -9 of opsbrain': KILLS, 'restart of PostgreSQL': OTHERS, 'kill -9 of PostgreSQL': OTHERS };
    if (TOXIPROXY) Object.assign(times, { partition: Math.ceil(OTHERS / 2), delay: Math.floor(OTHERS / 2) });
    return Object.entries(times)
        .flatMap(([name, count]) => Array.from({ length: count }, () => [Math.random(), name]))
        .toSorted(([a], [b]) => a - b)
        .map(([, name]) => name);
}

// measure(world, sweeps): runs one sweep after another, each to its end, and adds their ids to `sweeps`. No other client measures
// the deployment of PLAN.
async function measure(world, sweeps) {
    while (!world.over) {
        const started = world.dead ? undefined : await callTool(world.server, 'sweep_start', { ...PLAN, idempotency_key: `m-${sweeps.size}` });
        if (!started) {
            await sleep(100);
            continue;
        }
        sweeps.add(started.sweep.id);
        await until('a sweep to end', async () => {
            const shown = await callTool(world.server, 'sweep_show', { sweep: started.sweep.id });
            return world.over || ['completed', 'failed', 'stopped', 'cancelled'].includes(shown?.sweep.state);
        }, 300_000);
    }
}

// checkSweeps(postgres, sweeps): asserts that every cell of each finished sweep is measured, with exactly one accepted attempt;
// returns the number of finished sweeps.
function checkSweeps(postgres, sweeps) {
    const cells = postgres.rows(`SELECT s.id, s.state, c.state AS cell, (SELECT count(*) FROM attempts a WHERE a.cell_id = c.id
                                     AND a.state = 'accepted') AS accepted
                                 FROM sweeps s JOIN cells c ON c.sweep_id = s.id`).filter(({ id }) => sweeps.has(id));
    const ofFinished = cells.filter(({ state }) => state !== 'planned' && state !== 'running');
    for (const each of ofFinished)
        assert.deepEqual({ ...each, id: '' }, { id: '', state: 'completed', cell: 'measured', accepted: 1 }, each.id);
    return ofFinished.length / PLAN.concurrency.length;
}

async function runEvents(t, pooled) {
    const postgres = await startPostgres(t, await findPostgres());
    const proxy = TOXIPROXY && (await startToxiproxy(t, TOXIPROXY, postgres.port));
    const at = proxy?.port ?? postgres.port;
    const port = pooled ? await startPooler(t, `host=127.0.0.1 port=${at} user=postgres`) : at;
    const env = { OPSBRAIN_DATABASE: `postgresql://postgres@127.0.0.1:${port}/postgres` };
    const model = await startSimserve(t);
    const cloud = await startCloud(t, PROVIDER);
    const { args } = await cloudSettings(t, cloud);
    const server = await startServer(t, { args: [...args, '--log-requests=false', '--rate-per-principal=0'], env });
    const world = await startWork(t, server, model, CLIENTS);
    const fleet = await startFleetAtWork(t, world, cloud);
    const measured = await startSimserve(t);
    await callTool(server, 'deployment_register', { name: PLAN.deployment, url: measured.url });
    const sweeps = new Set();
    const measuring = measure(world, sweeps);
    measuring.catch((error) => (world.failure = error));
    let slowest = 0;
    for (const name of shuffledEvents()) {
        await sleep(Math.random() * PAUSE_MS);
        await EVENTS[name]({ world, fleet, server, postgres, proxy, env });
        const begun = performance.now();
        await until(`opsbrain to be ready after: ${name}`, () => isReady(server), READY_MS);
        slowest = Math.max(slowest, performance.now() - begun);
        if (world.failure) throw world.failure;
    }
    await world.end();
    await measuring;
    await fleet.end(postgres.rows);
    const changes = checkNoted(world, postgres.rows, 'at the end');
    const finished = checkSweeps(postgres, sweeps);
    t.diagnostic(`${describeNoted(world, changes)}, ${finished} sweeps measured, ${fleet.describe()}; ready again after ${(slowest / 1000).toFixed(1)} s at most`);
    assert.ok(countNoted(world) > KILLS, 'too little was acknowledged for a meaningful test');
    await server.stop();
}

const missing = (await findPostgres()) ? false : 'PostgreSQL is not installed';
const cuts = TOXIPROXY ? `, ${OTHERS} partitions and delays` : '';
const title = `${KILLS} kills of opsbrain, ${OTHERS} restarts and ${OTHERS} kills of PostgreSQL${cuts}`;

test(`${title} lose nothing that was acknowledged`, { skip: missing, timeout: 3_600_000 }, (t) => runEvents(t, false));

const poolerMissing = missing || (existsSync(POOLER) ? false : 'pgbouncer is not installed');

test(`${title}, through pgbouncer, lose nothing that was acknowledged`, { skip: poolerMissing, timeout: 3_600_000 }, (t) => runEvents(t, true));
