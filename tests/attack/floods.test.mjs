// SPDX-License-Identifier: Apache-2.0
// One viewer opens 500 connections and sends 20 pipelined requests on each. Even short calls count against the viewer's limits,
// and another viewer is still served.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { connect } from '../e2e/support/clients.mjs';
import { addKey, atEnd, startServer, startSimserve, temporaryFolder } from '../e2e/support/harness.mjs';

const CONNECTIONS = 500;
const PIPELINED = 20; // requests on each connection
const VERSION = '2026-07-28';
const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
};

function http(key, method, params) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
    const lines = ['POST /mcp HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`, 'Content-Type: application/json',
        'Accept: application/json', `MCP-Protocol-Version: ${VERSION}`, `Mcp-Method: ${method}`,
        ...(params.name ? [`Mcp-Name: ${params.name}`] : []), `Content-Length: ${Buffer.byteLength(body)}`];
    return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

// flood(t, port, bytes): sends the bytes on every connection. Returns counters that are updated as answers arrive: `answered`
// counts all answers, `refused` those with status 429.
async function flood(t, port, bytes) {
    const state = { answered: 0, refused: 0 };
    const sockets = Array.from({ length: CONNECTIONS }, () => net.connect(port, '127.0.0.1').setEncoding('latin1'));
    atEnd(t, async () => sockets.forEach((socket) => socket.destroy()));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) {
        socket.on('error', () => {});
        socket.on('data', (text) => {
            state.answered += text.split('HTTP/1.1 ').length - 1;
            state.refused += text.split('HTTP/1.1 429').length - 1;
        });
        socket.write(bytes);
    }
    return state;
}

const FLOODS = {
    'lists of 100 deployments': ['tools/call', { name: 'deployment_list', arguments: { limit: 100 } }],
    'plans of sweeps': ['tools/call', { name: 'sweep_plan', arguments: { deployment: 'd1', concurrency: [1, 2, 4], input_tokens: [8] } }],
    'calls that its role forbids': ['tools/call', { name: 'deployment_register', arguments: { name: 'x', url: 'http://127.0.0.1:1' } }],
};

for (const [what, [method, params]] of Object.entries(FLOODS))
    test(`a viewer's flood of ${what} is limited, and another viewer is still served`, async (t) => {
        const data = await temporaryFolder(t);
        const [olga, eve, bob] = [await addKey(data, 'olga', '--role', 'operator'), await addKey(data, 'eve', '--role', 'viewer'),
            await addKey(data, 'bob', '--role', 'viewer')];
        const server = await startServer(t, { data, args: ['--log-requests', 'false'] });
        const model = await startSimserve(t);
        const operator = await connect('2x-2026', server.url, { key: olga });
        for (let i = 0; i < 100; i++) await operator.call('deployment_register', { name: `d${i}`, url: model.url });
        const other = await connect('2x-2026', server.url, { key: bob });
        const state = await flood(t, server.port, http(eve, method, params).repeat(PIPELINED));
        const waits = [];
        for (const end = Date.now() + 20_000; Date.now() < end && state.answered < 0.9 * CONNECTIONS * PIPELINED; ) {
            const begun = performance.now();
            await other.call('deployment_list', { limit: 5 });
            waits.push(performance.now() - begun);
        }
        waits.sort((a, b) => a - b);
        t.diagnostic(`${state.refused} of ${state.answered} refused; ${waits.length} calls from the other viewer took ${
            waits[waits.length >> 1]?.toFixed(1)} ms (median)`);
        assert.ok(state.refused > 0, 'no call in the flood was refused');
        assert.ok(waits.length > 0, 'the other viewer was not served');
    });
