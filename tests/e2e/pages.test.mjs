// SPDX-License-Identifier: Apache-2.0
// The pages: what they show to each role, and that untrusted text never becomes markup.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { Browser, tokenOf } from './support/browser.mjs';
import { connect } from './support/clients.mjs';
import { addKey, atEnd, startServer, startSimserve, temporaryFolder, until } from './support/harness.mjs';

const HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>javascript:alert(1)\u001b[31m\u202e&amp;';
const PRINTABLE = HOSTILE.replace(/[\u001b\u202e]/g, ''); // without the characters that a registration refuses
const PAGES = ['/', '/deployments', '/deployments/sim', '/history?deployment=sim', '/jobs', '/leases', '/audit-log', '/imports', '/runs', '/sweeps'];
const FORMS = ['/register', '/sweeps/new?deployment=sim'];

// What an HTML page must not contain: markup from untrusted text, styles or scripts in attributes, control characters.
function assertHarmless(body, where) {
    assert.doesNotMatch(body, /<script>|<img/, where);
    assert.doesNotMatch(body.replaceAll(/"[^"]*"/g, '""'), /<[a-z][^>]*\s(style|on[a-z]+)=/, where);
    assert.doesNotMatch(body, /href="javascript:/i, where);
    assert.doesNotMatch(body, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e]/, where);
}

test('untrusted text in stored data, queries, paths and forms never becomes markup', async (t) => {
    const sim = await startSimserve(t);
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: sim.url, engine: '<b>x',
        hardware: PRINTABLE, labels: [`team=${PRINTABLE}`] });
    const csv = `concurrency,input_len,output_tok_per_s,${HOSTILE.replaceAll(',', '')}\n1,64,100,1\n`;
    await client.call('run_import', { text: csv, name: `${HOSTILE}.csv`, notes: HOSTILE, model: HOSTILE });
    await client.refusal('job_show', { job: HOSTILE });
    await client.close();

    const query = new URLSearchParams({ principal: HOSTILE, tool: HOSTILE, subject: HOSTILE, cursor: HOSTILE, minutes: HOSTILE });
    for (const path of [...PAGES, ...FORMS]) {
        const { status, body, headers } = await browser.get(path);
        assert.equal(status, 200, `${path}: ${body}`);
        assertHarmless(body, path);
        assert.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'/);
        assertHarmless((await browser.get(`${path}${path.includes('?') ? '&' : '?'}${query}`)).body, path);
    }
    const imported = (await browser.get('/runs')).body.match(/\/runs\/imp_[a-z0-9]+/)[0];
    assertHarmless((await browser.get(imported)).body, imported);
    for (const [, link] of (await browser.get('/history?deployment=sim')).body.matchAll(/href="(\/history\/chart\.[^"]+)"/g))
        assert.equal((await browser.get(link.replaceAll('&amp;', '&'))).status, 200, link);
    const deployment = (await browser.get('/deployments/sim')).body;
    assert.match(deployment, /&lt;script&gt;alert\(1\)/);
    for (const path of [`/deployments/${encodeURIComponent(HOSTILE)}`, `/jobs/${encodeURIComponent(HOSTILE)}`, `/${encodeURIComponent(HOSTILE)}`])
        assertHarmless((await browser.get(path)).body, path);
    const token = await browser.token('/register');
    const refused = await browser.post('/register', { token, name: HOSTILE, url: HOSTILE, hardware: HOSTILE });
    assert.equal(refused.status, 422);
    assertHarmless(refused.body, 'the form, shown again');
});

// Returns the arguments that a tool requires, and untrusted text in the argument `name`; undefined if that argument cannot hold text.
function hostileArguments({ properties, required = [] }, name, usual) {
    const { type, items } = properties[name];
    const text = type === 'string' ? HOSTILE : type === 'array' && items?.type === 'string' ? [HOSTILE] : undefined;
    if (text === undefined && type !== 'object') return undefined;
    const needed = Object.fromEntries(required.map((each) => [each, usual[each] ?? 'sim']));
    return { ...needed, [name]: text ?? { [HOSTILE]: HOSTILE } };
}

