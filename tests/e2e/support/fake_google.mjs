// SPDX-License-Identifier: Apache-2.0
// A fake of the Google APIs that opsbrain calls for a Cloud Run service: the metadata server, Cloud Run, and IAM, Cloud
// Scheduler and Secret Manager, which accept every request. The `door` is the service's own address. It forwards requests
// that have a valid ID token to a model server.
import http from 'node:http';
import { once } from 'node:events';
import { atEnd } from './harness.mjs';

const LEEWAY_MS = 1000; // a token is accepted for this long after it has expired, because clocks differ
const SERVICE = /^\/v2\/(projects\/[^/]+\/locations\/[^/]+\/services)\/([^/?]+)$/;

// Arguments for target_register. The opsbrain server's setting cloud_endpoints must be the `endpoints` from startGoogle.
export const TARGET = {
    name: 'run',
    provider: 'cloud_run',
    credential: 'workload_identity',
    project: 'p',
    regions: ['us-central1'],
    bucket: 'models',
    usd_per_hour: 100,
    total_usd_per_hour: 100,
    options: [],
};

// planService(client, deployment, more): plans a service on TARGET; `more` has further arguments for deployment_plan.
export const planService = (client, deployment, more = {}) =>
    client.call('deployment_plan', { deployment, target: 'run', recipe: 'run-gemma-4-12b-fp8-l4', life_s: 3600, ...more });

// startGoogle(t, {model, tokenMs}): starts the fake. Returns the `endpoints` for the setting cloud_endpoints, the `services` by
// path, the `changes` that were requested, the ID `tokens` that were issued (each is valid for tokenMs), and the `door`.
export async function startGoogle(t, { model, tokenMs }) {
    const google = { services: new Map(), changes: [], door: await startDoor(t, model), tokens: [] };
    const server = await listen(t, async (request, response) => {
        const url = new URL(request.url, 'http://google');
        const body = await read(request);
        const [status, answer, type] = answerTo(google, tokenMs, request.method, url, body);
        response.writeHead(status, { 'Content-Type': type ?? 'application/json', 'Metadata-Flavor': 'Google' });
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
    const names = ['run', 'iam', 'cloudscheduler', 'secretmanager', 'metadata'];
    google.endpoints = names.map((name) => `${name}=http://127.0.0.1:${server.port}`).join(',');
    return google;
}

// startThief(t): a server that must not be called; `stolen` has the Authorization headers that it receives.
export async function startThief(t) {
    const thief = { stolen: [] };
    const server = await listen(t, (request, response) => {
        thief.stolen.push(request.headers.authorization ?? '');
        response.end('{}');
    });
    return Object.assign(thief, { url: `http://127.0.0.1:${server.port}` });
}

async function listen(t, serve) {
    const server = http.createServer(serve);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(t, () => server.close() && server.closeAllConnections());
    return server.address();
}

async function read(request) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    return pieces.length === 0 ? null : JSON.parse(Buffer.concat(pieces));
}

function answerTo(google, tokenMs, method, url, body) {
    const path = url.pathname;
    if (path.endsWith('/default/token'))
        return [200, { access_token: 'access-token', expires_in: 3600, token_type: 'Bearer' }];
    if (path.endsWith('/default/identity'))
        return [200, idToken(google, url.searchParams.get('audience'), tokenMs), 'text/plain'];
    if (path.startsWith('/v2/')) return cloudRun(google, method, url, body);
    if (method !== 'GET') google.changes.push(`${method} ${path}`);
    return [200, {}];
}

function idToken(google, audience, tokenMs) {
    const part = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');
    const claims = { aud: audience, exp: Math.floor((Date.now() + tokenMs) / 1000) };
    const token = `${part({ alg: 'RS256' })}.${part(claims)}.${part({ number: google.tokens.length })}`;
    google.tokens.push(token);
    google.door.accept(token, claims);
    return token;
}

function cloudRun(google, method, url, body) {
    const name = url.searchParams.get('serviceId');
    const path = name === null ? url.pathname : `${url.pathname}/${name}`;
    const service = google.services.get(path);
    if (url.searchParams.has('validateOnly')) return [200, operation];
    if (method !== 'GET') google.changes.push(`${method} ${path}`);
    if (method === 'POST' && name !== null) google.services.set(path, serviceOf(google, path, body));
    if (method === 'POST') return [200, operation];
    if (service === undefined) return [404, { error: { code: 404, message: 'no such service', status: 'NOT_FOUND' } }];
    if (method === 'PATCH') google.services.set(path, serviceOf(google, path, { ...service, ...body }));
    if (method === 'DELETE') google.services.delete(path);
    return [200, method === 'GET' ? service : operation];
}

const operation = { name: 'projects/p/locations/r/operations/o', done: true, response: {} };

function serviceOf(google, path, body) {
    const [, parent, name] = SERVICE.exec(path);
    const generation = Number(google.services.get(path)?.generation ?? 0) + 1;
    return {
        ...body,
        name: `${parent}/${name}`,
        uid: 'uid-1',
        etag: `"e${generation}"`,
        generation: String(generation),
        uri: google.door.url,
        lastModifier: 'robot@p',
        updateTime: '2026-01-01T00:00:00Z',
        latestReadyRevision: `${parent}/${name}/revisions/${name}-0000${generation}`,
        reconciling: false,
        terminalCondition: { state: 'CONDITION_SUCCEEDED' },
    };
}

// Starts the service's own address. `used` has how often each valid token was sent, and `refused` is the number of refused
// requests. If `redirectsTo` is not null, valid requests are redirected to that URL instead of going to the model server.
async function startDoor(t, model) {
    const known = new Map();
    const door = { used: new Map(), refused: 0, redirectsTo: null, accept: (token, claims) => known.set(token, claims) };
    const { port } = await listen(t, (request, response) => {
        const token = (request.headers.authorization ?? '').replace('Bearer ', '');
        const claims = known.get(token);
        if (claims?.aud !== door.url || Date.now() > claims.exp * 1000 + LEEWAY_MS) {
            door.refused++;
            response.writeHead(403, { 'Content-Type': 'text/html' });
            return response.end('<h1>Error: Forbidden</h1>');
        }
        door.used.set(token, (door.used.get(token) ?? 0) + 1);
        if (door.redirectsTo !== null) {
            response.writeHead(307, { Location: door.redirectsTo + request.url });
            return response.end();
        }
        pass(model, request, response);
    });
    return Object.assign(door, { url: `http://127.0.0.1:${port}` });
}

function pass(model, request, response) {
    const { authorization, host, ...headers } = request.headers;
    const onward = http.request(model.url + request.url, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
}
