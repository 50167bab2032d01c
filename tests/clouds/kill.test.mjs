// SPDX-License-Identifier: Apache-2.0
// kill -9 of the server at every request of every verb of every provider, before the request is done and after it: there
// is never a second resource, never a forgotten one, and never a wrong "done". OPSBRAIN_CLOUD_KILLS says how many in all;
// without it, each of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../e2e/harness.mjs';
import { begin, isApplying, managed, newest, providers, same, startFleet, withClient } from './clouds.mjs';

const ALL = process.env.OPSBRAIN_CLOUD_KILLS === undefined;
const SHARES = ALL ? 4 : 1; // of a provider's kills, at the same time
const EACH = ALL ? Infinity : Math.ceil(Number(process.env.OPSBRAIN_CLOUD_KILLS) / providers().length);
const STEP = ALL ? 1 : 5; // every fifth moment, where not all are tried
const VERBS = ALL ? ['create', 'scale', 'stop', 'start', 'extend', 'destroy'] : ['create', 'destroy'];
const WAIT_MS = 120_000;

// One provider, and what is known of its verbs: what there is after each, and which moments are left.
class Trial {
    constructor(provider, share, fleet) {
        Object.assign(this, { provider, share, ...fleet, kills: 0, reference: {} });
        this.verbs = VERBS.filter((verb) => this.cloud.verbs.includes(verb));
        this.next = Object.fromEntries(this.verbs.map((verb) => [verb, 1 + share * STEP]));
        this.left = new Set(this.verbs);
    }

    async learn() {
        for (const verb of this.verbs) {
            await this.cloud.tell('/kill');
            await this.finish(verb);
            this.reference[verb] = { ...(await this.cloud.tell('/state')), managed: managed(this.server) };
        }
        same(this.reference.destroy.made, [], 'a destroy leaves nothing');
    }

    // finish(verb): begins it unless it was begun, and waits for its end.
    async finish(verb, before) {
        const known = newest(this.server, verb)?.id;
        if (known === before || newest(this.server, verb).state === 'planned')
            await withClient(this.server, (client) => begin(client, this.cloud, verb));
        await until(`${verb} to end`, () => !isApplying(this.server), WAIT_MS);
        const plan = newest(this.server, verb);
        assert.equal(plan.state, 'done', `${this.provider} ${verb}: ${plan.reason}`);
    }

    // killIn(verb, event): whether it was killed there; afterwards the verb is done in any case.
    async killIn(verb, event) {
        const before = newest(this.server, verb)?.id;
        await this.cloud.tell('/kill', { pid: this.server.program.child.pid, event });
        const calling = withClient(this.server, (client) => begin(client, this.cloud, verb)).catch(() => {});
        await Promise.race([calling, this.server.program.exit]);
        await until(`${verb} to end or to be killed`, async () => {
            const now = await this.cloud.tell('/state');
            return now.killed || !isApplying(this.server);
        }, WAIT_MS);
        const { killed } = await this.cloud.tell('/disarm');
        if (killed) {
            await this.server.program.exit;
            await calling;
            await this.server.start();
        }
        await this.finish(verb, before);
        await this.check(verb, event);
        return killed;
    }

    async check(verb, event) {
        const what = `${this.provider}, ${verb}, killed at event ${event}`;
        const now = await this.cloud.tell('/state');
        same(now.made, this.reference[verb].made, what);
        assert.equal(now.touched, null, `${what}: another's was touched`);
        assert.ok(now.created <= this.reference[verb].created, `${what}: ${now.created} were made`);
        assert.equal(managed(this.server), this.reference[verb].managed, what);
    }

    async round() {
        for (const verb of this.verbs) {
            const tries = this.left.has(verb) && this.kills < EACH;
            if (!tries) await this.finish(verb, newest(this.server, verb).id);
            else if (await this.killIn(verb, this.next[verb])) this.kills++;
            else this.left.delete(verb);
            this.next[verb] += SHARES * STEP;
        }
    }
}

test('kill -9 at every request', { concurrency: true }, async (t) => {
    const parts = providers().flatMap((provider) => Array.from({ length: SHARES }, (_, share) => ({ provider, share })));
    const kills = await Promise.all(parts.map(({ provider, share }) => runPart(t, provider, share)));
    console.log(`${kills.reduce((sum, each) => sum + each, 0)} kills`);
});

async function runPart(t, provider, share) {
    let kills = 0;
    await t.test(`${provider}, part ${share + 1} of ${SHARES}`, async (own) => {
        const trial = new Trial(provider, share, await startFleet(own, provider));
        await trial.learn();
        while (trial.left.size > 0 && trial.kills < EACH) await trial.round();
        kills = trial.kills;
        own.diagnostic(`${kills} kills`);
    });
    return kills;
}
