// SPDX-License-Identifier: Apache-2.0
// What users with a key, or with a model server of their own, might try in order to see a secret or to redirect prompts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { connect, text } from './support/clients.mjs';
import { SECRET, tryEchoes } from './support/echo.mjs';
import { addKey, atEnd, post, run, startServer, temporaryFolder, until } from './support/harness.mjs';

// startRecorder(t): {url, port, received}: a model server that records in `received` every Authorization header that it gets.
async function startRecorder(t) {
    const received = [];
    const server = http.createServer((request, response) => {
        if (request.headers.authorization) received.push(request.headers.authorization);
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ object: 'list', data: [{ id: 'model', owned_by: 'thief' }] }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(t, async () => (server.closeAllConnections(), server.close()));
    const { port } = server.address();
    return { url: `http://127.0.0.1:${port}`, port, received };
}

// withTeam(t): a server with the secret LAB; clients of an admin (ada) and two operators (otto, olga); and two model servers: `model`
// is the team's, `thief` is a thief's.
async function withTeam(t, options = {}) {
    const data = await temporaryFolder(t);
    const keys = {};
    for (const [name, role] of Object.entries({ ada: 'admin', otto: 'operator', olga: 'operator' }))
        keys[name] = await addKey(data, name, '--role', role);
    const server = await startServer(t, { data, ...options, env: { OPSBRAIN_SECRET_LAB: SECRET, ...options.env } });
    const clients = {};
    for (const [name, key] of Object.entries(keys)) {
        clients[name] = await connect('2x-2026', server.url, { key });
        atEnd(t, () => clients[name].close());
    }
    return { ...clients, server, data, keys, model: await startRecorder(t), thief: await startRecorder(t) };
}

test('an operator cannot have a secret sent to a server of their own', async (t) => {
    const { ada, otto, model, thief } = await withTeam(t);
    const { bound } = await ada.call('deployment_register', { name: 'lab', url: model.url, secret: 'LAB' });
    assert.equal(bound, model.url);
    await until('the bearer', () => model.received.includes(`Bearer ${SECRET}`));
    const own = { deployment: 'own', confirm: 'own' };
    await otto.call('deployment_register', { name: 'own', url: model.url, secret: 'LAB' });
    const attempts = [
        ['deployment_update', { ...own, url: thief.url, secret: 'LAB' }],
        ['deployment_update', { ...own, url: thief.url }],
        ['deployment_update', { ...own, url: `http://localhost:${model.port}` }],
        ['deployment_update', { ...own, url: `https://127.0.0.1:${model.port}` }],
        ['deployment_register', { name: 'another', url: thief.url, secret: 'LAB' }],
        ['deployment_register', { name: 'third', url: `http://127.0.0.2:${model.port}`, secret: 'LAB' }],
        ['deployment_register', { name: 'unused', url: thief.url, secret: 'NOBODYS' }],
        ['secret_bind', { secret: 'LAB', origin: thief.url }],
    ];
    for (const [tool, args] of attempts)
        assert.match(await otto.refusal(tool, args), /is not bound to .* secret_bind \{|needs the role admin/, tool);
    await otto.call('deployment_update', { deployment: 'own', secret: '' });
    await otto.call('deployment_update', { ...own, url: thief.url });
    assert.match(await otto.refusal('deployment_update', { deployment: 'own', secret: 'LAB' }), /is not bound to/);
    await otto.call('model_show', { deployment: 'own' });
    assert.deepEqual(thief.received, []);
});

test('once its binding is removed, a secret is not sent until it is bound again', async (t) => {
    const { ada, otto, data, model } = await withTeam(t);
    await ada.call('deployment_register', { name: 'lab', url: model.url, secret: 'LAB' });
    const unbound = await run(['secret', 'unbind', 'LAB', model.url, '--data', data]);
    assert.equal(unbound.output, `LAB may not be sent to ${model.url} from now on\n`);
    model.received.length = 0;
    const uses = [
        ['model_show', {}],
        ['model_health', {}],
        ['model_query', { prompt: 'hello' }],
        ['metrics_show', {}],
        ['sweep_start', { concurrency: [1], input_tokens: [8], output_tokens: [4], window_s: 1 }],
    ];
    for (const [tool, args] of uses)
        assert.match(await otto.refusal(tool, { deployment: 'lab', ...args }), /LAB is not bound to/, tool);
    await otto.call('metrics_watch', { deployment: 'lab', interval_s: 1 });
    await until('a scrape', async () => {
        const { watch } = await otto.call('deployment_show', { deployment: 'lab' });
        return /LAB is not bound to/.test(watch.last_error ?? '');
    });
    assert.deepEqual(model.received, []);
    const bound = await run(['secret', 'bind', 'LAB', `${model.url}/v1`, '--data', data]);
    assert.equal(bound.output, `LAB may be sent to ${model.url} from now on\n`);
    await otto.call('model_show', { deployment: 'lab' });
    assert.ok(model.received.includes(`Bearer ${SECRET}`));
});

test('a secret with an .origins file is sent only to the origins in that file', async (t) => {
    const secrets = await temporaryFolder(t);
    const { ada, data, model, thief } = await withTeam(t, { args: ['--secrets', secrets] });
    await writeFile(path.join(secrets, 'TEAM'), SECRET);
    await writeFile(path.join(secrets, 'TEAM.origins'), `# ours\n${model.url}\n`);
    await ada.call('deployment_register', { name: 'lab', url: model.url, secret: 'TEAM' });
    for (const [tool, args] of [
        ['deployment_register', { name: 'x', url: thief.url, secret: 'TEAM' }],
        ['deployment_update', { deployment: 'lab', url: thief.url, secret: 'TEAM', confirm: 'lab' }],
        ['secret_bind', { secret: 'TEAM', origin: thief.url }],
    ])
        assert.match(await ada.refusal(tool, args), /TEAM\.origins/, tool);
    const refused = await run(['secret', 'bind', 'TEAM', thief.url, '--data', data]);
    assert.equal(refused.code, 1);
    assert.match(refused.output, /TEAM\.origins/);
    const listed = await run(['secret', 'list', '--data', data]);
    assert.match(listed.output, new RegExp(`TEAM.*yes.*${model.url}.*file`));
    assert.doesNotMatch(listed.output, new RegExp(SECRET));
    assert.deepEqual(thief.received, []);
});

test("an operator cannot change, give away or remove somebody else's deployment, or register it again once it is removed", async (t) => {
    const { ada, otto, olga, model, thief } = await withTeam(t);
    await otto.call('deployment_register', { name: 'lab', url: model.url });
    for (const [tool, args] of [
        ['deployment_update', { url: thief.url }],
        ['deployment_update', { secret: 'LAB' }],
        ['deployment_update', { owner: 'olga' }],
        ['deployment_remove', {}],
    ])
        assert.match(
            await olga.refusal(tool, { deployment: 'lab', confirm: 'lab', ...args }),
            /belongs to otto: only otto or an admin|only an admin may hand/,
            tool,
        );
    await otto.call('deployment_remove', { deployment: 'lab', confirm: 'lab' });
    assert.match(await olga.refusal('deployment_register', { name: 'lab', url: thief.url }), /removed deployment of otto/);
    await otto.call('deployment_register', { name: 'lab', url: model.url });
    await ada.call('deployment_update', { deployment: 'lab', owner: 'olga' });
    assert.match(await otto.refusal('deployment_remove', { deployment: 'lab', confirm: 'lab' }), /belongs to olga/);
});

for (const kind of ['2x-legacy', '2x-2026']) test(`a changed address must be confirmed, and subscribers are notified (${kind})`, async (t) => {
    const server = await startServer(t);
    const forms = [];
    const answers = [{ action: 'decline' }, { action: 'accept', content: { move: true } }];
    const client = await connect(kind, server.url, { onForm: (form) => (forms.push(form), answers.shift()) });
    const follower = await connect(kind, server.url);
    const updated = [];
    await client.call('deployment_register', { name: 'sim', url: 'http://127.0.0.1:1' });
    follower.onUpdated((uri) => updated.push(uri));
    await follower.subscribe('opsbrain://deployments/sim');

    const move = { url: 'http://127.0.0.1:2' }; // the only deployment needs no name
    assert.match(await client.refusal('deployment_update', move), /sim stays at http:\/\/127\.0\.0\.1:1/);
    assert.match(forms[0].message, /Point the deployment "sim" \(owner: local\) to http:\/\/127\.0\.0\.1:2 instead of/);
    await client.call('deployment_update', move);
    assert.equal(forms.length, 2);
    await until('the notification', () => updated.includes('opsbrain://deployments/sim'));
    const refused = await follower.callTool('deployment_update', { url: 'http://127.0.0.1:3' });
    assert.match(text(refused), /to http:\/\/127\.0\.0\.1:3 instead.*call again with "confirm": "sim"/);
    await client.close();
    await follower.close();
});

for (const names of [
    ['whole', 'slashed', 'without its last character'],
    ['escaped', 'base64', 'without its first character'],
])
    test(`a secret that a model server repeats is hidden (${names.join(', ')})`, async (t) => {
        await tryEchoes(t, [[names[0], ''], [names[1], ''], [names[2], 'status'], [names[0], 'inside']], 1);
    });

test('text that looks like a credential is never stored', async (t) => {
    const data = await temporaryFolder(t);
    const server = await startServer(t, { data });
    const client = await connect('2x-2026', server.url);
    const filling = 'AbCdEfGh0123456789IjKlMnOpQrStUvWxYz';
    const keys = ['sk-proj-', 'hf_', 'ghp_', 'glpat-', 'AIza', 'ya29.', 'eyJ', 'xoxb-', 'obk_', 'Bearer '].map(
        (prefix) => prefix + filling,
    );
    keys.push('AKIAIOSFODNN7EXAMPLE', `-----BEGIN PRIVATE KEY-----${filling}`, `sk-${'\u200b'}${filling}`);
    const registration = { name: 'x', url: 'http://127.0.0.1:1' };
    for (const key of keys) {
        const inside = `the key (${key}) of the lab`;
        for (const [tool, args] of [
            ['deployment_register', { ...registration, name: key.slice(0, 63) }],
            ['deployment_register', { ...registration, labels: { team: inside } }],
            ['deployment_register', { ...registration, labels: { [key.slice(0, 63)]: 'a' } }],
            ['deployment_register', { ...registration, hardware: inside }],
            ['deployment_register', { ...registration, url: `${registration.url}/v2/${key.slice(0, 63)}/x` }],
            ['deployment_register', { ...registration, secret: key.slice(0, 63) }],
            ['run_import', { name: `${key}.json`, text: '{}' }],
            ['dataset_import', { name: key.slice(0, 63), text: '{"prompt":"a","completion":"b"}' }],
        ]) {
            const sentence = await client.refusal(tool, args);
            assert.ok(!sentence.includes(filling), sentence);
        }
        const name = encodeURIComponent(`${key}.json`);
        const sent = await post(server.port, '{}', {}, `/v1/imports?name=${name}`);
        assert.equal(sent.status, 400, sent.body);
        assert.ok(!sent.body.includes(filling), sent.body);
    }
    assert.deepEqual((await client.call('deployment_list')).deployments, []);
    const { rows } = await client.call('audit_list', { limit: 100 });
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(filling));
    await client.close();
    assert.ok(!server.output().includes(filling), 'the log');
    for (const file of (await readdir(data)).filter((each) => each.includes('.db')))
        assert.ok(!(await readFile(path.join(data, file), 'latin1')).includes(filling), file);
});

test('binding a secret that is too short or too common to be hidden gives a warning', async (t) => {
    const { ada, data, model } = await withTeam(t, {
        env: { OPSBRAIN_SECRET_LAB: 'EMPTY', OPSBRAIN_SECRET_TOKEN: 'token-abc123', OPSBRAIN_SECRET_SHORT: 'a7f3Kq9Z' },
    });
    const { warning } = await ada.call('deployment_register', { name: 'lab', url: model.url, secret: 'LAB' });
    assert.match(warning, /the value of LAB is short, repetitive or a common word/);
    assert.match((await ada.call('secret_bind', { secret: 'TOKEN', origin: model.url })).warning, /TOKEN/);
    assert.match((await run(['secret', 'bind', 'SHORT', model.url, '--data', data])).output, /value of SHORT is short/);
    assert.equal((await ada.call('secret_bind', { secret: 'ABSENT', origin: model.url })).warning, undefined);
});
