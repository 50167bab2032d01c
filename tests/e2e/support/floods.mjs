// SPDX-License-Identifier: Apache-2.0
// Requests that a viewer can flood a server with.
import http from 'node:http';

const LANES = 32;

export const call = (name, args = {}) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
export const bearer = (key) => ({ Authorization: `Bearer ${key}`, Accept: 'application/json' });
export const random = () => Math.random().toString(36).slice(2);
const long = 'x'.repeat(3000);

// Several kinds of requests. The server refuses them all, except those that open new sessions.
export const FLOODS = {
    'tools of other roles, with long arguments': () => call('deployment_register', { name: random(), url: long }),
    'many tools of other roles': (i) =>
        call(['sweep_start', 'run_import', 'job_cancel', 'metrics_watch', 'model_query'][i % 5], { [random()]: long }),
    'arguments that are too long': () => call('run_show', { run: random() + long }),
    'tools that do not exist': () => call(random()),
    'resources that do not exist': () => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'resources/read',
        params: { uri: `opsbrain://runs/${random()}` },
    }),
    sessions: () => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: random(), version: '1' } },
    }),
};

// flood(port, make, headers, ms): sends one request after another on each of several connections, for `ms` milliseconds;
// returns how many were answered.
export async function flood(port, make, headers, ms) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: LANES });
    const end = performance.now() + ms;
    let count = 0;
    const ask = () =>
        new Promise((resolve, reject) => {
            const body = JSON.stringify(make(count++));
            const outgoing = http.request(
                {
                    host: '127.0.0.1',
                    port,
                    path: '/mcp',
                    method: 'POST',
                    agent,
                    headers: { 'Content-Type': 'application/json', ...headers },
                },
                (incoming) => incoming.resume().on('end', resolve).on('error', reject),
            );
            outgoing.on('error', reject).end(body);
        });
    const lane = async () => {
        while (performance.now() < end) await ask();
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    agent.destroy();
    return count;
}
