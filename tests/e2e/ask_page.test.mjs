// SPDX-License-Identifier: Apache-2.0
// If a client can open pages but cannot show forms, the user answers a call's question on a page of the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, tokenOf } from './support/browser.mjs';
import { connect, forEachClient, isStateless } from './support/clients.mjs';
import { addKey, startConformanceServer, startServer, temporaryFolder, until } from './support/harness.mjs';

const YES = { answer: 'accept', 'content.remove': 'true' };

const pathOf = (params) => new URL(params.url).pathname;

async function answer(browser, path, fields, headers) {
    return browser.post(path, { token: tokenOf((await browser.get(path)).body), ...fields }, headers);
}

// connectWithSim(kind, url, onPage, key): a client that calls onPage to open a page, and that has registered the deployment sim.
async function connectWithSim(kind, url, onPage, key) {
    const client = await connect(kind, url, { onPage, key });
    await client.call('deployment_register', { name: 'sim', url: 'http://127.0.0.1:1' });
    return client;
}

forEachClient('a user confirms a removal on the page that the client opens', async (t, kind) => {
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const completed = [];
    let asked;
    const client = await connectWithSim(kind, server.url, async (params) => {
        asked = params;
        const page = await browser.get(pathOf(params));
        assert.equal(page.status, 200, page.body);
        assert.match(page.body, /Remove the deployment &quot;sim&quot;|Remove the deployment "sim"/);
        assert.match(page.body, /<button name="answer" value="accept">Remove it</);
        assert.match((await browser.get('/')).body, new RegExp(`Waiting for your answer.*href="${pathOf(params)}"`, 's'));
        // The user answers after the client has reported that the page is open.
        setTimeout(async () => assert.equal((await answer(browser, pathOf(params), YES)).status, 303), 50);
        return { action: 'accept' };
    });
    client.onNotification(({ method, params }) => method === 'notifications/elicitation/complete' && completed.push(params));
    assert.deepEqual(await client.call('deployment_remove', { deployment: 'sim' }), { name: 'sim', removed: true });
    assert.equal(asked.mode, 'url');
    assert.match(asked.message, /^Remove the deployment "sim"/);
    assert.equal(new URL(asked.url).origin, browser.origin);
    assert.deepEqual(completed, isStateless(kind) ? [] : [{ elicitationId: asked.elicitationId }]);

    const page = await browser.get(pathOf(asked));
    assert.match(page.body, /Answered at .* UTC: <bdi>remove: yes<\/bdi>/);
    assert.doesNotMatch(page.body, /<button/);
    assert.doesNotMatch((await browser.get('/')).body, /Waiting for your answer/);
    const second = await browser.post(pathOf(asked), { token: await browser.token('/register'), ...YES });
    assert.equal(second.status, 409);
    assert.match(second.body, /this question was answered at [^:]*:[^:]*:[^:]*: the first answer counts/);
    const { rows } = await client.call('audit_list', { tool: 'question_answer' });
    assert.deepEqual(rows.map(({ outcome }) => outcome), ['conflict', 'ok']);
    await client.close();
});

test('only the caller can answer a question, and only on a page of this server', async (t) => {
    const data = await temporaryFolder(t);
    const keys = {};
    for (const [name, role] of Object.entries({ otto: 'operator', ada: 'admin' })) keys[name] = await addKey(data, name, '--role', role);
    const server = await startServer(t, { data });
    const [otto, ada] = [new Browser(server.port), new Browser(server.port)];
    await otto.signIn(keys.otto);
    await ada.signIn(keys.ada);
    for (const kind of ['legacy-1x', '2x-2026']) {
        const client = await connectWithSim(kind, server.url, async (params) => {
            const path = pathOf(params);
            assert.equal((await new Browser(server.port).get(path)).headers.location, `/sign-in?to=${encodeURIComponent(path)}`);
            const foreign = await ada.get(path);
            assert.equal(foreign.status, 403);
            assert.match(foreign.body, /a call by otto asks this question: only otto can answer it, and you are signed in as ada/);
            assert.doesNotMatch(foreign.body, /Remove/);
            assert.equal((await ada.post(path, { token: await ada.token('/register'), ...YES })).status, 403);
            assert.doesNotMatch((await ada.get('/')).body, /Waiting for your answer/);

            for (const headers of [{ Origin: 'https://evil.example' }, { Origin: undefined }, { 'Sec-Fetch-Site': 'cross-site' }])
                assert.equal((await answer(otto, path, YES, headers)).status, 403, JSON.stringify(headers));
            assert.equal((await otto.post(path, YES)).status, 403);
            const bearer = { Authorization: `Bearer ${keys.otto}` };
            const { headers } = await new Browser(server.port, bearer).post(path, YES); // a key is not enough: the user must sign in
            assert.equal(headers.location, '/sign-in');
            assert.equal((await answer(otto, path, { answer: 'decline' })).status, 303);
            assert.match((await otto.get(path)).body, /UTC: declined/);
            return { action: 'accept' };
        }, keys.otto);
        assert.match(await client.refusal('deployment_remove', { deployment: 'sim' }), /sim stays registered/);
        await client.call('deployment_remove', { deployment: 'sim', confirm: 'sim' });
        await client.close();
    }
});

