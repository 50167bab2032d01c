// SPDX-License-Identifier: Apache-2.0
// For load.mjs: a closed loop of users with node:http and JSON.parse, as benchmark clients are usually written.
'use strict';
const http = require('node:http');
const { randomUUID } = require('node:crypto');

const [url, users, inputTokens, outputTokens, windowS] = process.argv.slice(2);
const WARMUP_MS = 1000 * Math.max(4, Number(windowS) / 2);
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
const base = new URL(url);
const sent = new Map(); // request id -> [when the request was sent, its TTFT], in ms, for the requests that ended in the window
let measuring = false;
let ended = false;
let events = 0;

const now = () => Number(process.hrtime.bigint()) / 1e6;

const body = () =>
    JSON.stringify({
        model: 'simserve/toy',
        prompt: Array.from({ length: Number(inputTokens) }, () => 1000 + Math.floor(Math.random() * 1000)),
        max_tokens: Number(outputTokens),
        ignore_eos: true,
        temperature: 0,
        stream: true,
        stream_options: { include_usage: true },
    });

function takeLine(text, state) {
    if (!text.startsWith('data: ') || text === 'data: [DONE]') return;
    const choice = JSON.parse(text.slice(6)).choices[0];
    if (!choice?.text) return;
    if (measuring) events++;
    state.first ??= now();
}

function send() {
    const id = randomUUID();
    const state = { rest: '' };
    const bytes = body();
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length, 'x-request-id': id };
    const options = { agent, host: base.hostname, port: base.port, path: '/v1/completions', method: 'POST', headers };
    const request = http.request(options, (response) => {
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
            const lines = (state.rest + chunk).split('\n');
            state.rest = lines.pop();
            for (const text of lines) takeLine(text, state);
        });
        response.on('end', () => {
            if (measuring && state.first) sent.set(id, [state.sent, state.first - state.sent]);
            if (!ended) send();
        });
    });
    request.on('error', () => !ended && setTimeout(send, 100));
    state.sent = now();
    request.end(bytes);
}

const quantile = (values, q) => values.sort((a, b) => a - b)[Math.ceil(q * values.length) - 1] ?? NaN;

function get(path) {
    return new Promise((resolve, reject) => {
        http.get(url + path, (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
            response.on('end', () => resolve(text));
        }).on('error', reject);
    });
}

async function trueTtfts() {
    const truth = [];

    for (const row of (await get('/sim/truth?limit=1000000')).split('\n')) {
        if (row === '') continue;
        const record = JSON.parse(row);
        const ours = sent.get(record.request_id);
        if (ours && record.first_write_ns) truth.push(record.first_write_ns / 1e6 - ours[0]);
    }
    return truth;
}

async function finish(begun, cpu) {
    const seconds = (now() - begun) / 1000;
    const used = process.cpuUsage(cpu);
    const busyS = (used.user + used.system) / 1e6;
    const ttfts = [...sent.values()].map(([, ttft]) => ttft);

    measuring = false;
    ended = true;
    const truth = await trueTtfts();
    const figures = {
        events: events / seconds,
        cpu: (100 * busyS) / seconds,
        cost: (1e6 * busyS) / events,
        p50: quantile(ttfts, 0.5),
        p99: quantile(ttfts, 0.99),
        truth50: quantile(truth, 0.5),
        truth99: quantile(truth, 0.99),
    };
    process.stdout.write(JSON.stringify(figures), () => process.exit(0));
}

for (let i = 0; i < Number(users); i++) send();
setTimeout(() => {
    const begun = now();
    const cpu = process.cpuUsage();
    measuring = true;
    setTimeout(() => finish(begun, cpu), 1000 * Number(windowS));
}, WARMUP_MS);
