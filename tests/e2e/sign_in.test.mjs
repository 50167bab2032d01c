// SPDX-License-Identifier: Apache-2.0
// Who is allowed to see the pages, and who is allowed to send their forms.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from './support/browser.mjs';
import { addKey, post, request, run, startServer, temporaryFolder } from './support/harness.mjs';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

async function startWithKeys(t, keys, args = []) {
    const data = await temporaryFolder(t);
    const made = {};
    for (const [name, role] of Object.entries(keys)) made[name] = await addKey(data, name, '--role', role);
    const server = await startServer(t, { data, args });
    return { data, server, keys: made };
}

async function auditRows(server, key, tool) {
    const call = { name: 'audit_list', arguments: { tool } };
    const headers = { Authorization: `Bearer ${key}`, 'MCP-Protocol-Version': '2026-07-28' };
    const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { body } = await post(
        server.port,
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...call, _meta: meta } },
        { ...headers, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'audit_list' },
    );
    const text = body.startsWith('{') ? body : body.match(/^data: (.*)$/m)[1];
    return JSON.parse(text).result.structuredContent.rows;
}

test('if there are keys, a page redirects to the sign-in form, which leads back to the page', async (t) => {
    const { server, keys } = await startWithKeys(t, { eve: 'viewer' });
    const browser = new Browser(server.port);

    const asked = await browser.get('/?note=a%20b');
    assert.equal(asked.status, 303);
    assert.equal(asked.headers.location, '/sign-in?to=%2F%3Fnote%3Da%2520b');

    const answer = await browser.signIn(keys.eve, '/?note=a%20b');
    assert.equal(answer.headers.location, '/?note=a%20b');
    const [line] = answer.headers['set-cookie'];
    assert.match(line, /^opsbrain_\d+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/);
    const page = await browser.get('/');
    assert.equal(page.status, 200);
    assert.match(page.body, /<bdi>eve<\/bdi> \(viewer\)/);
    assert.equal((await browser.get('/sign-in?to=/jobs')).headers.location, '/jobs');

    const out = await browser.post('/sign-out', { token: await browser.token() });
    assert.equal(out.headers.location, '/sign-in');
    assert.equal((await browser.get('/')).status, 303);
});

test('a cookie is refused after sign-out; sign-in and sign-out are audited; neither cookie nor key is stored or logged', async (t) => {
    const { data, server, keys } = await startWithKeys(t, { ada: 'admin' });
    const browser = new Browser(server.port);
    await browser.signIn(keys.ada);
    const kept = new Map(browser.cookies);
    const { readFile, readdir } = await import('node:fs/promises');
    const stored = [];
    for (const name of await readdir(data))
        if (name.includes('.db')) stored.push((await readFile(`${data}/${name}`)).toString('latin1'));
    for (const secret of [...kept.values(), keys.ada]) {
        assert.ok(!stored.join('').includes(secret));
        assert.ok(!stored.join('').includes(Buffer.from(secret.slice(-64), 'hex').toString('latin1')));
        assert.ok(!server.output().includes(secret));
    }
    await browser.post('/sign-out', { token: await browser.token() });
    browser.cookies = kept;
    assert.equal((await browser.get('/')).status, 303);
    const rows = await auditRows(server, keys.ada, 'sign_in');
    assert.deepEqual([rows[0].principal, rows[0].outcome], ['ada', 'ok']);
    assert.equal((await auditRows(server, keys.ada, 'sign_out')).length, 1);
});

test('a cookie gives access to pages only; a key is accepted in the Authorization header, but not in a URL', async (t) => {
    const { server, keys } = await startWithKeys(t, { ada: 'admin' });
    const browser = new Browser(server.port);
    await browser.signIn(keys.ada);
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    assert.equal((await post(server.port, PING, { Cookie: cookie })).status, 401);
    for (const path of ['/v1/imports', '/v1/datasets'])
        assert.equal((await post(server.port, 'a', { Cookie: cookie }, path)).status, 401);
    assert.equal((await request(server.port, { path: '/metrics', headers: { Cookie: cookie } })).status, 401);
    for (const name of ['key', 'token', 'api_key', 'access_token'])
        assert.equal((await request(server.port, { path: `/?${name}=${keys.ada}` })).status, 303);
    const own = { Authorization: `Bearer ${keys.ada}` };
    assert.equal((await request(server.port, { path: '/', headers: own })).status, 200);
    const wrong = { Authorization: `Bearer ${keys.ada}0` };
    assert.equal((await request(server.port, { path: '/', headers: wrong })).status, 401);
});

