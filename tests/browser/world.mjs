// SPDX-License-Identifier: Apache-2.0
// Servers with something to show on every page. The server of prepareWorld has finished, running and failed sweeps, imports, and
// untrusted text that contains markup.
import { once } from 'node:events';
import http from 'node:http';
import { connect } from '../e2e/support/clients.mjs';
import { planService, startGoogle, TARGET } from '../e2e/support/fake_google.mjs';
import { addKey, atEnd, post, startServer, startSimserve, temporaryFolder, until } from '../e2e/support/harness.mjs';
import { waitForJob } from '../e2e/support/sweep_by_client.mjs';
import { gridFile } from './grid_file.mjs';

// HOSTILE is stored in fields that accept any text, MARKUP in fields that refuse control characters.
export const MARKUP = '"><img src=x onerror=alert(1)><script>alert(2)</script>owned';
const HOSTILE = `${MARKUP}\u0001\u001b[31m\u202eנכתב`;
const HOSTILE_URL = 'javascript:alert(3)';
const UNQUOTED = MARKUP.slice(1); // simserve's settings must not contain quotes

const GRID = { concurrency: [1, 4], input_tokens: [16, 128], output_tokens: [8], window_s: 1, warmup_limit_s: 1 };
function hostileFile() {
    const cells = {
        'c128-u1': { concurrency: 1, input_len: 128, completed: 8, status: 'ok', output_tok_per_s: 120, ttft_ms: { mean: 20 } },
        'c128-u4': { concurrency: 4, input_len: 128, status: 'failed', error: HOSTILE },
    };
    return JSON.stringify({ [HOSTILE]: { boot: { max_model_len: 8192, note: HOSTILE }, cells } });
}

// startHostileModel(t): the URL of a model server whose names and errors are markup.
async function startHostileModel(t) {
    const answers = {
        '/v1/models': [200, { object: 'list', data: [{ id: MARKUP, object: 'model', owned_by: HOSTILE, root: HOSTILE_URL }] }],
        '/version': [200, { version: HOSTILE }],
        '/health': [200, {}],
    };
    const label = MARKUP.replaceAll('"', '\\"');
    const metrics = `vllm:num_requests_running{model_name="${label}"} 2\nvllm:num_requests_waiting{model_name="${label}"} 1\n`
        + `odd{reason="${label}"} 3\n`;
    const server = http.createServer((request, response) => {
        const [status, body] = answers[request.url] ?? [400, { error: { message: HOSTILE, type: HOSTILE } }];
        request.resume();
        if (request.url === '/metrics') return response.writeHead(200, { 'Content-Type': 'text/plain' }).end(metrics);
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(t, () => (server.closeAllConnections(), server.close()));
    return `http://127.0.0.1:${server.address().port}`;
}

// Calls a tool as a client whose name is HOSTILE, and returns the result of the call.
async function callAsHostile(server, name, args, capabilities = {}, key = undefined) {
    const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: HOSTILE, version: HOSTILE },
        'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
    const { body } = await post(
        server.port,
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } },
        { ...headers, ...(key && { Authorization: `Bearer ${key}` }) },
    );
    return JSON.parse(body.startsWith('{') ? body : body.match(/^data: (.*)$/m)[1]).result;
}

// askOnPage(server, deployment, key): the path of a page that asks whether to remove the deployment.
async function askOnPage(server, deployment, key) {
    const result = await callAsHostile(server, 'deployment_remove', { deployment }, { elicitation: { url: {} } }, key);
    return new URL(result.inputRequests.remove.params.url).pathname;
}

async function addHostileData(t, server, client) {
    const url = await startHostileModel(t);
    const labels = { team: MARKUP };
    await client.call('deployment_register', { name: 'hostile', url, hardware: MARKUP, options: { labels } });
    await client.call('metrics_watch', { deployment: 'hostile', interval_s: 1 });
    await client.call('deployment_register', { name: 'spare', url, model: MARKUP });
    for (const args of [{ job: HOSTILE }, { job: HOSTILE_URL }]) await callAsHostile(server, 'job_show', args);
    await callAsHostile(server, 'dataset_import', { name: HOSTILE, text: '{"prompt":"a","completion":"b"}' });
    const { sweep } = await client.call('sweep_start', { ...GRID, deployment: 'hostile', concurrency: [1] });
    const file = { text: hostileFile(), name: `${HOSTILE}.json` };
    const { run } = await client.call('run_import', { ...file, notes: HOSTILE, hardware: MARKUP });
    return { sweep: sweep.id, run: run.id };
}

