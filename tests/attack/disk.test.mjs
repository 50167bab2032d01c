// SPDX-License-Identifier: Apache-2.0
// A viewer floods the server for 20 s with requests of one kind: the database must stay small.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { bearer, call, flood, FLOODS } from '../e2e/support/floods.mjs';
import { addKey, post, startServer, temporaryFolder } from '../e2e/support/harness.mjs';

const FLOOD_MS = 20_000;
const KIB = 1024;

const message = (method, params) => ({ jsonrpc: '2.0', id: 1, method, params });
const opening = message('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'eve', version: '1' },
});

// Requests within a session. The stream of a call that asks for progress is stored, so that the client can resume it.
const IN_SESSION = {
    'calls whose streams are kept': () => ({
        ...call('audit_list', { limit: 100 }),
        params: { name: 'audit_list', arguments: { limit: 100 }, _meta: { progressToken: 1 } },
    }),
    'subscriptions': () => message('resources/subscribe', { uri: 'opsbrain://guide' }),
    'changes to the log level': (i) => message('logging/setLevel', { level: i % 2 ? 'info' : 'debug' }),
};

// Limits on the size of the database. They are higher for data that is deleted only after a while.
const DEFAULT_LIMIT_KIB = KIB;
const LIMIT_KIB = { sessions: 2048, 'calls whose streams are kept': 24 * KIB };

async function attack(t, what, make, inSession) {
    const data = await temporaryFolder(t);
    const eve = bearer(await addKey(data, 'eve', '--role', 'viewer'));
    const server = await startServer(t, { data, args: ['--log-requests=false', '--sessions-per-principal', '100'] });
    if (inSession) {
        const { headers } = await post(server.port, opening, eve);
        Object.assign(eve, { Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': headers['mcp-session-id'] });
        for (let i = 0; i < 100; i++) await post(server.port, call(`no_tool_${i}`), eve);
    }
    const requests = await flood(server.port, make, eve, FLOOD_MS);
    await server.stop();
    const kib = (await stat(path.join(data, 'opsbrain.db'))).size / KIB;
    t.diagnostic(`${what}: ${requests} requests, a database of ${kib.toFixed(0)} KiB`);
    assert.ok(kib < (LIMIT_KIB[what] ?? DEFAULT_LIMIT_KIB), `${what}: ${kib} KiB`);
}

for (const [what, make] of Object.entries(FLOODS)) test(`a flood uses little disk space: ${what}`, (t) => attack(t, what, make, false));
for (const [what, make] of Object.entries(IN_SESSION)) test(`a flood uses little disk space: ${what}`, (t) => attack(t, what, make, true));
