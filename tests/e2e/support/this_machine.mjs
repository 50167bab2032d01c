// SPDX-License-Identifier: Apache-2.0
// Helpers for tests that deploy on this machine.
import assert from 'node:assert/strict';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run, until } from './harness.mjs';

export const HERE = { name: 'here', provider: 'local', credential: 'none' };

export function plan(client, args) {
    return client.call('deployment_plan', { target: 'here', life_s: 1200, ...args });
}

// apply(client, data, plan): approves the plan as the administrator of this machine, applies it, and waits until it is done.
export async function apply(client, data, { plan, digest }) {
    const approved = await run(['plan', 'approve', plan, '--digest', digest, '--data', data]);
    assert.equal(approved.code, 0, approved.output);
    await client.call('deployment_apply', { plan });
    await until(
        `the plan ${plan} to be done`,
        async () => {
            const { output } = await run(['plan', 'show', plan, '--data', data]);
            assert.doesNotMatch(output, /state: (failed|cancelled)/);
            return /state: done/.test(output);
        },
        60_000,
    );
}

// endNow(data, name): makes a server end now, because a plan cannot make it end in less than ten minutes. Does nothing if there
// is no such server.
export async function endNow(data, name) {
    const file = path.join(data, 'this_machine', name, 'record.json');
    const record = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
    if (!record) return;
    await writeFile(`${file}.test`, JSON.stringify({ ...record, ends_ms: Date.now() }));
    await rename(`${file}.test`, file);
}