test('untrusted text never becomes markup, whichever parameter of a tool it came in', async (t) => {
    const [server, sim] = [await startServer(t), await startSimserve(t)];
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: sim.url });
    const { run } = await client.call('run_import', { text: 'concurrency,input_len,output_tok_per_s\n1,64,100\n' });
    const { sweep, job } = await client.call('sweep_start', { deployment: 'sim', concurrency: [1], window_s: 1 });
    const usual = { url: sim.url, run: run.id, sweep: sweep.id, job, text: 'a,b\n1,2\n', prompt: 'a' };
    const calls = (await client.listTools()).flatMap(({ name, inputSchema }) =>
        Object.keys(inputSchema.properties)
            .map((parameter) => hostileArguments(inputSchema, parameter, usual))
            .filter((args) => args !== undefined)
            .map((args) => client.callTool(name, args).catch(() => undefined)),
    );
    await Promise.all(calls);
    assert.ok(calls.length > 60, `${calls.length} calls`);
    await client.close();

    const browser = new Browser(server.port);
    const results = [`/sweeps/${sweep.id}`, `/jobs/${job}`, `/runs/${run.id}`, `/compare?a=${run.id}&b=${sweep.id}`];
    for (const path of [...PAGES, ...FORMS, ...results]) {
        let next = path;
        for (let pages = 0; next && pages < 20; pages++) {
            const { body } = await browser.get(next);
            assertHarmless(body, next);
            next = body.match(/<a href="([^"]+)">Next page/)?.[1].replaceAll('&amp;', '&');
        }
    }
});

