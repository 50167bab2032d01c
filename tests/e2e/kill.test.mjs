// SPDX-License-Identifier: Apache-2.0
// kill -9 of the server at various moments of a sweep: no measured cell is lost, none is measured again, and the
// figures agree with those of an undisturbed sweep.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from './support/clients.mjs';
import { startServer, startSimserve, until } from './support/harness.mjs';
import { readLedger, watchLedger } from './support/ledger.mjs';

// With 50 kills or more, as in `./run kill`, there are more cells and longer windows, and the figures must agree closely. With
// fewer, as in `./run test`, sanitizers and other work can stall the program, so the figures are compared only roughly.
const KILLS = Number(process.env.OPSBRAIN_KILLS ?? 6);
const FULL = KILLS >= 50;
const WINDOW_S = FULL ? 3 : 1;
const ALLOWED = FULL ? { ms: 1, share: 0.02 } : { ms: 20, share: 0.5 };
const PLAN = {
    deployment: 'sim',
    concurrency: FULL ? [1, 2, 4] : [1, 4],
    input_tokens: FULL ? [16, 64, 256] : [16, 256],
    output_tokens: [40],
    repetitions: 1,
    window_s: WINDOW_S,
    warmup_limit_s: 1,
    api: 'completions',
    seed: 7,
};
const SWEEP_MS = 240_000;

// The moments at which the server is killed. Each function waits for its moment; `typical` is the usual length of an attempt in ms.
const MOMENTS = {
    'at any time': async () => sleep(Math.random() * 1500 * WINDOW_S),
    'as an attempt begins': async (watch) => untilCount(watch, 'running', (before, now) => now > 0),
    'as a cell is committed': async (watch) => untilCount(watch, 'accepted', (before, now) => now > before),
    'about when a cell is committed': async (watch, typical) => {
        await untilCount(watch, 'running', (before, now) => now > 0);
        await sleep(typical - 20 + Math.random() * 40);
    },
};

// untilCount(watch, state, reached): waits until reached(before, now) is true, or the sweep is done. `before`: the number of attempts
// in this state when untilCount was called; `now`: the present number.
async function untilCount({ counts, done }, state, reached) {
    const before = counts()[state] ?? 0;
    await until(`an attempt to be ${state}`, () => reached(before, counts()[state] ?? 0) || done(), 60_000);
}

test(`${KILLS} kills lose no measured cell, repeat none, and hardly change a figure`, { timeout: 1_200_000 }, async (t) => {
    const model = await startSimserve(t, ['--ttft-ms', '40', '--step-ms', '2', '--jitter', '0']);
    const calm = await startServer(t);
    await register(calm, model);
    const reference = await finish(calm, await start(calm));
    const typical = median(reference.attempts.map((attempt) => attempt.finished_ms - attempt.started_ms));
    await calm.stop();

    const server = await startServer(t);
    await register(server, model);
    let interrupted = 0;
    for (let kills = 0; kills < KILLS; ) {
        const sweep = await start(server);
        kills += await killUntilDone(server, sweep, KILLS - kills, typical, kills);
        const ledger = await finish(server, sweep);
        compare(ledger, reference);
        const marked = ledger.attempts.filter(({ state }) => state === 'interrupted').length;
        assert.equal(await countInterrupted(server, sweep), marked);
        interrupted += marked;
    }
    t.diagnostic(`${interrupted} attempts were interrupted`);
    assert.ok(interrupted > 0);
});

test('a kill after the last cell loses no result, even if the model server is gone', async (t) => {
    const { server, model, sweep } = await startShort(t, [1]);
    const watch = watchLedger(server.data, sweep);
    await untilCount({ ...watch, done: () => false }, 'accepted', (before, now) => now === 1);
    await Promise.all([server.program.kill(), model.program.stop()]);
    watch.close();
    await server.start();
    const { cells } = await finish(server, sweep);
    assert.equal(cells[0].state, 'measured');
});

test('a sweep whose model server is down when opsbrain restarts, as after a reboot, waits until it is up', async (t) => {
    const { server, model, sweep } = await startShort(t, [1, 2]);
    const watch = watchLedger(server.data, sweep);
    await untilCount({ ...watch, done: () => false }, 'accepted', (before, now) => now === 1);
    await Promise.all([server.program.kill(), model.program.stop()]);
    watch.close();
    await server.start();
    const client = await connect('2x-2026', server.url);
    const { sweep: shown } = await client.call('sweep_show', { sweep });
    await until('the sweep to wait', async () => {
        const { job } = await client.call('job_show', { job: shown.job });
        assert.equal(job.state, 'running', JSON.stringify(job));
        return /waiting for the server: .*connect_refused/.test(job.message);
    });
    await client.close();
    await startSimserve(t, [], model.port);
    const { cells } = await finish(server, sweep);
    assert.deepEqual(cells.map(({ state }) => state), ['measured', 'measured']);
});

// startShort(t, concurrency): starts a sweep with one short cell for each number of users in `concurrency`.
async function startShort(t, concurrency) {
    const model = await startSimserve(t);
    const server = await startServer(t);
    await register(server, model);
    const sweep = await start(server, { ...PLAN, concurrency, input_tokens: [16] });
    return { server, model, sweep };
}

