// SPDX-License-Identifier: Apache-2.0
// 100 kills under 20 clients: what was acknowledged is there afterwards, nothing is there twice, and the audit log's chain
// is intact after each kill. OPSBRAIN_KILLS sets another number.
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, post, run, startServer, startSimserve } from '../e2e/harness.mjs';

const KILLS = Number(process.env.OPSBRAIN_KILLS ?? 100);
const CLIENTS = 20;
const LIFE_MS = 600; // of a server, at most, from being ready to being killed
const CSV = 'concurrency,input_tokens,output_tokens_per_second\n1,16,50\n4,16,190\n';

let number = 0;

// call(server, name, arguments): the structured content of an acknowledged call; undefined where the server died meanwhile.
async function call(server, name, args) {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    const message = { jsonrpc: '2.0', id: ++number, method: 'tools/call', params: { name, arguments: args, _meta: meta } };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
    const answer = await post(server.port, message, headers).catch(() => undefined);
    if (answer?.status !== 200) return undefined;
    const json = answer.headers['content-type'].startsWith('text/event-stream')
        ? answer.body.split('\n').findLast((line) => line.startsWith('data: {'))?.slice(6)
        : answer.body;
    const result = json && JSON.parse(json).result;
    assert.ok(!result || !result.isError || !/internal error/.test(json), json);
    return result && !result.isError ? result.structuredContent : undefined;
}

// What each client does in turns; it notes what was acknowledged, by the row that must exist.
const DEEDS = [
    async ({ server, model, noted }, client) => {
        const name = `d${client}-${++number}`;
        if (await call(server, 'deployment_register', { name, url: model.url })) {
            noted.deployments.set(name, '');
            return name;
        }
    },
    async ({ server, noted }, client) => {
        const own = [...noted.deployments.keys()].filter((name) => name.startsWith(`d${client}-`)).at(-1);
        const hardware = `1x number ${++number}`;
        if (!own) return;
        const before = noted.deployments.get(own);
        noted.deployments.set(own, [before, hardware].flat()); // until it is acknowledged, either row may exist
        if (await call(server, 'deployment_update', { deployment: own, hardware })) noted.deployments.set(own, hardware);
    },
    async ({ server, noted }) => {
        const key = `key-${++number}`;
        const args = { deployment: 'sim', concurrency: [1], input_tokens: [16], output_tokens: [4], window_s: 1, idempotency_key: key };
        const first = await call(server, 'sweep_start', args);
        if (first) noted.sweeps.set(key, first.sweep.id);
        const again = await call(server, 'sweep_start', args);
        if (first && again) assert.equal(again.sweep.id, first.sweep.id, 'one key, two sweeps');
        if (first) await call(server, 'sweep_cancel', { sweep: first.sweep.id });
    },
    async ({ server, noted }) => {
        const name = `import-${++number}.csv`;
        if (await call(server, 'run_import', { name, text: CSV.replace('190', String(100 + number)) })) noted.imports.add(name);
    },
];

async function live(world, client) {
    for (let i = client; !world.over; i++) {
        if (world.dead) await sleep(20);
        else await DEEDS[i % DEEDS.length](world, client);
    }
}

// check(world): with the server dead, its files are whole and hold all that was acknowledged.
function check({ server, noted }, kill) {
    const database = new DatabaseSync(path.join(server.data, 'opsbrain.db'));
    const rows = (sql, ...values) => database.prepare(sql).all(...values);
    assert.equal(rows('PRAGMA integrity_check')[0].integrity_check, 'ok');
    const hardware = new Map(
        rows(`SELECT d.name, r.hardware FROM deployments d JOIN deployment_revisions r ON r.deployment_id = d.id
              WHERE r.revision = (SELECT max(revision) FROM deployment_revisions WHERE deployment_id = d.id)`)
            .map((row) => [row.name, row.hardware]),
    );
    for (const [name, expected] of noted.deployments) {
        assert.ok(hardware.has(name), `kill ${kill}: deployment ${name} is lost`);
        assert.ok([expected].flat().includes(hardware.get(name)), `kill ${kill}: ${name} is ${hardware.get(name)}, not ${expected}`);
    }
    const sweeps = new Set(rows('SELECT id FROM sweeps').map(({ id }) => id));
    for (const [key, id] of noted.sweeps) assert.ok(sweeps.has(id), `kill ${kill}: sweep ${id} of ${key} is lost`);
    const imports = rows('SELECT name FROM imports').map(({ name }) => name);
    for (const name of noted.imports) assert.equal(imports.filter((each) => each === name).length, 1, `kill ${kill}: ${name}`);
    const changes = Number(rows(`SELECT count(*) AS n FROM audit WHERE outcome = 'ok'`)[0].n);
    database.close();
    return changes;
}

test(`${KILLS} kills under ${CLIENTS} clients lose nothing that was acknowledged`, { timeout: 3_600_000 }, async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t, { args: ['--log-requests=false', '--rate-per-principal=0'] });
    const noted = { deployments: new Map(), sweeps: new Map(), imports: new Set() };
    const world = { server, model, noted, over: false, dead: false };
    atEnd(t, async () => (world.over = true));
    await call(server, 'deployment_register', { name: 'sim', url: model.url });

    const clients = Array.from({ length: CLIENTS }, (_, client) => live(world, client));
    let changes = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
        await sleep(Math.random() * LIFE_MS);
        world.dead = true;
        await server.program.kill();
        const verified = await run(['audit-log', 'verify', '--data', server.data]);
        assert.equal(verified.code, 0, `kill ${kill}: ${verified.output}`);
        changes = check(world, kill);
        await server.start();
        world.dead = false;
    }
    world.over = true;
    await Promise.all(clients);
    const { deployments, sweeps, imports } = noted;
    t.diagnostic(`${deployments.size} deployments, ${sweeps.size} sweeps, ${imports.size} imports, ${changes} changes in the audit`);
    assert.ok(deployments.size + sweeps.size + imports.size > KILLS, 'too little was acknowledged to say anything');
});
