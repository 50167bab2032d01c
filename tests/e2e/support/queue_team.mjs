// SPDX-License-Identifier: Apache-2.0
// Operators and model servers for the tests that attack the queue of sweeps.
import { connect } from './clients.mjs';
import { addKey, startServer, startSimserve, temporaryFolder, until } from './harness.mjs';

export const LONG = { concurrency: [1], input_tokens: [16], output_tokens: [4], window_s: 60 };
export const SHORT = { ...LONG, window_s: 1, requests: 4, warmup_limit_s: 0 };
const AT_ONCE = 16;

// team(t, {servers, args}): starts an opsbrain server with the operators alice and bob, and 1 to 3 model servers registered as a, b and c.
export async function team(t, { servers = 2, args = [] } = {}) {
    const data = await temporaryFolder(t);
    const keys = {};
    for (const name of ['alice', 'bob']) keys[name] = await addKey(data, name, '--role', 'operator');
    const server = await startServer(t, { data, args });
    const [alice, bob] = await Promise.all(
        Object.values(keys).map((key) => connect('2x-2026', server.url, { key })),
    );
    for (const name of ['a', 'b', 'c'].slice(0, servers)) {
        const model = await startSimserve(t, ['--ttft-ms', '5', '--step-ms', '1']);
        await alice.call('deployment_register', { name, url: model.url });
    }
    return { server, alice, bob };
}

// queueMany(client, deployment, count): starts that many long sweeps; returns the ids of their jobs.
export async function queueMany(client, deployment, count) {
    const jobs = [];
    while (jobs.length < count) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - jobs.length) }, () =>
            client.call('sweep_start', { deployment, ...LONG }),
        );
        jobs.push(...(await Promise.all(some)).map(({ job }) => job));
    }
    return jobs;
}

export function state(client, job) {
    return client.call('job_show', { job }).then(({ job }) => job.state);
}

export function untilRunning(client, job) {
    return until(`${job} to run`, async () => (await state(client, job)) === 'running', 5000);
}

// lineAt(client, port): the leases for the model server on this port: first that of the sweep that is measuring, then those of
// the sweeps that are waiting.
export async function lineAt(client, port) {
    const { leases } = await client.call('lease_list', { limit: 500 });
    return leases.filter(({ endpoint }) => endpoint.endsWith(`:${port}`));
}