async function register(server, model) {
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: model.url });
    await client.close();
}

async function start(server, plan = PLAN) {
    const client = await connect('2x-2026', server.url);
    const { sweep } = await client.call('sweep_start', plan);
    await client.close();
    return sweep.id;
}

// killUntilDone(...): kills the server again and again, at each of the MOMENTS in turn, until the sweep is done or there have been
// `enough` kills; returns the number of kills. `earlier` is the number of kills in earlier sweeps: the MOMENTS continue from there.
async function killUntilDone(server, sweep, enough, typical, earlier) {
    const names = Object.keys(MOMENTS);
    for (let kills = 0; kills < enough; kills++) {
        const total = PLAN.concurrency.length * PLAN.input_tokens.length;
        const watch = watchLedger(server.data, sweep);
        watch.done = () => (watch.counts().accepted ?? 0) === total;
        const moment = names[(earlier + kills) % names.length];
        await MOMENTS[moment](watch, typical);
        const done = watch.done();
        watch.close();
        if (done) return kills;
        await server.program.kill();
        const before = await readLedger(server.data, sweep);
        await server.start();
        const after = await afterTakeover(server, sweep, before);
        checkNothingLost(moment, before, after);
    }
    return enough;
}

// afterTakeover(server, sweep, before): waits until each attempt that the killed process left running is marked as interrupted.
// Returns the ledger, which is what the database has about the sweep's cells and attempts.
function afterTakeover(server, sweep, before) {
    const dead = new Set(before.attempts.filter((each) => each.state === 'running').map((each) => each.id));
    return until('the interrupted attempt to be marked', async () => {
        const ledger = await readLedger(server.data, sweep);
        const marked = ledger.attempts.filter((each) => dead.has(each.id) && each.state === 'interrupted');
        return marked.length === dead.size && ledger;
    });
}

// checkNothingLost(moment, before, after): checks that both ledgers are intact, and that the committed cells are unchanged.
function checkNothingLost(moment, before, after) {
    assert.equal(before.integrity, 'ok', moment);
    assert.equal(after.integrity, 'ok', moment);
    for (const cell of before.cells.filter((each) => each.attempt_id !== null))
        assert.deepEqual(after.cells[cell.position], cell, `killed ${moment}`);
}

// finish(server, sweep): waits until the sweep is completed; returns its ledger.
async function finish(server, sweep) {
    const client = await connect('2x-2026', server.url);
    await until(
        `the end of ${sweep}`,
        async () => {
            const { state, reason } = (await client.call('sweep_show', { sweep })).sweep;
            assert.ok(!['failed', 'stopped', 'cancelled'].includes(state), `${state}: ${reason}`);
            return state === 'completed';
        },
        SWEEP_MS,
    );
    await client.close();
    return readLedger(server.data, sweep);
}

// countInterrupted(server, sweep): how many interrupted attempts sweep_show lists.
async function countInterrupted(server, sweep) {
    const client = await connect('2x-2026', server.url);
    const { interrupted } = await client.call('sweep_show', { sweep });
    await client.close();
    return interrupted.length;
}

// compare(ledger, reference): checks that each cell was measured in its last attempt, and that its prompts and figures agree with
// those of the undisturbed sweep.
function compare(ledger, reference) {
    assert.equal(ledger.cells.length, reference.cells.length);
    for (const [i, cell] of ledger.cells.entries()) {
        const where = `concurrency ${cell.concurrency}, ${cell.input_tokens} tokens`;
        assert.equal(cell.state, 'measured', where);
        assert.equal(cell.number, cell.attempts, `measured again: ${where}`);
        assert.equal(cell.workload_digest, reference.cells[i].workload_digest, `different prompts: ${where}`);
        compareFigures(JSON.parse(cell.measurement), JSON.parse(reference.cells[i].measurement), cell.concurrency, where);
    }
    for (const attempt of ledger.attempts) assert.match(attempt.state, /^(accepted|interrupted)$/);
}

// compareFigures(one, other, users, where): compares medians and rates. Each is allowed to differ by ALLOWED.share of the other value.
// If that is more, a median is allowed to differ by ALLOWED.ms, and a rate by one request per user in the window, because the end
// of the window interrupts each user's last request.
function compareFigures(one, other, users, where) {
    for (const metric of ['ttft', 'itl', 'tpot', 'e2e'])
        near(one.latency[metric].p50_ms, other.latency[metric].p50_ms, ALLOWED.ms, `${metric}, ${where}`);
    for (const [rate, perRequest] of [['request_throughput', 1], ['output_throughput', PLAN.output_tokens[0]]])
        near(one.rates[rate], other.rates[rate], (users * perRequest) / PLAN.window_s, `${rate}, ${where}`);
}

function near(one, other, least, what) {
    const allowed = Math.max(least, Math.abs(other) * ALLOWED.share);
    assert.ok(Math.abs(one - other) <= allowed, `${what}: ${one}, but ${other} in the undisturbed sweep`);
}

function median(values) {
    return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