test('if the user unticks a box that is ticked by default, the answer is no', async (t) => {
    const server = await startConformanceServer(t);
    const browser = new Browser(server.port);
    const box = (body) => body.match(/<input type="checkbox"[^>]*>/)[0];
    const client = await connect('2x-2026', server.url, {
        onPage: async (params) => {
            const path = pathOf(params);
            assert.match(box((await browser.get(path)).body), /name="content.verified" value="true" checked/);
            const fields = { answer: 'accept', 'content.name': 'Ada', 'content.score': '1', 'content.status': 'active' };
            const again = await answer(browser, path, { ...fields, 'content.age': 'old' });
            assert.doesNotMatch(box(again.body), /checked/);
            assert.equal((await answer(browser, path, { ...fields, 'content.age': '36' })).status, 303);
            return { action: 'accept' };
        },
    });
    const { content } = await client.callTool('test_elicitation_sep1034_defaults', {});
    assert.match(content[0].text, /"verified":\s*false/);
    await client.close();
});

test('a question expires if nobody answers it, or if the user does not open its page', async (t) => {
    const server = await startServer(t, { args: ['--ask-timeout', '1s'] });
    const browser = new Browser(server.port);
    const paths = [];
    for (const [kind, action, why] of [
        ['legacy-1x', 'accept', /nobody answered on the page http:.*\/ask\/ask_\w+ within 1 s/],
        ['2x-2026', 'accept', /nobody answered on the page/],
        ['legacy-1x', 'decline', /sim stays registered/],
        ['2x-2026', 'cancel', /sim stays registered/],
    ]) {
        const client = await connectWithSim(kind, server.url, (params) => (paths.push(pathOf(params)), { action }));
        assert.match(await client.refusal('deployment_remove', { deployment: 'sim' }), why);
        const page = await browser.get(paths.at(-1));
        assert.match(page.body, /Nobody has waited for an answer since/, kind);
        const late = await browser.post(paths.at(-1), { token: await browser.token('/register'), ...YES });
        assert.equal(late.status, 409);
        assert.match(late.body, /this question expired at .*: repeat the call/);
        await client.call('deployment_remove', { deployment: 'sim', confirm: 'sim' });
        await client.close();
    }
    assert.equal(new Set(paths).size, 4);
    assert.equal((await browser.get('/ask/ask_unknown')).status, 404);
});

test('a client with protocol 2026-07-28 that disconnected can repeat the call for the result; the removal happens once', async (t) => {
    const server = await startServer(t);
    const browser = new Browser(server.port);
    const client = await connectWithSim('2x-2026', server.url);
    const asked = await callTool(server, 'deployment_remove', { deployment: 'sim' });
    const url = asked.inputRequests.remove.params.url;
    const round = { inputResponses: { remove: { action: 'accept' } }, requestState: asked.requestState };
    const gone = new AbortController();
    const waiting = callTool(server, 'deployment_remove', { deployment: 'sim' }, round, gone.signal).catch((error) => error.name);
    await until('the call to wait', async () => (await browser.get(new URL(url).pathname)).status === 200);
    gone.abort();
    assert.equal(await waiting, 'AbortError');
    assert.equal((await answer(browser, new URL(url).pathname, YES)).status, 303);
    for (let i = 0; i < 2; i++) {
        const result = await callTool(server, 'deployment_remove', { deployment: 'sim' }, round);
        assert.deepEqual(result.structuredContent, { name: 'sim', removed: true });
    }
    assert.equal((await client.call('audit_list', { tool: 'deployment_remove' })).rows.filter(({ outcome }) => outcome === 'ok').length, 1);
    await client.close();
});

async function callTool(server, name, args, more = {}, signal = undefined) {
    const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
    };
    const answered = await fetch(server.url, {
        method: 'POST',
        signal,
        headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            'MCP-Protocol-Version': '2026-07-28',
            'Mcp-Method': 'tools/call',
            'Mcp-Name': name,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, ...more, _meta: meta } }),
    });
    const body = await answered.text();
    return JSON.parse(body.startsWith('{') ? body : body.match(/^data: (.*)$/m)[1]).result;
}
