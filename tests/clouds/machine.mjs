// SPDX-License-Identifier: Apache-2.0
// This machine as one of the providers in kill.test.mjs. The deployed server is a program that records each of its starts, and
// a server that is not opsbrain's runs beside it. There are no requests that a fake could count, so opsbrain is killed when it
// has written a row of the journal, or some milliseconds later.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endNow, HERE } from '../e2e/support/this_machine.mjs';
import { atEnd, freePort, run, SIMSERVE, startServer, startSimserve, temporaryFolder, until } from '../e2e/support/harness.mjs';
import { journal, NAME, rows, withClient } from './clouds.mjs';

const RECIPE = 'local-engine';
const LATER_MS = [0, 5, 20, 60]; // how long after a row of the journal opsbrain is killed
const POLL_MS = 1;

// Makes a folder with a recipe, its program, and the file in which the program records its starts.
async function engineHere(t) {
    const folder = await temporaryFolder(t);
    const port = await freePort();
    const program = path.join(folder, 'engine');
    const starts = path.join(folder, 'starts');
    const recipe = {
        name: RECIPE, revision: 1, title: 'A simulated server', provider: 'local', engine: 'simserve', model: 'simulated',
        program, arguments: { '--listen': `127.0.0.1:${port}` }, port,
        weights: { from: 'hub', repository: 'none/none' }, licence: { name: 'none' }, cost: [],
        status: 'reported', source: 'made for a test', as_of: '2026-01-01',
    };
    await chmod(folder, 0o755); // if opsbrain runs as root, it runs the program under another account
    for (const each of ['recipes', 'work']) await mkdir(path.join(folder, each), { mode: 0o755 });
    await writeFile(path.join(folder, `recipes/${RECIPE}.json`), JSON.stringify(recipe));
    await writeFile(program, `#!/bin/sh\necho $$ >>${starts}\nexec ${await realpath(SIMSERVE)} "$@"\n`);
    await chmod(program, 0o755);
    await writeFile(starts, '');
    await chmod(starts, 0o666);
    const args = ['--this-machine=true', `--this-machine-programs=${program}`, `--this-machine-work=${folder}/work`];
    return { data: path.join(folder, 'data'), args: [...args, `--recipes=${folder}/recipes`], port, starts };
}

// startMachine(t): {server, cloud}, like startFleet, but with this machine as the target.
export async function startMachine(t) {
    const { data, args, port, starts } = await engineHere(t);
    const server = await startServer(t, { data, args: [...args, '--cloud-pause-ms', '20'] });
    const other = await startSimserve(t);
    const machine = new Machine(server, other, port, starts);
    atEnd(t, () => endNow(data, NAME));
    await withClient(server, (client) => client.call('target_register', HERE));
    return { server, cloud: machine };
}

// Takes the place of a cloud's fake (startCloud): `call` carries out the commands /kill, /disarm, /state and /objects.
class Machine {
    target = HERE;
    recipe = RECIPE;
    verbs = ['create', 'start', 'stop', 'extend', 'destroy'];

    constructor(server, other, port, starts) {
        Object.assign(this, { server, other, port, starts, armed: {} });
    }

    // Approves on the command line: on the target HERE, an agent is allowed to approve only stopping or destroying a deployment.
    async approve(plan, digest) {
        const { code, output } = await run(['plan', 'approve', plan, '--digest', digest, '--data', this.server.data]);
        if (code !== 0) throw new Error(output);
    }

    async call(route, { pid, event } = {}) {
        if (route === '/kill') await this.arm(pid, event);
        if (route === '/disarm') this.armed.pid = undefined;
        return route === '/objects' ? this.records() : this.state();
    }

    async arm(pid, event) {
        this.armed.pid = undefined;
        this.armed = { pid, killed: false, started: await this.countStarts() };
        if (pid) this.killAt(this.armed, newestPlan(this.server), event).catch(() => {});
    }

    async killAt(armed, before, event) {
        const row = 1 + Math.floor((event - 1) / LATER_MS.length);
        const isThere = () => {
            const plan = newestPlan(this.server);
            return plan !== before && journal(this.server, plan).length >= row;
        };
        while (armed.pid && !isThere()) await sleep(POLL_MS);
        await sleep(LATER_MS[(event - 1) % LATER_MS.length]);
        if (armed.pid) armed.killed = process.kill(armed.pid, 'SIGKILL');
    }

    async countStarts() {
        return (await readFile(this.starts, 'utf8')).split('\n').length - 1;
    }

    async state() {
        const created = (await this.countStarts()) - this.armed.started;
        const touched = this.other.program.exited ? 'the other server' : null;
        const events = LATER_MS.length * journal(this.server, newestPlan(this.server)).length;
        return { killed: this.armed.killed, made: await this.made(), created, touched, events };
    }

    async records() {
        const record = path.join(this.server.data, 'this_machine', NAME, 'record.json');
        return { [NAME]: await readFile(record, 'utf8').then(JSON.parse, () => undefined) };
    }

    // made(): the folders of deployed servers, and the command lines of processes that have the port as an argument. Waits while
    // a folder has no record, which means that a watchdog is creating or removing the folder.
    async made() {
        const folder = path.join(this.server.data, 'this_machine');
        const stored = await until('every server folder to have a record', async () => {
            const names = await readdir(folder).catch(() => []);
            return names.every((name) => existsSync(path.join(folder, name, 'record.json'))) && names;
        });
        const lines = await Promise.all((await readdir('/proc')).filter((each) => /^\d+$/.test(each)).map(
            (each) => readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '')));
        return [...stored, ...lines.filter((line) => line.includes(`127.0.0.1:${this.port}\0`))];
    }
}

function newestPlan(server) {
    return rows(server, 'SELECT id FROM fleet_plans ORDER BY created_ms DESC, id DESC LIMIT 1')[0]?.id ?? '';
}
