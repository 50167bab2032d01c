// SPDX-License-Identifier: Apache-2.0
// ./run bench fleet    200 managed deployments checked on one core: CPU, requests per minute, memory (8 minutes for each provider)
//
// opsbrain is pinned to core 0. The clouds are the fakes in tests/clouds/, on loopback. For comparison, curl repeats opsbrain's last
// GET requests (at most 400) over connections that it keeps open, and discards the answers. Options: --deployments N --minutes N
// --provider NAME.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
process.env.FAKE_CLOUDS_BIN ??= 'build/asan/bin/fake_clouds';
const { isApplying, providers, rows, startFleet, withClient } = await import('../clouds/clouds.mjs');
const { until } = await import('../e2e/support/harness.mjs');

const { values: options } = parseArgs({
    options: {
        deployments: { type: 'string', default: '200' },
        minutes: { type: 'string', default: '4' },
        provider: { type: 'string' },
    },
});
const deployments = Number(options.deployments);
const minutes = Number(options.minutes);

const residentMib = (pid) => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m)[1]) / 1024;

// cpuSeconds(stat): the CPU seconds in the file /proc/.../stat of a process or a thread.
function cpuSeconds(stat) {
    const [user, system] = readFileSync(stat, 'utf8').split(') ')[1].split(' ').slice(11, 13);
    return (Number(user) + Number(system)) / 100;
}

// checkSeconds(pid): CPU seconds of the thread that checks the managed deployments; other threads watch their metrics.
function checkSeconds(pid) {
    const tasks = readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`);
    return cpuSeconds(`${tasks.find((task) => readFileSync(`${task}/comm`, 'utf8') === 'fleet\n')}/stat`);
}

// create(server, cloud): creates the deployments, eight plans at a time; returns how many are running.
async function create(server, cloud) {
    const names = Array.from({ length: deployments }, (_, i) => `model-${i}`);
    await withClient(server, async (client) => {
        for (let i = 0; i < names.length; i += 8)
            await Promise.all(names.slice(i, i + 8).map(async (deployment) => {
                const args = { deployment, target: cloud.target.name, recipe: cloud.recipe, life_s: 86_400 };
                const { plan, digest } = await client.call('deployment_plan', args);
                await client.call('deployment_apply', { plan, confirm: digest });
            }));
    });
    await until('the plans to be carried out', () => !isApplying(server), 900_000);
    return rows(server, "SELECT count(*) AS count FROM fleet_managed WHERE state = 'running'")[0].count;
}

// byCurl(requests, endpoint): the CPU seconds that curl needs for these GETs at the endpoint.
function byCurl(requests, endpoint) {
    const urls = requests.flatMap(({ path, query }) => ['--url', `${endpoint}${path}${query && `?${query}`}`, '-o', '/dev/null']);
    const timed = spawnSync('bash', ['-c', 'TIMEFORMAT="%U %S"; time curl -sS "$@"', '-', '-H',
        `Authorization: Bearer ${requests[0].bearer}`, ...urls], { encoding: 'utf8' });
    const [user, system] = timed.stderr.trim().split('\n').at(-1).split(' ').map(Number);
    return user + system;
}

async function measure(t, provider) {
    const { server, cloud } = await startFleet(t, provider, { target: { total_usd_per_hour: 100_000 } });
    const { pid } = server.program.child;
    spawnSync('taskset', ['-a', '-cp', '0', pid]);
    const empty = residentMib(pid);
    const running = await create(server, cloud);
    await sleep(60_000); // so that each deployment has been checked since its creation
    const before = { cpu: cpuSeconds(`/proc/${pid}/stat`), checks: checkSeconds(pid), at: performance.now() };
    before.requests = (await cloud.call('/state')).requests;
    await sleep(minutes * 60_000);
    const requests = (await cloud.call('/state')).requests - before.requests;
    const elapsed = (performance.now() - before.at) / 60_000;
    const cpu = cpuSeconds(`/proc/${pid}/stat`) - before.cpu;
    const log = (await cloud.call('/log')).filter(({ method }) => method === 'GET').slice(-Math.min(requests, 400));
    const endpoint = cloud.credential.match(/http:\/\/127[^']*/)?.[0] ?? cloud.endpoints.match(/run=(http[^,]*)/)[1];
    const curl = byCurl(log, endpoint) / log.length;
    const each = (checkSeconds(pid) - before.checks) / requests;
    console.log(`${provider}: ${running} of ${deployments} deployments are running
  ${(requests / elapsed).toFixed(0)} requests a minute, ${((100 * cpu) / elapsed / 60).toFixed(2)} % of a core, including watching their metrics
  ${(each * 1e3).toFixed(2)} ms of CPU for each request and the work on its answer; curl needs ${(curl * 1e3).toFixed(2)} ms (ratio ${(each / curl).toFixed(1)})
  ${residentMib(pid).toFixed(0)} MiB resident, ${((residentMib(pid) - empty) / deployments * 1024).toFixed(0)} KiB for each deployment`);
}

for (const provider of options.provider ? [options.provider] : providers())
    test(provider, { timeout: 3_600_000 }, (t) => measure(t, provider));
