// SPDX-License-Identifier: Apache-2.0
// Addresses that the server must not call, and text with invisible characters.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { connect, text } from './support/clients.mjs';
import { atEnd, startServer, startSimserve, temporaryFolder, until } from './support/harness.mjs';

const NOT_ALLOWED = /not among the servers that the setting allowed_servers names|the setting allowed_servers does not name/;

test('no spelling of a cloud metadata address can be registered', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const hosts = `169.254.169.254 [::ffff:169.254.169.254] [::ffff:0:169.254.169.254] [64:ff9b::a9fe:a9fe]
        [64:ff9b:1::169.254.169.254] [64:ff9b:1:a9fe:a9:fe00::] [2001:0:5db8:d822:8000:0:5601:5601]
        [2001:0:a9fe:a9fe::1] [2002:a9fe:a9fe::1] [2001:db8::5efe:a9fe:a9fe] [2001:db8::200:5efe:169.254.169.254]
        [fd00:ec2::254] [fd20:ce::254] [fd00:42::42] [fe80::a9fe:a9fe] 100.100.100.200 168.63.129.16`;
    for (const host of hosts.split(/\s+/)) {
        const sentence = await client.refusal('deployment_register', { name: 'x', url: `http://${host}:80` });
        assert.match(sentence, /is a metadata, link-local, unspecified, multicast or reserved address/, host);
    }
    await client.close();
});

test('with allowed_servers set, no other server is called, even if it was registered before', async (t) => {
    const data = await temporaryFolder(t);
    const model = await startSimserve(t);
    const url = `http://localhost:${model.port}`;
    const before = await startServer(t, { data });
    let client = await connect('2x-2026', before.url);
    await client.call('deployment_register', { name: 'by-address', url: model.url });
    await client.call('deployment_register', { name: 'by-name', url });
    await client.call('metrics_watch', { deployment: 'by-name', interval_s: 1 });
    await client.close();
    await before.stop();

    const server = await startServer(t, { data, args: ['--allowed-servers', '10.0.0.0/8, gpu.example.com'] });
    client = await connect('2x-2026', server.url);
    const uses = [
        ['model_show', {}],
        ['model_query', { prompt: 'hello' }],
        ['metrics_show', {}],
        ['sweep_start', { concurrency: [1], input_tokens: [8], output_tokens: [4], window_s: 1 }],
    ];
    for (const deployment of ['by-address', 'by-name'])
        for (const [tool, args] of uses) assert.match(await client.refusal(tool, { deployment, ...args }), NOT_ALLOWED, tool);
    const health = await client.callTool('model_health', { deployment: 'by-name' });
    assert.match(text(health), NOT_ALLOWED);
    await until('a scrape', async () => {
        const { watch } = await client.call('deployment_show', { deployment: 'by-name' });
        return NOT_ALLOWED.test(watch.last_error ?? '');
    });
    assert.match(await client.refusal('deployment_register', { name: 'x', url: 'http://192.168.1.1' }), NOT_ALLOWED);
    const registered = await client.call('deployment_register', { name: 'y', url: `http://localhost:${model.port}/v2` });
    assert.match(registered.problem, NOT_ALLOWED);
    await client.close();
    await server.stop();

    const allowing = await startServer(t, { data, args: ['--allowed-servers', '.localhost, 127.0.0.0/8'] });
    client = await connect('2x-2026', allowing.url);
    for (const deployment of ['by-address', 'by-name']) await client.call('model_query', { deployment, prompt: 'hello' });
    await client.close();
});

// Starts a model server with `words` in the name of a model, in its completions and in its errors; returns its URL.
async function startSpeaker(t, words) {
    const server = http.createServer((request, response) => {
        if (request.url === '/v1/models') return response.end(JSON.stringify({ data: [{ id: `m${words}` }, { id: 'b' }] }));
        if (!request.url.endsWith('completions')) return (response.statusCode = 404), response.end(words);
        response.setHeader('Content-Type', 'text/event-stream');
        for (const piece of [...words])
            response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: piece } }] })}\n\n`);
        response.end('data: [DONE]\n\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(t, async () => (server.closeAllConnections(), server.close()));
    return `http://127.0.0.1:${server.address().port}`;
}

test('untrusted text is shown without invisible characters and without characters that change its direction', async (t) => {
    const hidden = [0x202e, 0x202a, 0x2066, 0x2069, 0x200b, 0x200f, 0xfeff, 0x61c, 0xe0041, 0xe007f, 0xfe0f, 0x2060, 0xad];
    const words = `pay ${hidden.map((code) => String.fromCodePoint(code)).join('')}eve\u2028> Ignore this \u00e4\u20ac\u{1f600}`;
    const seen = 'pay eve\ufffd> Ignore this \u00e4\u20ac\u{1f600}';
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const shown = [];
    const call = async (name, args) => {
        const onprogress = ({ message }) => shown.push(message ?? '');
        shown.push(JSON.stringify(await client.callTool(name, args, { onprogress })));
    };
    await call('deployment_register', { name: 'a', url: await startSpeaker(t, words), labels: { a: words } });
    for (const name of ['model_show', 'model_health', 'deployment_show', 'deployment_list']) await call(name, {});
    const { text: answer } = await client.call('model_query', { prompt: 'hello' });
    await call('model_query', { prompt: 'hello' });
    await client.close();
    assert.equal(answer, seen);
    assert.doesNotMatch(shown.join(''), new RegExp(`[${hidden.map((code) => `\\u{${code.toString(16)}}`).join('')}\\u2028]`, 'u'));
});
