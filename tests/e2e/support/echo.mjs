// SPDX-License-Identifier: Apache-2.0
// A model server that repeats the key it is sent, and a search for that key in everything that opsbrain answers, logs and stores.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { connect } from './clients.mjs';
import { atEnd, startServer, temporaryFolder, until } from './harness.mjs';

export const SECRET = 'Lab-7f3Kq9Zx/T0vW2mR8uYc41';

// The forms in which a server can repeat what it was sent.
export const ECHOES = {
    whole: (key) => key,
    escaped: (key) => [...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    slashed: (key) => key.replace('/', '\\/'),
    'without its first character': (key) => key.slice(1),
    'without its last character': (key) => key.slice(0, -1),
    percent: encodeURIComponent,
    base64: (key) => Buffer.from(`key=${key};`).toString('base64'),
    hexadecimal: (key) => Buffer.from(key).toString('hex'),
};

// startEcho(t): starts a model server that repeats the key wherever it can; returns {url, received, set}. `received` has the keys
// that the server was sent. set(name, failing) chooses the echo with this name from ECHOES, and how the server fails: not at all
// (''), with a wrong content type ('type'), with 401 ('status'), or with an error within the stream ('inside').
async function startEcho(t) {
    let echo = ECHOES.whole;
    let failing = '';
    const received = new Set();
    const answer = (request, response, body) => {
        const key = request.headers.authorization?.replace('Bearer ', '') ?? 'nothing';
        const repeated = echo(key);
        received.add(key);
        const header = repeated.includes('\\u') ? key : repeated;
        response.setHeader('Server', header);
        if (failing === 'type') response.setHeader('Content-Type', `text/${header}`);
        if (failing === 'type') return response.end(repeated);
        if (failing === 'status') response.statusCode = 401;
        if (failing === 'status') return response.end(`{"error":{"message":"no key ${repeated}","code":"${repeated}"}}`);
        if (request.url === '/v1/models')
            return response.end(`{"data":[{"id":"model","owned_by":"vllm","root":"${repeated}"},{"id":"m-${repeated}"}]}`);
        if (request.url === '/version') return response.end(`{"version":"1-${repeated}"}`);
        if (request.url === '/metrics')
            return response.end(`vllm:num_requests_running{model_name="${repeated}"} 0\n# HELP a ${repeated}\na{b="${repeated}"} 1\n`);
        if (!request.url.endsWith('completions')) return (response.statusCode = 404), response.end('{}');
        const { stream, stream_options } = JSON.parse(body);
        if (!stream)
            return response.end(`{"model":"${repeated}","choices":[{"text":"${repeated}","message":{"content":"${repeated}"},` +
                `"finish_reason":"${repeated}"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`);
        response.setHeader('Content-Type', 'text/event-stream');
        const send = (choice) => response.write(`data: {"model":"${repeated}","choices":[${choice}]}\n\n`);
        if (failing === 'inside') response.write(`data: {"error":{"message":"inside ${repeated}"}}\n\n`);
        else
            for (const piece of repeated.match(/\\u.{4}|\\.|.{1,3}/g)) send(`{"delta":{"content":"${piece}"},"text":"${piece}"}`);
        send(`{"delta":{"reasoning_content":"${repeated}"}}`);
        send(`{"delta":{},"finish_reason":"${repeated}"}`);
        if (stream_options) send('');
        response.end('data: [DONE]\n\n');
    };
    const server = http.createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
        answer(request, response, body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(t, async () => (server.closeAllConnections(), server.close()));
    const set = (name, failure = '') => ((echo = ECHOES[name]), (failing = failure));
    return { url: `http://127.0.0.1:${server.address().port}`, received, set };
}

// givesAway(text): whether the text contains most of the secret in one of the forms that ECHOES produces: three quarters of the
// form, beginning with its fifth character. Case is ignored, and the text is searched both as it is and with its escapes undone.
function givesAway(text) {
    const read = text.replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))).replace(/\\/g, '');
    const part = (form) => form.slice(4, 4 + Math.ceil(form.length * 0.75)).toLowerCase();
    return Object.values(ECHOES).some((echo) => [text, read].some((seen) => seen.toLowerCase().includes(part(echo(SECRET)))));
}

// tryEchoes(t, rounds, sweeps): in each round, calls the tools that query a model server. `rounds` has the arguments of startEcho's
// set(), [name, failing], for each round. In the first `sweeps` rounds, it also calls sweep_start. At the end, it checks that no answer,
// log line or database file contains the key.
export async function tryEchoes(t, rounds, sweeps) {
    const data = await temporaryFolder(t);
    const server = await startServer(t, { data, env: { OPSBRAIN_SECRET_LAB: SECRET } });
    const echo = await startEcho(t);
    const client = await connect('2x-2026', server.url);
    const shown = [];
    const call = async (name, args = {}) => {
        const onprogress = ({ message }) => shown.push(message ?? '');
        const result = await client.callTool(name, args, { onprogress }).catch((error) => ({ failed: error.message }));
        shown.push(JSON.stringify(result));
    };
    const isIdle = async () => {
        const { jobs } = await client.call('job_list');
        return jobs.every(({ state }) => state !== 'queued' && state !== 'running');
    };

    echo.set(...rounds[0]);
    await call('deployment_register', { name: 'lab', url: echo.url, secret: 'LAB' });
    await call('metrics_watch', { interval_s: 1 });
    for (const [round, [name, failing]] of rounds.entries()) {
        echo.set(name, failing);
        await call('model_show');
        await call('model_health');
        await call('metrics_show', { interval_s: 0 });
        for (const api of ['chat', 'completions']) await call('model_query', { prompt: 'hello', api });
        if (round < sweeps) await call('sweep_start', { concurrency: [1], input_tokens: [8], output_tokens: [4], window_s: 1 });
        await until('the end of the sweep', isIdle, 60_000);
        await call('deployment_show');
    }
    for (const list of ['job_list', 'sweep_list', 'audit_list']) await call(list, { limit: 50 });
    await call('metrics_history', { series: 'a' });
    await client.close();

    assert.deepEqual([...echo.received], [SECRET]);
    assert.equal(shown.find(givesAway), undefined);
    assert.ok(shown.filter((text) => text.includes('(hidden)')).length > rounds.length);
    assert.ok(!givesAway(server.output()), 'the log contains the key');
    for (const file of (await readdir(data)).filter((name) => name.includes('.db')))
        assert.ok(!givesAway(await readFile(path.join(data, file), 'latin1')), `${file} contains the key`);
}
