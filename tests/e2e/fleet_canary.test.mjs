// SPDX-License-Identifier: Apache-2.0
// A cloud's credentials are sent to that cloud only. No answer, log or file in the data folder contains them, even if the cloud
// repeats them in its error messages. A request contains nothing from the credentials except the bearer token.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { test } from 'node:test';
import { begin, isApplying, NAME, planOf, startCloud, startFleet, triedProviders, withClient } from '../clouds/clouds.mjs';
import { atEnd, OPSBRAIN, startSimserve, temporaryFolder, until } from './support/harness.mjs';

const KEY = JSON.parse(await readFile('tests/data/clouds/service-account.json', 'utf8'));
const CLIENT_KEY = Buffer.from('-----BEGIN PRIVATE KEY-----\ncanary-client-key\n-----END PRIVATE KEY-----\n').toString('base64');

// Credential files. `target`: the arguments with which target_register names the file; `content(cloud)`: what the file contains;
// `secret`: the parts of the content that must not leak; `fits(cloud)`: whether the file can be used for this cloud.
const FILES = {
    'service-account.json': {
        target: { credential: 'service_account_file', credential_file: 'service-account.json' },
        content: () => JSON.stringify(KEY),
        secret: KEY.private_key.split('\n').filter((line) => line.length > 40),
        fits: ({ target }) => target.project,
    },
    'client.yaml': {
        target: { credential: 'kubeconfig', credential_file: 'client.yaml' },
        content: ({ credential }) =>
            credential.replace('token: canary-kubernetes', `client-certificate-data: ${CLIENT_KEY}, client-key-data: ${CLIENT_KEY}`),
        secret: ['canary-client-key', CLIENT_KEY],
        fits: ({ target }) => target.credential === 'kubeconfig',
    },
};

for (const provider of triedProviders())
    test(`${provider}: a credential is sent to its own cloud only`, { timeout: 120_000 }, async (t) => {
        await tryCredential(t, provider, {}, tryFiles);
    });

const POD_TOKEN = 'canary-kubernetes'; // the token that the fake cloud accepts
const noMounts = spawnSync('unshare', ['-m', 'true']).status === 0 ? false : 'nothing can be mounted here (unshare -m)';

test("the token of opsbrain's own pod is sent to its cluster only", { timeout: 120_000, skip: noMounts }, async (t) => {
    const cloud = await startCloud(t, 'kubernetes');
    const pod = await podOf(t, cloud);
    cloud.credential = '';
    Object.assign(cloud.target, { credential: 'in_cluster', credential_file: undefined });
    const tokens = await tryCredential(t, 'kubernetes', { cloud, ...pod });
    assert.deepEqual(tokens, [POD_TOKEN]);
});

// tryCredential(...): uses the cloud, and calls more(client, cloud, secrets). Then checks that no secret is in an answer, a log, a file
// of the data folder, or a request to the cloud, except as its bearer token. Returns the tokens that the cloud received.
async function tryCredential(t, provider, options, more = () => {}) {
    const model = await startSimserve(t);
    const env = { ...options.env, OPSBRAIN_SECRET_LAB: 'canary-lab' };
    const { server, cloud, secrets } = await startFleet(t, provider, { ...options, env });
    const answered = [];
    await withClient(server, async (client) => {
        const call = client.callTool.bind(client);
        client.callTool = async (...all) => {
            const answer = await call(...all).catch((error) => ({ isError: true, content: [], text: `${error.message} ${error.data}` }));
            answered.push(JSON.stringify(answer));
            return answer;
        };
        await live(client, server, cloud, model);
        await disturb(client, cloud);
        await more(client, cloud, secrets);
    });
    const log = await cloud.call('/log');
    const tokens = [...new Set(log.map(({ bearer }) => bearer).filter(Boolean))];
    assert.ok(tokens.length > 0 || cloud.target.credential === 'none');
    const canaries = [...tokens, 'canary-lab', ...Object.values(FILES).flatMap(({ secret }) => secret)];
    await server.stop();
    const places = {
        answers: answered.join('\n'),
        log: server.output(),
        model: model.program.output,
        'requests to the cloud': JSON.stringify(log.map((each) => ({ ...each, bearer: undefined }))),
        ...(await filesOf(server.data)),
    };
    for (const [place, bytes] of Object.entries(places))
        for (const canary of canaries) assert.ok(!bytes.includes(canary), `${place} contains ${canary.slice(0, 20)}`);
    return tokens;
}