async function addPlan(client) {
    await client.call('target_register', TARGET);
    return (await planService(client, 'gemma')).plan;
}

// prepareWorld(t): {server, client, model, origin}, and the ids or paths of {sweeps, jobs, questions, plans, runs}.
export async function prepareWorld(t) {
    const slow = await startSimserve(t, ['--max-running', '4', '--model', 'simserve/toy-7b']);
    const quick = await startSimserve(t, ['--ttft-ms', '10', '--step-ms', '10', '--model', UNQUOTED]);
    const google = await startGoogle(t, { model: slow, tokenMs: 3_600_000 });
    const server = await startServer(t, { args: ['--cloud-endpoints', google.endpoints] });
    const client = await connect('2x-2026', server.url);
    atEnd(t, () => client.close());
    await client.call('deployment_register', { name: 'demo', url: slow.url, hardware: '1xL4', labels: { team: 'search' } });
    await client.call('deployment_register', { name: 'quick', url: quick.url });
    await client.call('metrics_watch', { deployment: 'demo', interval_s: 1 });
    const done = await client.call('sweep_start', { ...GRID, deployment: 'demo' });
    const again = await client.call('sweep_start', { ...GRID, deployment: 'quick' });
    const hostile = await addHostileData(t, server, client);
    const grid = await client.call('run_import', { text: gridFile(), name: 'study.json', hardware: '8xH100' });
    for (const { job } of [done, again]) await waitForJob(client, job);
    const running = await client.call('sweep_start', { ...GRID, deployment: 'demo', window_s: 300 });
    await client.call('sweep_start', { ...GRID, deployment: 'demo', seed: 5 });
    await until('a cell to be measured', async () => {
        const { job } = await client.call('job_show', { job: running.job });
        return /measuring/.test(job.message);
    });
    const { runs } = await client.call('run_list', { sweep: done.sweep.id });
    return {
        ...{ server, client, model: slow, origin: `http://127.0.0.1:${server.port}` },
        sweeps: { done: done.sweep.id, again: again.sweep.id, running: running.sweep.id, failed: hostile.sweep },
        jobs: { done: done.job, running: running.job },
        questions: [await askOnPage(server, 'spare')],
        plans: [await addPlan(client)],
        runs: { done: runs[0].id, grid: grid.run.id, hostile: hostile.run },
    };
}

// prepareTeam(t): a server with the keys of an admin (ada), an operator (otto) and a viewer (eve), and a running sweep of otto's.
// `sweeps`, `runs` and `jobs` have the same members as prepareWorld's, but all sweeps are this one sweep, all jobs are its job, and
// all runs are the one imported run.
export async function prepareTeam(t) {
    const data = await temporaryFolder(t);
    const keys = {};
    for (const [name, role] of Object.entries({ ada: 'admin', otto: 'operator', eve: 'viewer' }))
        keys[name] = await addKey(data, name, '--role', role);
    const model = await startSimserve(t);
    const google = await startGoogle(t, { model, tokenMs: 3_600_000 });
    const server = await startServer(t, { data, args: ['--cloud-endpoints', google.endpoints] });
    const client = await connect('2x-2026', server.url, { key: keys.otto });
    atEnd(t, () => client.close());
    await client.call('deployment_register', { name: 'demo', url: model.url });
    await client.call('deployment_register', { name: 'spare', url: 'http://127.0.0.1:9' });
    const { run } = await client.call('run_import', { text: gridFile(), name: 'study.json' });
    const { sweep, job } = await client.call('sweep_start', { ...GRID, deployment: 'demo', window_s: 300 });
    const [sweeps, runs, jobs] = [{}, {}, { done: job, running: job }];
    for (const name of ['done', 'again', 'running', 'failed']) sweeps[name] = sweep.id;
    for (const name of ['done', 'grid', 'hostile']) runs[name] = run.id;
    const questions = [await askOnPage(server, 'spare', keys.otto)];
    const admin = await connect('2x-2026', server.url, { key: keys.ada });
    const plans = [await addPlan(admin)];
    await admin.close();
    return { server, data, keys, questions, plans, origin: `http://127.0.0.1:${server.port}`, sweeps, runs, jobs };
}
