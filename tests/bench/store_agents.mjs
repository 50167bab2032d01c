// SPDX-License-Identifier: Apache-2.0
// For ./run bench store: 64 agents that call a server's tools, with pauses. They read more often than they write.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../e2e/support/harness.mjs';

const AGENTS = 64;
const PAUSE_MS = 500; // maximum pause before a call
const ROUND_MS = 5_000;
const CSV = 'concurrency,input_tokens,output_tokens_per_second\n1,16,50\n';

// The calls that each agent makes, and how many of 16 each is. `world.run` is the id of a run; `world.number` makes the writes differ.
const MIX = [
    [3, 'deployment_list', () => ({})],
    [3, 'deployment_show', (world, agent) => ({ deployment: `d-${agent}` })],
    [2, 'job_list', () => ({})],
    [2, 'run_show', ({ run }) => ({ run })],
    [1, 'run_list', () => ({})],
    [1, 'audit_list', () => ({})],
    [2, 'deployment_update', (world, agent) => ({ deployment: `d-${agent}`, hardware: `1x number ${++world.number}` })],
    [2, 'run_import', (world) => ({ name: `${++world.number}.csv`, text: CSV.replace('50', String(world.number)) })],
].flatMap(([count, ...toolAndArguments]) => Array(count).fill(toolAndArguments));

const connections = new http.Agent({ keepAlive: true, maxSockets: AGENTS });

function post(port, headers, body) {
    const usual = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const { promise, resolve, reject } = Promise.withResolvers();
    const options = { host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers: { ...usual, ...headers }, agent: connections };
    const outgoing = http.request(options, async (incoming) => {
        let text = '';
        for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
        resolve(text);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
    return promise;
}

async function call({ port }, name, args) {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
    const text = await post(port, headers, JSON.stringify(message));
    const { result } = JSON.parse(text.startsWith('{') ? text : text.match(/^data: (\{.*)$/m)[1]);
    if (result?.isError !== false) throw new Error(`${name}: ${text.slice(0, 400)}`);
    return result.structuredContent;
}

// startWorld(t, {file, env, data}, model): a server with a deployment for each agent, and a run.
export async function startWorld(t, { file, env, data }, model) {
    const args = ['--log-requests=false', '--connections-per-address=0', '--calls-per-principal=256', '--rate-per-principal=0'];
    const world = { server: await startServer(t, { args, file, env, data }), number: 100 };
    for (let i = 0; i < AGENTS; i++) await call(world.server, 'deployment_register', { name: `d-${i}`, url: model.url });
    world.run = (await call(world.server, 'run_import', { name: 'first.csv', text: CSV })).run.id;
    return world;
}

// runRound(world): runs a round; returns how many milliseconds the calls of each tool took, by tool.
export async function runRound(world) {
    const times = new Map(MIX.map(([tool]) => [tool, []]));
    const end = performance.now() + ROUND_MS;
    const runAgent = async (agent) => {
        for (let i = agent; ; i++) {
            await sleep(PAUSE_MS * Math.random());
            const begun = performance.now();
            if (begun > end) return;
            const [tool, args] = MIX[i % MIX.length];
            await call(world.server, tool, args(world, agent));
            times.get(tool).push(performance.now() - begun);
        }
    };
    await Promise.all(Array.from({ length: AGENTS }, (_, agent) => runAgent(agent)));
    return times;
}
