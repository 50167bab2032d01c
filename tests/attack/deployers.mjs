// SPDX-License-Identifier: Apache-2.0
// Deployers: clients that deploy model servers in a fake cloud while opsbrain or its database is killed. They plan each deployment,
// approve the plan on the command line, apply it, and destroy the deployment again. Every plan whose start was acknowledged must be
// carried out once, and nothing may be left behind in the cloud.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, run, until } from '../e2e/support/harness.mjs';
import { callTool } from './at_work.mjs';

const DEPLOYERS = 2;
const LIFE_S = 86_400;
const PLAN_MS = 300_000; // limit for carrying out a plan, despite all kills

// The deployers of a world (at_work.mjs), and their deployments in a cloud (tests/clouds/clouds.mjs).
class Fleet {
    constructor(world, cloud) {
        Object.assign(this, { world, cloud, begun: new Map(), approvals: new Set(), number: 0 });
    }

    call(tool, args) {
        return callTool(this.world.server, tool, args);
    }

    // insist(step): repeats the step until it returns a truthy value, and returns that; returns undefined if the work is over.
    async insist(step) {
        while (!this.world.over) {
            const got = this.world.dead ? undefined : await step();
            if (got) return got;
            await sleep(100);
        }
    }

    async approve({ plan, digest }) {
        const { server } = this.world;
        const running = run(['plan', 'approve', plan, '--digest', digest, '--data', server.data], server.env);
        this.approvals.add(running);
        const { code } = await running;
        this.approvals.delete(running);
        return code === 0;
    }

    // approvalsEnd(): waits until the approvals in progress have ended. A command that finds no server opens the database itself,
    // and must close it before the server is started again.
    approvalsEnd() {
        return Promise.all(this.approvals);
    }

    // untilEnded(plan, what, left): waits for an acknowledged plan to end; then asserts that the cloud has `left` services of its
    // deployment. If the work is over first, stops waiting and asserts nothing.
    async untilEnded(plan, what, left) {
        this.begun.set(plan, what);
        const state = await until(`${what}, ${plan}`, async () => {
            const shown = await this.call('plan_show', { plan });
            return this.world.over || (shown && !['planned', 'applying'].includes(shown.state) && shown.state);
        }, PLAN_MS);
        if (state === true) return;
        assert.equal(state, 'done', `${what}, ${plan}`);
        const services = await this.services();
        assert.equal(services.filter((name) => what.endsWith(` ${name}`)).length, left, `services after the ${what}`);
    }

    async deploy(deployment) {
        const args = { deployment, target: this.cloud.target.name, recipe: this.cloud.recipe, life_s: LIFE_S };
        const planned = await this.insist(() => this.call('deployment_plan', args));
        const approved = planned && (await this.insist(() => this.approve(planned)));
        const applied = approved && (await this.insist(() => this.call('deployment_apply', { plan: planned.plan })));
        if (applied) await this.untilEnded(planned.plan, `apply of ${deployment}`, 1);
    }

    // destroy(deployment): destroys the deployment, which may be gone already if an earlier answer was lost.
    async destroy(deployment) {
        const isGone = async () => {
            const list = await this.call('fleet_list', {});
            return list && !list.managed.some((each) => each.deployment === deployment) && { plan: undefined };
        };
        const begun = await this.insist(async () => {
            return (await this.call('deployment_destroy', { deployment, confirm: deployment })) ?? isGone();
        });
        if (begun?.plan) await this.untilEnded(begun.plan, `destroy of ${deployment}`, 0);
    }

    async work() {
        while (!this.world.over) {
            const deployment = `f-${++this.number}`;
            await this.deploy(deployment);
            await this.destroy(deployment);
        }
    }

    // check(rows, when): asserts that every plan whose start was acknowledged is stored as applying or done.
    check(rows, when) {
        const states = new Map(rows('SELECT id, state FROM fleet_plans').map(({ id, state }) => [id, state]));
        for (const [plan, what] of this.begun) assert.match(states.get(plan) ?? 'lost', /applying|done/, `${when}: ${what}, ${plan}`);
    }

    // services(): the names of the services that opsbrain has created in the cloud and not deleted.
    async services() {
        const { made } = await this.cloud.call('/state');
        return made.filter((each) => /\/services\/[^/:]+$/.test(each)).map((each) => each.split('/').at(-1)).toSorted();
    }

    // end(rows): to be called when the work is over. Asserts that every plan whose start was acknowledged is done, and that the cloud
    // has one service for each managed deployment. Then destroys these deployments, and asserts that nothing is left in the cloud.
    async end(rows) {
        await this.workers;
        const isApplying = () => rows(`SELECT id FROM fleet_plans WHERE state = 'applying'`).length > 0;
        await until('the last plans to be carried out', () => !isApplying(), PLAN_MS);
        for (const { id, state, reason } of rows('SELECT id, state, reason FROM fleet_plans'))
            if (this.begun.has(id)) assert.equal(state, 'done', `${this.begun.get(id)}, ${id}: ${reason}`);
        const managed = rows(`SELECT deployment FROM fleet_managed WHERE state <> 'gone'`).map(({ deployment }) => deployment);
        assert.deepEqual(await this.services(), managed.toSorted(), 'services in the cloud, and managed deployments');
        this.world.over = false; // otherwise destroy() would do nothing
        for (const deployment of managed) await this.destroy(deployment);
        this.world.over = true;
        const { made, touched } = await this.cloud.call('/state');
        assert.deepEqual({ made, touched }, { made: [], touched: null }, 'after the last destroy');
    }

    describe() {
        const count = (verb) => [...this.begun.values()].filter((what) => what.startsWith(verb)).length;
        return `${count('apply')} applies, ${count('destroy')} destroys`;
    }
}

// startFleetAtWork(t, world, cloud): starts the deployers, on a target whose budget allows all that they plan.
export async function startFleetAtWork(t, world, cloud) {
    const fleet = new Fleet(world, cloud);
    await callTool(world.server, 'target_register', { ...cloud.target, total_usd_per_hour: 100_000 });
    fleet.workers = Promise.all(Array.from({ length: DEPLOYERS }, () => fleet.work()));
    fleet.workers.catch((error) => (world.failure = error));
    atEnd(t, () => fleet.approvalsEnd());
    return fleet;
}
