// SPDX-License-Identifier: Apache-2.0
// The stream of an open tab, which names what changed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from './browser.mjs';
import { connect } from './clients.mjs';
import { addKey, run, startServer, temporaryFolder } from './harness.mjs';

// events(server, headers): the names of each event as it comes, until the stream ends.
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

async function nextNaming(stream, name) {
    for (;;) {
        const { value, done } = await stream.next();
        assert.ok(!done, `the stream ended before ${name}`);
        if (value.includes(name)) return value;
    }
}

test('a tab hears the name of what changed, and nothing else of it', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const stream = events(server);
    assert.deepEqual((await stream.next()).value, []); // the comment that it begins with
    await client.call('deployment_register', { name: 'sim', url: 'http://127.0.0.1:9' });
    const names = await nextNaming(stream, 'sim');
    assert.ok(names.every((name) => ['sim', '*'].includes(name)), names);
    await client.close();
    await stream.return();
});

test('a stream is for those who are signed in, and ends with their key', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'eve', '--role', 'viewer');
    const server = await startServer(t, { data });
    const browser = new Browser(server.port);
    assert.equal((await browser.get('/events')).status, 303);
    await browser.signIn(key);
    const stream = events(server, { Cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') });
    await stream.next();
    assert.equal((await run(['key', 'revoke', 'eve', '--data', data])).code, 0);
    for (;;) if ((await stream.next().catch(() => ({ done: true }))).done) break;
});