test('a sign-in survives a restart, and ends when its key is revoked or its user gets another role', async (t) => {
    const { data, server, keys } = await startWithKeys(t, { ada: 'admin', otto: 'operator', eve: 'operator' });
    const [otto, eve] = [new Browser(server.port), new Browser(server.port)];
    await otto.signIn(keys.otto);
    await eve.signIn(keys.eve);
    await server.killAndRestart();
    assert.equal((await otto.get('/')).status, 200);
    assert.equal((await run(['key', 'revoke', 'otto', '--data', data])).code, 0);
    assert.equal((await otto.get('/')).status, 303);
    assert.equal((await run(['principal', 'role', 'eve', 'viewer', '--data', data])).code, 0);
    assert.equal((await eve.get('/')).status, 303);
});

test('wrong keys are refused and, after several attempts, rate-limited; the refusals are in the audit log', async (t) => {
    const { server, keys } = await startWithKeys(t, { ada: 'admin' });
    const browser = new Browser(server.port);
    const token = await browser.token('/sign-in');
    const statuses = [];
    for (let i = 0; i < 14; i++) {
        const { status, body } = await browser.post('/sign-in', { token, key: `obk_${'0'.repeat(64)}` });
        if (status === 403) assert.match(body, /API key is unknown/);
        statuses.push(status);
    }
    assert.equal(statuses[0], 403);
    assert.equal(statuses.at(-1), 429);
    await server.stop(); // refusals are counted; the counts are written to the audit log each minute, and when the server stops
    await server.start();
    const [row] = await auditRows(server, keys.ada, 'login');
    assert.deepEqual([row.principal, row.outcome, row.subject], ['(nobody)', 'unauthenticated', '127.0.0.1']);
});

test('forms are accepted only from pages of this server, with their token', async (t) => {
    const { server, keys } = await startWithKeys(t, { ada: 'admin' }, ['--allowed-origins', '*', '--allowed-hosts', '*']);
    const browser = new Browser(server.port);
    await browser.signIn(keys.ada);
    const token = await browser.token();
    const other = new Browser(server.port);
    await other.signIn(keys.ada);
    const refused = [
        [{}, {}],
        [{ token: '' }, {}],
        [{ token: token.replace(/./g, '0') }, {}],
        [{ token: await other.token() }, {}],
        [{ token }, { Origin: 'https://evil.example' }],
        [{ token }, { Origin: `http://localhost:${server.port}` }],
        [{ token }, { Origin: `http://127.0.0.1:${server.port + 1}` }],
        [{ token }, { Origin: `https://127.0.0.1:${server.port}` }],
        [{ token }, { Origin: 'null' }],
        [{ token }, { Origin: undefined }],
        [{ token }, { 'Sec-Fetch-Site': 'cross-site' }],
        [{ token }, { 'Sec-Fetch-Site': 'same-site' }],
        [{ token }, { 'Sec-Fetch-Site': 'none' }],
        [{ token }, { 'X-Forwarded-Proto': 'https', Origin: `https://127.0.0.1:${server.port}` }],
        [{ token }, { 'X-Forwarded-Host': 'evil.example', Origin: 'http://evil.example' }],
    ];
    for (const [fields, headers] of refused)
        assert.equal((await browser.post('/sign-out', fields, headers)).status, 403, JSON.stringify({ fields, headers }));
    assert.equal((await browser.get('/')).status, 200);
    assert.equal((await browser.post('/sign-out', { token }, { 'Sec-Fetch-Site': undefined })).status, 303);
});