// podOf(t, cloud): {file, env}: `file` is a script that runs opsbrain as if in a pod, and `env` is the environment for it. opsbrain then
// reaches the fake cloud through a TLS proxy.
async function podOf(t, cloud) {
    const folder = await temporaryFolder(t);
    const account = path.join(folder, 'account');
    const [key, certificate] = [path.join(folder, 'key.pem'), path.join(account, 'ca.crt')];
    await mkdir(account);
    spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
        '-subj', '/CN=cluster', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate]);
    await writeFile(path.join(account, 'token'), POD_TOKEN);
    await writeFile(path.join(account, 'namespace'), 'llm');
    const to = Number(cloud.credential.match(/127\.0\.0\.1:(\d+)/)[1]);
    const front = https.createServer({ key: await readFile(key), cert: await readFile(certificate) }, (asked, answer) => {
        const { method, url, headers } = asked;
        const inner = http.request({ host: '127.0.0.1', port: to, method, path: url, headers }, (reply) => {
            answer.writeHead(reply.statusCode, reply.headers);
            reply.pipe(answer);
        });
        inner.on('error', () => answer.destroy());
        asked.pipe(inner);
    });
    await once(front.listen(0, '127.0.0.1'), 'listening');
    atEnd(t, () => {
        front.closeAllConnections();
        front.close();
    });
    const file = path.join(folder, 'opsbrain');
    const mounted = '/run/secrets/kubernetes.io/serviceaccount';
    const inside = `mount -t tmpfs none /run && mkdir -p ${mounted} && cp '${account}'/* ${mounted} && exec '${OPSBRAIN}' "$@"`;
    await writeFile(file, `#!/bin/sh\nexec unshare -m /bin/sh -c '${inside.replaceAll("'", "'\\''")}' opsbrain "$@"\n`);
    await chmod(file, 0o755);
    return { file, env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT_HTTPS: String(front.address().port) } };
}

// live(...): creates a deployment, calls tools on it and on its target, and destroys it.
async function live(client, server, cloud, model) {
    await client.call('deployment_register', { name: 'sim', url: model.url, secret: 'LAB' });
    await client.call('model_show', { deployment: 'sim' });
    const { plan } = await planOf(client, cloud, 'create');
    await begin(client, cloud, 'create');
    await until('the deployment to be created', () => !isApplying(server), 60_000);
    for (const [tool, args] of [
        ['target_show', { target: cloud.target.name, check: true }],
        ['target_list', {}],
        ['fleet_list', {}],
        ['deployment_show', { deployment: NAME }],
        ['deployment_discover', { target: cloud.target.name }],
        ['model_health', { deployment: NAME }],
        ['deployment_apply', { plan }],
        ['audit_list', {}],
    ])
        await client.callTool(tool, args);
    await begin(client, cloud, 'destroy');
    await until('the deployment to be destroyed', () => !isApplying(server), 60_000);
}

// disturb(...): makes the cloud answer with errors that repeat the newest token that it received.
async function disturb(client, cloud) {
    const { bearer } = (await cloud.call('/log')).findLast((each) => each.bearer) ?? { bearer: 'none' };
    const message = `the token ${bearer} is wrong`;
    const body = JSON.stringify({ kind: 'Status', message, error: { code: 403, message, status: 'PERMISSION_DENIED' } });
    for (const status of [400, 403, 409]) {
        await cloud.call('/answer', { status, body, at: 1 });
        await planOf(client, cloud, 'create').catch(() => {});
    }
    await cloud.call('/reset');
}

// tryFiles(...): registers targets with valid credential files and with damaged ones.
async function tryFiles(client, cloud, secrets) {
    for (const [name, { target, content, fits }] of Object.entries(FILES)) {
        if (!fits(cloud)) continue;
        const whole = content(cloud);
        for (const text of [whole, whole.slice(0, whole.length / 2), `${whole} }`]) {
            await writeFile(path.join(secrets, name), text, { mode: 0o600 });
            await client.callTool('target_register', { ...cloud.target, ...target, name: `by-${name.split('.')[0]}` });
            await client.callTool('target_show', { target: `by-${name.split('.')[0]}`, check: true });
            await client.callTool('target_remove', { target: `by-${name.split('.')[0]}`, confirm: `by-${name.split('.')[0]}` });
        }
    }
}

async function filesOf(folder) {
    const found = {};
    for (const name of await readdir(folder, { recursive: true }))
        found[name] = await readFile(path.join(folder, name), 'latin1').catch(() => '');
    return found;
}