test('forms are explained in plain words, without the names of tools and parameters', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const tools = await client.listTools();
    await client.close();
    const names = tools.flatMap(({ name, inputSchema }) => [name, ...Object.keys(inputSchema.properties)]);
    const shown = [];
    for (const path of ['/register', '/sweeps/new', '/imports']) {
        const { body } = await new Browser(server.port).get(path);
        for (const [, hint] of body.matchAll(/<span class="hint">(.*?)<\/span>/gs)) shown.push(hint.replace(/<[^>]*>/g, ''));
    }
    assert.ok(shown.length > 40);
    for (const hint of shown) {
        assert.doesNotMatch(hint, /[`\[\]]|&quot;/, hint);
        const words = hint.match(/[a-z0-9]+(_[a-z0-9]+)+/g) ?? [];
        assert.deepEqual(words.filter((word) => names.includes(word)), [], hint);
    }
    const text = shown.join('\n');
    assert.match(text, /Users at once, as 1, 4, 16, 64; omitted/);
    assert.match(text, /four times “Window, s”/);
    const { body } = await new Browser(server.port).get('/sweeps/new');
    assert.match(body, /<label>Limit TTFT, ms</);
    assert.match(body, /name="output_tokens" placeholder="128"/);
});

test('a viewer sees no button for an action that needs another role, and is refused when sending its form anyway', async (t) => {
    const data = await temporaryFolder(t);
    const keys = { eve: await addKey(data, 'eve', '--role', 'viewer'), otto: await addKey(data, 'otto', '--role', 'operator') };
    const server = await startServer(t, { data });
    const [eve, otto] = [new Browser(server.port), new Browser(server.port)];
    await eve.signIn(keys.eve);
    await otto.signIn(keys.otto);
    const token = await otto.token('/register');
    assert.equal((await otto.post('/register', { token, name: 'sim', url: 'http://127.0.0.1:9' })).status, 303);

    for (const path of PAGES) {
        const { status, body } = await eve.get(path);
        assert.equal(status, 200, `${path}: ${body}`);
        const actions = [...body.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, action]) => action);
        assert.deepEqual(actions, ['/sign-out'], path);
        assert.doesNotMatch(body, /\/new"/, path);
    }
    const own = await eve.token();
    for (const path of ['/register', '/sweeps/new', '/deployments/sim/watch', '/jobs/job_x/cancel', '/imports'])
        assert.equal((await eve.post(path, { token: own, name: 'x', url: 'http://127.0.0.1:9' })).status, 403, path);
    for (const path of FORMS) assert.equal((await eve.get(path)).status, 403, path);
});

test('an error page has the navigation and, if a user is signed in and the path is known, "Sign out"', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'eve', '--role', 'viewer');
    const server = await startServer(t, { data });
    const [eve, nobody] = [new Browser(server.port), new Browser(server.port)];
    const navigation = /<nav aria-label="Pages"><a href="\/">Overview<\/a>/;
    const unknown = await nobody.get('/nowhere');
    assert.equal(unknown.status, 404);
    assert.match(unknown.body, navigation);
    assert.doesNotMatch(unknown.body, /class="who"/);
    assert.doesNotMatch((await nobody.get('/sign-in')).body, navigation);
    await eve.signIn(key);
    const refusals = {
        '/register': 403, '/runs/run_nothing': 404, '/sweeps/nothing': 404, '/nowhere': 404,
        '/compare?a=run_nothing&b=run_none': 404, '/ask/ask_nothing': 404, '/history?deployment=none': 404,
    };
    for (const [path, status] of Object.entries(refusals)) {
        const answer = await eve.get(path);
        assert.deepEqual([path, answer.status], [path, status]);
        assert.match(answer.body, navigation, path);
        if (path !== '/nowhere') assert.match(answer.body, /<bdi>eve<\/bdi> \(viewer\).*Sign out/s, path);
    }
    const forged = await eve.post('/sign-out', {}, { Origin: 'https://evil.example' });
    assert.equal(forged.status, 403);
    assert.match(forged.body, navigation);
    assert.equal((await eve.post('/sign-out', { token: await eve.token('/register') })).headers.location, '/sign-in');
});

test('forms alone can register a deployment, and plan, start and cancel a sweep; a start sent twice starts one sweep', async (t) => {
    const sim = await startSimserve(t);
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const token = await browser.token('/register');
    const wrong = await browser.post('/register', { token, name: 'a b', url: sim.url });
    assert.equal(wrong.status, 422);
    assert.match(wrong.body, /role="alert">[^<]*can contain only letters/);
    assert.match(wrong.body, new RegExp(`name="url" value="${sim.url}"`));
    const made = await browser.post('/register', { token, name: 'sim', url: sim.url, labels: 'team=a\r\nstage=b', chips: '2' });
    assert.equal(made.headers.location, '/deployments/sim');
    assert.match((await browser.get('/deployments/sim')).body, /class="state good">up/);

    const plan = await browser.post('/sweeps/new', {
        token, step: 'plan', deployment: 'sim', concurrency: '1, 4', input_tokens: '64', window_s: '60',
    });
    assert.equal(plan.status, 200);
    assert.match(plan.body, /<dt>Cells<\/dt><dd>2<\/dd>/);
    const fields = Object.fromEntries([...plan.body.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]));
    assert.match(fields.plan_digest, /^[0-9a-f]{64}$/);
    const [started, again] = [await browser.post('/sweeps/new', { ...fields, step: 'start' }), await browser.post('/sweeps/new', { ...fields, step: 'start' })];
    assert.match(started.headers.location, /^\/sweeps\/swp_/);
    assert.equal(again.headers.location, started.headers.location);

    const jobs = await browser.get('/jobs');
    const cancel = jobs.body.match(/action="(\/jobs\/job_[^"]+\/cancel)"/)[1];
    assert.equal((await browser.post(cancel, { token: tokenOf(jobs.body) })).status, 303);
    await until('the job to be cancelled', async () => /class="state warn">cancelled/.test((await browser.get('/jobs')).body));
});

test('an uploaded file is imported, and the page shows which column was not read', async (t) => {
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const token = await browser.token('/imports');
    const send = (file, more = {}) => {
        const form = new FormData();
        for (const [name, value] of Object.entries({ token, ...more })) form.append(name, value);
        if (file !== undefined) form.append('file', new Blob([file]), 'results.csv');
        return fetch(`http://127.0.0.1:${server.port}/imports`, {
            method: 'POST',
            body: form,
            headers: { Cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; '), Origin: browser.origin, Accept: 'text/html' },
        });
    };
    const csv = 'concurrency,input_len,output_tok_per_s,weather\n1,64,100,fine\n4,64,300,rain\n';
    const accepted = await send(csv, { hardware: 'L4', chips: '2' });
    const body = await accepted.text();
    assert.equal(accepted.status, 200, body);
    assert.match(body, /href="\/runs\/imp_/);
    assert.match(body, /weather/);
    assert.match(body, /results\.csv/);
    assert.match(await (await send(csv, { hardware: 'L4', chips: '2' })).text(), /imported before/);
    assert.equal((await send('nothing that one could read')).status, 422);
    assert.equal((await send(undefined)).status, 422);
    assert.equal((await send(csv, { token: '' })).status, 403);
    assert.match((await browser.get('/imports')).body, /results\.csv/);
});

test('the overview says why a job failed', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const broken = http.createServer((request, response) => {
        const known = request.url === '/v1/models';
        request.resume();
        response.writeHead(known ? 200 : 400, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(known ? { data: [{ id: 'm', object: 'model' }] } : { error: { message: 'out of paper' } }));
    });
    broken.listen(0, '127.0.0.1');
    await once(broken, 'listening');
    atEnd(t, () => (broken.closeAllConnections(), broken.close()));
    await client.call('deployment_register', { name: 'broken', url: `http://127.0.0.1:${broken.address().port}` });
    const { job } = await client.call('sweep_start', { deployment: 'broken', concurrency: [1], window_s: 1 });
    await until('the sweep to fail', async () => (await client.call('job_show', { job })).job.state === 'failed');
    await client.close();
    const { body } = await new Browser(server.port).get('/');
    assert.match(body, /Failed jobs created in the last 24 hours.*<td[^>]*><bdi>[^<]*out of paper/s);
});

