// SPDX-License-Identifier: Apache-2.0
// A server with a copied database only reads its clouds, and a user can see and approve plans at the command line.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { output } from './support/command_line.mjs';
import { databaseSettings, execute, onPostgres, rowsOf } from './support/database.mjs';
import { OPSBRAIN, run, startServer, temporaryFolder } from './support/harness.mjs';

const ONLY_READS = /only reads the clouds until `opsbrain fleet resume`/;

const skip = onPostgres && 'with PostgreSQL, the database is not in the data folder';

test('a server with a copy of the data folder only reads the clouds until `opsbrain fleet resume` is run', { skip }, async (t) => {
    const folder = await temporaryFolder(t);
    const data = path.join(folder, 'data');
    for (let start = 0; start < 2; start++) {
        const server = await startServer(t, { data });
        assert.doesNotMatch(server.output(), ONLY_READS, 'a restart with the same folder is not a copy');
        await server.stop();
    }
    const copy = path.join(folder, 'copy');
    await cp(data, copy, { recursive: true });
    const copied = await startServer(t, { data: copy });
    assert.match(copied.output(), ONLY_READS);
    await copied.stop();
    const resume = (...flags) => output(OPSBRAIN, ['fleet', 'resume', '--data', copy, ...flags]);
    assert.match((await resume()).stdout, /changes what runs in its clouds again/);
    assert.deepEqual(JSON.parse((await resume('--json')).stdout), { resumed: true });
    const resumed = await startServer(t, { data: copy });
    assert.doesNotMatch(resumed.output(), ONLY_READS);
    const client = await connect('2x-2026', resumed.url);
    const { rows } = await client.call('audit_list', { tool: 'fleet resume' });
    assert.equal(rows.length, 2);
    await client.close();
});

test('plan show and plan approve refuse an id that no plan has', async (t) => {
    const server = await startServer(t, { data: path.join(await temporaryFolder(t), 'data') });
    for (const word of ['show', 'approve']) {
        const { code, output } = await run(['plan', word, 'pln_none', '--data', server.data]);
        assert.equal(code, 1);
        assert.match(output, /no plan has the id "pln_none": deployment_plan makes one/);
    }
});

// insertPlan(data, id): stores a plan as deployment_plan does, with a warning that contains an escape sequence for the terminal.
function insertPlan(data, id) {
    const body = { script: 'x'.repeat(4000), account: 'at-the-end-of-it' };
    const step = { summary: 'make it', method: 'POST', url: 'https://cloud.example/v1', body };
    const document = { advice: { warnings: ['\u001b[2Jevil'], lock: 'none' }, steps: [step] };
    const now = Date.now();
    execute(data, `INSERT INTO fleet_plans (id, digest, verb, deployment, target, target_revision, document, usd_known, usd_per_hour, ends_ms,
        at_end, state, reason, principal, created_ms, good_until_ms) VALUES (?, ?, 'apply', 'demo', 'cloud', 1, ?, 1, 2.5, 0, '', 'planned', '', 'agent', ?, ?)`,
    id, 'd'.repeat(64), JSON.stringify(document), now, now + 3_600_000);
}

test('plan approve prints the plan, and needs a "y" on a terminal or the digest of the plan', async (t) => {
    const data = path.join(await temporaryFolder(t), 'data');
    await (await startServer(t, { data })).stop();
    for (const id of ['pln_one', 'pln_two']) insertPlan(data, id);
    const env = databaseSettings(['--data', data]);
    const approve = (id, ...flags) => output(OPSBRAIN, ['plan', 'approve', id, '--data', data, ...flags], { env });
    const onTerminal = (id, input) => output('script', ['-qefc', `${OPSBRAIN} plan approve ${id} --data ${data}`, '/dev/null'], { env, input });
    const approvals = () => rowsOf(data, 'SELECT plan_id, way FROM fleet_approvals ORDER BY plan_id').map(({ plan_id: id, way }) => [id, way]);
    const unasked = await approve('pln_one');
    assert.equal(unasked.code, 1);
    assert.match(unasked.stdout, /^Plan pln_one: apply demo on cloud[^]*POST https:\/\/cloud\.example[^]*at-the-end-of-it/m);
    assert.match(unasked.stderr, /^opsbrain: there is no terminal to ask on: approve on a terminal, or [^\n]*--digest[^\n]*\n$/);
    assert.match((await approve('pln_one', '--digest', 'e'.repeat(64))).stderr, /^opsbrain: --digest is "e+", but the plan's digest is d+: read the plan again\n$/);
    assert.equal((await onTerminal('pln_one', 'n\n')).code, 1);
    assert.deepEqual(approvals(), []);

    const agreed = await onTerminal('pln_one', 'y\n');
    assert.equal(agreed.code, 0, agreed.stdout);
    assert.match(agreed.stdout, /Agree to this plan\? \[y\/N\] [^]*approved: to carry the plan out, run `opsbrain apply pln_one`/);
    assert.doesNotMatch(agreed.stdout, /\x1b\[2J/);
    assert.equal((await approve('pln_two', '--digest', 'd'.repeat(64))).code, 0);
    assert.deepEqual(approvals(), [['pln_one', 'command line'], ['pln_two', 'command line']]);
    assert.equal((await approve('pln_one', '--digst', 'x')).code, 2);
});

test('plan show --json prints the plan as plan_show returns it, and plan approve --json shows it on stderr', async (t) => {
    const data = path.join(await temporaryFolder(t), 'data');
    await (await startServer(t, { data })).stop();
    insertPlan(data, 'pln_one');
    const plan = (...args) => output(OPSBRAIN, ['plan', ...args, '--data', data, '--json'], { env: databaseSettings(['--data', data]) });
    const { good_until: until, ...shown } = JSON.parse((await plan('show', 'pln_one')).stdout);
    assert.ok(Date.parse(until) > Date.now());
    assert.deepEqual([shown.plan, shown.state, shown.usd_per_hour, shown.waits, shown.approvals], ['pln_one', 'planned', 2.5, true, undefined]);
    assert.equal(shown.requests[0].url, 'https://cloud.example/v1');
    const unasked = await plan('approve', 'pln_one');
    assert.deepEqual([unasked.code, unasked.stdout], [1, '']);
    const { stdout, stderr } = await plan('approve', 'pln_one', '--digest', shown.digest);
    assert.match(stderr, /^Plan pln_one: apply demo on cloud[^]*POST https:\/\/cloud\.example/m);
    assert.deepEqual(JSON.parse(stdout).approvals.map(({ principal, way }) => [principal, way]), [['local', 'command line']]);
    const server = await startServer(t, { data });
    const client = await connect('2x-2026', server.url);
    const { approvals, good_until: same, ...tool } = await client.call('plan_show', { plan: 'pln_one' });
    await client.close();
    const comparable = ({ next_step: step, foreign_text: foreign, page, ...rest }) => rest;
    assert.deepEqual([same, comparable(tool)], [until, comparable(shown)]);
});
