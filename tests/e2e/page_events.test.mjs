// SPDX-License-Identifier: Apache-2.0
// The event stream that an open browser tab receives: each event names what changed. "*" means that anything might have changed,
// and "*load" means that metrics were scraped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from './support/browser.mjs';
import { connect } from './support/clients.mjs';
import { addKey, request, run, startServer, startSimserve, temporaryFolder } from './support/harness.mjs';

// events(server, headers): opens a stream, and yields the list of names in each event as it arrives. A comment yields [].
async function* events(server, headers = {}) {
    const answer = await fetch(`http://127.0.0.1:${server.port}/events`, { headers, redirect: 'manual' });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type'), /^text\/event-stream/);
    let text = '';
    for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        text += piece;
        for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
            const data = text.slice(0, end).match(/^data: (.*)$/m);
            yield data ? JSON.parse(data[1]) : [];
        }
    }
}

// ended(stream): reads a stream to its end.
async function ended(stream) {
    while (!(await stream.next().catch(() => ({ done: true }))).done);
}

// nextNaming(stream, name): the names in the next event that contains this name.
async function nextNaming(stream, name) {
    for (;;) {
        const { value, done } = await stream.next();
        assert.ok(!done, `the stream ended before ${name}`);
        if (value.includes(name)) return value;
    }
}

test('when a deployment is registered, a tab receives an event that names it, and nothing else except "*"', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const stream = events(server);
    assert.deepEqual((await stream.next()).value, []); // the comment with which a stream begins
    await client.call('deployment_register', { name: 'sim', url: 'http://127.0.0.1:9' });
    const names = await nextNaming(stream, 'sim');
    assert.ok(names.every((name) => ['sim', '*'].includes(name)), names);
    await client.close();
    await stream.return();
});

test('a tab is notified when metrics have been scraped, and the overview then shows the load', async (t) => {
    const [server, sim] = [await startServer(t), await startSimserve(t)];
    const client = await connect('2x-2026', server.url);
    const browser = new Browser(server.port);
    await client.call('deployment_register', { name: 'sim', url: sim.url });
    const before = await browser.get('/');
    assert.match(before.body, /data-follows="\* \*load"/);
    assert.match(before.body, /<li class="soft">no recent load data</);
    const stream = events(server);
    await client.call('metrics_watch', { deployment: 'sim', interval_s: 1 });
    await nextNaming(stream, '*load');
    assert.match((await browser.get('/')).body, /<li>0 running<.*<li>0 waiting</s);
    await client.close();
    await stream.return();
});

test('only a signed-in user gets a stream, which ends when the key is revoked', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'eve', '--role', 'viewer');
    const server = await startServer(t, { data });
    const browser = new Browser(server.port);
    assert.equal((await browser.get('/events')).status, 303);
    const asked = await request(server.port, { path: '/events', headers: { Accept: 'text/event-stream' } });
    assert.deepEqual([asked.status, asked.body], [204, ''], 'the browser would report an HTML page as an error');
    await browser.signIn(key);
    const stream = events(server, { Cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') });
    await stream.next();
    assert.equal((await run(['key', 'revoke', 'eve', '--data', data])).code, 0);
    await ended(stream);
});

test("signing out ends that browser's streams at once, but no other streams", async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'eve', '--role', 'viewer');
    const server = await startServer(t, { data });
    const [browser, other] = [new Browser(server.port), new Browser(server.port)];
    const streams = [];
    for (const each of [browser, browser, other]) {
        if (each.cookies.size < 2) await each.signIn(key);
        const stream = events(server, { Cookie: [...each.cookies].map((pair) => pair.join('=')).join('; ') });
        await stream.next();
        streams.push(stream);
    }
    const begun = Date.now();
    assert.equal((await browser.post('/sign-out', { token: await browser.token() })).status, 303);
    await Promise.all(streams.slice(0, 2).map(ended));
    assert.ok(Date.now() - begun < 5000);
    const kept = ended(streams[2]).then(() => 'ended');
    assert.equal(await Promise.race([kept, other.get('/').then(({ status }) => status)]), 200);
    await other.post('/sign-out', { token: await other.token() });
    assert.equal(await kept, 'ended');
});
