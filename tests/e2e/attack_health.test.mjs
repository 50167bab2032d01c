// SPDX-License-Identifier: Apache-2.0
// A health check costs GPU time, so viewers get the result of a recent check if there is one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from './support/clients.mjs';
import { addKey, startServer, startSimserve, temporaryFolder } from './support/harness.mjs';

// completions(model): how many completions the model server was asked for.
async function completions(model) {
    const text = await (await fetch(`${model.url}/sim/truth?limit=1000000`)).text();
    return text.split('\n').filter((line) => line.includes('"outcome"')).length;
}

// team(t): an operator, two viewers, and a slow model.
async function team(t) {
    const data = await temporaryFolder(t);
    const keys = [await addKey(data, 'olga', '--role', 'operator')];
    for (const name of ['vera', 'viktor']) keys.push(await addKey(data, name, '--role', 'viewer'));
    const server = await startServer(t, { data });
    const [olga, vera, viktor] = await Promise.all(keys.map((key) => connect('2x-2026', server.url, { key })));
    const model = await startSimserve(t, ['--ttft-ms', '300']);
    await olga.call('deployment_register', { name: 'demo', url: model.url });
    return { olga, vera, viktor, model };
}

const check = (client) => client.call('model_health', { deployment: 'demo' });

test('200 checks by viewers, at once or one after another, cause one completion', async (t) => {
    const { vera, viktor, model } = await team(t);
    const before = await completions(model);
    const all = await Promise.all(Array.from({ length: 100 }, (_, i) => check(i % 2 ? vera : viktor).catch((e) => e)));
    const answers = all.filter(({ status }) => status === 'PASSED');
    assert.ok(answers.length >= 50, `${answers.length} answers`); // the others were refused, because too many calls ran at once
    for (let i = 0; i < 100; i++) assert.equal((await check(vera)).status, 'PASSED');
    assert.equal((await completions(model)) - before, 1);
    assert.equal(answers.filter(({ asked_s_ago: age }) => age === undefined).length, 1);
});

test("an operator's check queries the model again, and viewers then get the result of that check", async (t) => {
    const { olga, vera, model } = await team(t);
    const before = await completions(model);
    assert.equal((await check(vera)).asked_s_ago, undefined);
    assert.equal((await check(olga)).asked_s_ago, undefined);
    assert.equal((await completions(model)) - before, 2);
    assert.ok((await check(vera)).asked_s_ago >= 0);
    assert.equal((await completions(model)) - before, 2);
});

test('a deployment is checked again after a change, even if the first caller leaves before the result', async (t) => {
    const { olga, vera, viktor, model } = await team(t);
    await check(vera);
    await olga.call('deployment_update', { deployment: 'demo', labels: { team: 'search' } });
    const before = await completions(model);
    const leaving = new AbortController();
    const left = vera.call('model_health', { deployment: 'demo' }, { signal: leaving.signal }).catch((e) => e);
    setTimeout(() => leaving.abort(), 100);
    const answer = await check(viktor);
    await left;
    assert.equal(answer.status, 'PASSED');
    assert.ok((await completions(model)) > before);
});