test('a deployment can be named "new"', async (t) => {
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'new', url: 'http://127.0.0.1:9' });
    assert.match((await browser.get('/deployments')).body, /href="\/deployments\/new">/);
    assert.match((await browser.get('/deployments/new')).body, /action="\/deployments\/new\/watch"/);
    await client.close();
});

test('the link "compare anyway" keeps the options of the request', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const add = (hardware, speed) =>
        client.call('run_import', { text: `concurrency,input_len,output_tok_per_s\n1,64,${speed}\n`, name: `${hardware}.csv`, hardware });
    const [a, b] = [(await add('L4', 90)).run.id, (await add('H100', 100)).run.id];
    await client.close();
    const { body } = await new Browser(server.port).get(`/compare?a=${a}&b=${b}&keep_wrong=1`);
    assert.match(body, /href="\/compare\?a=[^"]*&amp;keep_wrong=1">compare anyway/);
});

test('long lists are split into pages whose links keep the filter, and HEAD gets no body', async (t) => {
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const client = await connect('2x-2026', server.url);
    for (let i = 0; i < 25; i++) await client.call('deployment_register', { name: `d${i}`, url: 'http://127.0.0.1:9' });
    await client.close();
    const first = await browser.get('/audit-log?tool=deployment_register');
    assert.equal(first.body.match(/<tr>/g).length, 21);
    const next = first.body.match(/<a href="(\/audit-log\?tool=deployment_register&amp;cursor=[^"]+)">Next page/)[1];
    const second = await browser.get(next.replaceAll('&amp;', '&'));
    assert.equal(second.body.match(/<tr>/g).length, 6);
    assert.match(second.body, /<a href="\/audit-log\?tool=deployment_register">First page/);
    assert.match(first.body, /name="tool" value="deployment_register"/);
    const head = await browser.ask('HEAD', '/audit-log');
    assert.equal(head.status, 200);
    assert.equal(head.body, '');
});