test('other origins cannot read pages, an unknown Host is refused, and answers forbid framing and scripts from elsewhere', async (t) => {
    const server = await startServer(t, { args: ['--allowed-origins', '*'] });
    for (const origin of ['https://evil.example', 'http://localhost:3000']) {
        const answer = await request(server.port, { path: '/', headers: { Origin: origin } });
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
        const preflight = { Origin: origin, 'Access-Control-Request-Method': 'POST' };
        const options = await request(server.port, { method: 'OPTIONS', path: '/', headers: preflight });
        assert.equal(options.headers['access-control-allow-methods'], undefined);
    }
    assert.equal((await request(server.port, { path: '/', headers: { Host: 'rebound.example' } })).status, 403);
    for (const path of ['/', '/nowhere', '/assets/style.css', '/sign-in']) {
        const { headers } = await request(server.port, { path, headers: { Accept: 'text/html' } });
        assert.match(headers['content-security-policy'], /default-src 'none'; script-src 'self'; style-src 'self'/);
        assert.match(headers['content-security-policy'], /frame-ancestors 'none'; require-trusted-types-for 'script'/);
        assert.equal(headers['x-content-type-options'], 'nosniff', path);
    }
});

test('a sign-in leads only to paths on this server; the sign-in page reloads itself once if a link on another site led to it', async (t) => {
    const { server, keys } = await startWithKeys(t, { ada: 'admin' });
    for (const to of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)', '/a\r\nX-A: b', '']) {
        const answer = await new Browser(server.port).signIn(keys.ada, to);
        assert.equal(answer.headers.location, '/', to);
        assert.equal(answer.headers['x-a'], undefined);
    }
    // A browser that follows a link on another site does not send the cookie, which is SameSite=Strict; the reload sends it.
    const elsewhere = { Accept: 'text/html', 'Sec-Fetch-Site': 'cross-site' };
    const first = await request(server.port, { path: '/sign-in?to=/jobs', headers: elsewhere });
    assert.match(first.body, /<meta http-equiv="refresh" content="0">/);
    const reload = { ...elsewhere, 'Sec-Fetch-Site': 'same-origin' };
    const second = await request(server.port, { path: '/sign-in?to=/jobs', headers: reload });
    assert.doesNotMatch(second.body, /http-equiv/);
});

test('a trusted proxy or the setting public_url can state that browsers use TLS', async (t) => {
    const { server, keys } = await startWithKeys(t, { ada: 'admin' }, ['--trusted-proxies', '127.0.0.1']);
    const browser = new Browser(server.port, { 'X-Forwarded-Proto': 'http, https', 'X-Forwarded-For': '203.0.113.9' });
    browser.origin = `https://127.0.0.1:${server.port}`;
    const answer = await browser.signIn(keys.ada);
    assert.match(answer.headers['set-cookie'][0], /^__Host-opsbrain=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Secure; /);
    assert.equal((await browser.get('/')).status, 200);
    const plain = new Browser(server.port, { 'X-Forwarded-Proto': 'https, http' });
    plain.cookies = new Map(browser.cookies);
    assert.equal((await plain.get('/')).status, 303);
    // Without a trusted proxy, the setting public_url states the origin from which browsers load the pages.
    const known = await startServer(t, { args: ['--public-url', 'https://ops.example/x', '--allowed-hosts', 'ops.example'] });
    const behind = new Browser(known.port, { Host: 'ops.example' });
    const { headers } = await behind.get('/register');
    assert.match(headers['set-cookie'][0], /^__Host-opsbrain_form=[0-9a-f]{64}; .*; Secure$/);
    const token = await behind.token('/register');
    const status = async (Origin) => (await behind.post('/register', { token, name: 'a b' }, { Origin })).status;
    assert.equal(await status('https://ops.example'), 422);
    const others = ['http://ops.example', 'https://ops.example:444', 'https://ops.example/x', 'https://evil.example'];
    for (const origin of [...others, `http://127.0.0.1:${known.port}`])
        assert.equal(await status(origin), 403, origin);
});

test('without keys, every user is the admin "local", and the first page sets a cookie for the forms', async (t) => {
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const page = await browser.get('/');
    assert.equal(page.status, 200);
    assert.match(page.body, /<bdi>local<\/bdi> \(admin\)/);
    assert.doesNotMatch(page.body, /Sign out/);
    const [line] = page.headers['set-cookie'];
    assert.match(line, /^opsbrain_form_\d+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.equal((await browser.get('/')).headers['set-cookie'], undefined);
    assert.equal((await browser.get('/sign-in')).headers.location, '/');
});
