// SPDX-License-Identifier: Apache-2.0
// Deploying on this machine as the tests do it.
import assert from 'node:assert/strict';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run, until } from './harness.mjs';

export const HERE = { name: 'here', provider: 'local', credential: 'none' };

export function plan(client, args) {
    return client.call('deployment_plan', { target: 'here', life_s: 1200, ...args });
}

// apply(client, data, plan): approves it as the administrator of this machine, and waits until it is done.
export async function apply(client, data, { plan, digest }) {
    const approved = await run(['plan', 'approve', plan, '--digest', digest, '--data', data]);
    assert.equal(approved.code, 0, approved.output);
    await client.call('deployment_apply', { plan });
    await until(
        `the plan ${plan}`,
        async () => {
            const { output } = await run(['plan', 'show', plan, '--data', data]);
            assert.doesNotMatch(output, /state: (failed|cancelled)/);
            return /state: done/.test(output);
        },
        60_000,
    );
}

// endNow(data, name): sets a server's end, which a plan sets at least ten minutes ahead, to now.
export async function endNow(data, name) {
    const file = path.join(data, 'this_machine', name, 'record.json');
    const record = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
    if (!record) return;
    await writeFile(`${file}.test`, JSON.stringify({ ...record, ends_ms: Date.now() }));
    await rename(`${file}.test`, file);
}
