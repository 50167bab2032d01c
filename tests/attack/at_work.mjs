// SPDX-License-Identifier: Apache-2.0
// Clients that use the server while it, or its database, is killed and restarted. They record what the server acknowledged.
// Afterwards, all of it must be stored exactly once.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, post } from '../e2e/support/harness.mjs';

const CSV = 'concurrency,input_tokens,output_tokens_per_second\n1,16,50\n4,16,190\n';

const UPLOAD_LINES = 40;
const UPLOAD_PAUSE_MS = 10;

let number = 0;

// upload(server, name, text): uploads the file; returns whether the server acknowledged that it was stored. The file is sent in
// pieces, so that the server can be killed meanwhile.
async function upload(server, name, text) {
    const pieces = async function* () {
        for (const piece of text.match(/[^]{1,64}/g)) {
            yield Buffer.from(piece);
            await sleep(UPLOAD_PAUSE_MS);
        }
    };
    const url = `http://127.0.0.1:${server.port}/v1/imports?name=${name}`;
    const answer = await fetch(url, { method: 'POST', body: pieces(), duplex: 'half' }).catch(() => undefined);
    const body = await answer?.text().catch(() => undefined);
    assert.ok(body === undefined || answer.status < 400 || answer.status === 503, body);
    return body !== undefined && answer.ok;
}

// callTool(server, name, args): calls a tool; returns the structured content of its answer, or undefined if the call failed.
export async function callTool(server, name, args) {
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

const latestDeployment = ({ noted }, client) =>
    [...noted.deployments.keys()].filter((name) => name.startsWith(`d${client}-`)).at(-1);

// The actions that each client takes in turn. Once a change is acknowledged, the action records in `noted` the row that must
// exist.
const ACTIONS = [
    async ({ server, model, noted }, client) => {
        const name = `d${client}-${++number}`;
        if (await callTool(server, 'deployment_register', { name, url: model.url })) noted.deployments.set(name, '');
    },
    async (world, client) => {
        const name = latestDeployment(world, client);
        const hardware = `1x number ${++number}`;
        if (!name) return;
        const before = world.noted.deployments.get(name);
        // Until the update is acknowledged, the old or the new value can be stored.
        world.noted.deployments.set(name, [before, hardware].flat());
        if (await callTool(world.server, 'deployment_update', { deployment: name, hardware })) world.noted.deployments.set(name, hardware);
    },
    async (world, client) => {
        const name = latestDeployment(world, client);
        const shown = name && (await callTool(world.server, 'deployment_show', { deployment: name }));
        if (!shown) return;
        const { hardware = '' } = shown.deployment;
        assert.ok([world.noted.deployments.get(name)].flat().includes(hardware), `${name} is shown with "${hardware}"`);
        world.noted.reads++;
    },
    async ({ server, noted }) => {
        const key = `key-${++number}`;
        const args = { deployment: 'sim', concurrency: [1], input_tokens: [16], output_tokens: [4], window_s: 1, idempotency_key: key };
        const first = await callTool(server, 'sweep_start', args);
        if (first) noted.sweeps.set(key, first.sweep.id);
        const again = await callTool(server, 'sweep_start', args);
        if (first && again) assert.equal(again.sweep.id, first.sweep.id, 'one idempotency key, two sweeps');
        if (first) await callTool(server, 'sweep_cancel', { sweep: first.sweep.id });
    },
    async ({ server, noted }) => {
        const name = `import-${++number}.csv`;
        if (await callTool(server, 'run_import', { name, text: CSV.replace('190', String(100 + number)) })) noted.imports.add(name);
    },
    async ({ server, noted }) => {
        const name = `upload-${++number}.csv`;
        const lines = Array.from({ length: UPLOAD_LINES }, (_, i) => `${i + 1},16,${number + i}\n`);
        const text = `concurrency,input_tokens,output_tokens_per_second\n${lines.join('')}`;
        const send = () => upload(server, name, text);
        if ((await send()) || (await send())) noted.uploads.add(name); // even if the server receives both, it stores the file only once
    },
];

async function runClient(world, client) {
    for (let i = client; !world.over; i++) {
        if (world.dead) await sleep(20);
        else await ACTIONS[i % ACTIONS.length](world, client);
    }
}

// startWork(t, server, model, count): starts `count` clients. Returns a world, with what the clients have `noted` and with the
// `failure` of a client, if there was one. While `dead` is true, the clients pause. end() sets `over` and waits for the clients.
export async function startWork(t, server, model, count) {
    const noted = { deployments: new Map(), sweeps: new Map(), imports: new Set(), uploads: new Set(), reads: 0 };
    const world = { server, model, noted, over: false, dead: false };
    atEnd(t, async () => (world.over = true));
    await callTool(server, 'deployment_register', { name: 'sim', url: model.url });
    const clients = Promise.all(Array.from({ length: count }, (_, client) => runClient(world, client)));
    clients.catch((error) => (world.failure = error));
    world.end = async () => {
        world.over = true;
        await clients;
    };
    return world;
}

// checkNoted(world, rows, when): asserts that everything acknowledged is in the database, exactly once; returns the number of rows
// in the audit log with the outcome `ok`. rows(query) returns the result of a query.
export function checkNoted({ noted, failure }, rows, when) {
    if (failure) throw failure;
    const hardware = new Map(
        rows(`SELECT d.name, r.hardware FROM deployments d JOIN deployment_revisions r ON r.deployment_id = d.id
              WHERE r.revision = (SELECT max(revision) FROM deployment_revisions WHERE deployment_id = d.id)`)
            .map((row) => [row.name, row.hardware]),
    );
    for (const [name, expected] of noted.deployments) {
        assert.ok(hardware.has(name), `${when}: deployment ${name} is lost`);
        const allowed = [expected].flat();
        const problem = `${when}: the hardware of deployment ${name} is "${hardware.get(name)}", expected "${allowed.join('" or "')}"`;
        assert.ok(allowed.includes(hardware.get(name)), problem);
    }
    const sweeps = new Set(rows('SELECT id FROM sweeps').map(({ id }) => id));
    for (const [key, id] of noted.sweeps) assert.ok(sweeps.has(id), `${when}: sweep ${id} (idempotency key ${key}) is lost`);
    const imports = rows('SELECT name FROM imports').map(({ name }) => name);
    for (const name of [...noted.imports, ...noted.uploads]) {
        const { length } = imports.filter((each) => each === name);
        assert.equal(length, 1, `${when}: import ${name} is stored ${length} times, expected once`);
    }
    const doubled = rows(`SELECT subject FROM audit WHERE outcome = 'ok' AND tool = 'deployment_register'
                          GROUP BY subject HAVING count(*) > 1`);
    assert.deepEqual(doubled, [], `${when}: the audit log has more than one successful registration of the same deployment`);
    return Number(rows(`SELECT count(*) AS n FROM audit WHERE outcome = 'ok'`)[0].n);
}

// describeNoted(world, changes): a summary for the test's diagnostic.
export function describeNoted({ noted: { deployments, sweeps, imports, uploads, reads } }, changes) {
    const stored = `${deployments.size} deployments, ${sweeps.size} sweeps, ${imports.size} imports, ${uploads.size} uploads`;
    return `${stored}, ${reads} reads, ${changes} changes in the audit log`;
}

export function countNoted({ noted: { deployments, sweeps, imports, uploads } }) {
    return deployments.size + sweeps.size + imports.size + uploads.size;
}
