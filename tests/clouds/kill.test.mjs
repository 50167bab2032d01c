// SPDX-License-Identifier: Apache-2.0
// Kills the server with kill -9 while it applies a verb, for every provider and every verb except update: at every request, both
// before and after it is carried out. On this machine, which receives no requests, the kills come at every row of the journal.
// Afterwards the server completes the verb: no resource is ever created twice or forgotten, and no plan is "done" too early.
// OPSBRAIN_CLOUD_KILLS: about how many kills there are in all, only in create and destroy. If it is not set, every request is
// tried, and the test prints how many kills came at each row of the journal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../e2e/support/harness.mjs';
import { assertSameItems, begin, isApplying, journal, managedState, newest, providers, startFleet, withClient } from './clouds.mjs';
import { startMachine } from './machine.mjs';

const PROVIDERS = [...providers(), 'local'];
const ALL = process.env.OPSBRAIN_CLOUD_KILLS === undefined;
const SHARES = ALL ? 2 : 1; // into how many parts a provider's kills are divided; the parts run at the same time
const KILLS_EACH = ALL ? Infinity : Math.ceil(Number(process.env.OPSBRAIN_CLOUD_KILLS) / PROVIDERS.length); // for each provider
const VERBS = ALL ? ['create', 'scale', 'stop', 'start', 'extend', 'destroy'] : ['create', 'destroy'];
const LESSONS = ALL ? 2 : 1; // runs of each verb without a kill, which show what the verb leaves behind
const COUNTS = /\/(generation|observedGeneration|resourceVersion|\.polls)$/; // counters, which differ if a request is repeated
const TRANSIENT = /\d{4}-\d\d-\d\dT|^\d+ \d+ \d+ \d+ \*$|^\d{10,}$|^STAGING$/; // times, and transitional states
const WAIT_MS = 120_000;

const start = (t, provider) => (provider === 'local' ? startMachine(t) : startFleet(t, provider));

// One provider's kills, or the part `share` of them. `reference`: what each verb leaves behind if there is no kill. `left`: the
// verbs in which there are still kills to try.
class Trial {
    constructor(provider, share, fleet) {
        Object.assign(this, { provider, share, ...fleet, kills: 0, reference: {}, next: {}, killed: {} });
        this.verbs = VERBS.filter((verb) => this.cloud.verbs.includes(verb));
        this.left = new Set(this.verbs);
    }

    async learn() {
        for (const verb of Array(LESSONS).fill(this.verbs).flat()) {
            await this.cloud.call('/kill'); // without a pid: kills nothing, only resets the counts
            await this.finish(verb, newest(this.server, verb)?.id);
            const now = await this.cloud.call('/state');
            const values = await this.valuesOf(now.made);
            const earlier = this.reference[verb]?.values ?? values;
            const kept = [...values].filter(([at, value]) => earlier.get(at) === value && !COUNTS.test(at) && !TRANSIENT.test(value));
            this.reference[verb] = { ...now, values: new Map(kept), managed: managedState(this.server) };
            this.next[verb] = ALL ? 1 + this.share : this.chooseEvent(verb, now.events);
        }
        assertSameItems(this.reference.destroy.made, [], 'destroy must leave nothing behind');
    }

    // valuesOf(made): the members of the created resources, by path. None if there is only one run without a kill: it takes two
    // to see which members stay the same.
    async valuesOf(made) {
        const objects = LESSONS > 1 ? await this.cloud.call('/objects') : {};
        return flatten(Object.fromEntries(made.map((name) => [name, objects[name]])));
    }

    // chooseEvent(verb, events): the event at which to kill, if only some events are tried. Each provider gets a different part
    // of the verb.
    chooseEvent(verb, events) {
        const part = PROVIDERS.indexOf(this.provider) + (verb === 'create' ? 0 : 0.5);
        return 1 + Math.floor((events * part) / PROVIDERS.length);
    }

    // finish(verb, before): begins the verb, unless it has already begun, and waits until it ends. `before`: the id of the
    // verb's newest plan before the verb was begun; undefined if there was none.
    async finish(verb, before) {
        const known = newest(this.server, verb)?.id;
        if (known === before || newest(this.server, verb).state === 'planned')
            await withClient(this.server, (client) => begin(client, this.cloud, verb));
        await until(`${verb} to end`, () => !isApplying(this.server), WAIT_MS);
        const plan = newest(this.server, verb);
        assert.equal(plan.state, 'done', `${this.provider} ${verb}: ${plan.reason}`);
    }

    // killIn(verb, event): kills the server at that event of the verb, then completes the verb. Returns whether the server was
    // killed: false if the verb ended before that event.
    async killIn(verb, event) {
        const before = newest(this.server, verb)?.id;
        await this.cloud.call('/kill', { pid: this.server.program.child.pid, event });
        const calling = withClient(this.server, (client) => begin(client, this.cloud, verb)).catch(() => {});
        await Promise.race([calling, this.server.program.exit]);
        await until(`${verb} to end or to be killed`, async () => {
            const now = await this.cloud.call('/state');
            return now.killed || !isApplying(this.server);
        }, WAIT_MS);
        const { killed } = await this.cloud.call('/disarm');
        if (killed) {
            await this.server.program.exit;
            await calling;
            this.countKill(verb, before);
            await this.server.start();
        }
        await this.finish(verb, before);
        await this.check(verb, event);
        return killed;
    }

    // countKill(verb, before): counts the kill under the last row that the killed process wrote to the journal.
    countKill(verb, before) {
        const plan = newest(this.server, verb);
        const last = plan && plan.id !== before ? journal(this.server, plan.id).at(-1) : undefined;
        const at = last ? `${last.step} ${last.action}${last.outcome && ` ${last.outcome}`}` : 'none';
        const counts = (this.killed[verb] ??= {});
        counts[at] = (counts[at] ?? 0) + 1;
    }

    async check(verb, event) {
        const what = `${this.provider}, ${verb}, killed at event ${event}`;
        const now = await this.cloud.call('/state');
        assertSameItems(now.made, this.reference[verb].made, what);
        assert.equal(now.touched, null, `${what}: a resource that is not ours was touched: ${now.touched}`);
        const most = this.reference[verb].created;
        assert.ok(now.created <= most, `${what}: ${now.created} resources were created, expected at most ${most}`);
        assert.equal(managedState(this.server), this.reference[verb].managed, what);
        const values = await this.valuesOf(now.made);
        for (const [at, value] of this.reference[verb].values) assert.equal(values.get(at), value, `${what}: ${at}`);
    }

    async round() {
        for (const verb of this.verbs) {
            const isTried = this.left.has(verb) && this.kills < KILLS_EACH;
            if (!isTried) await this.finish(verb, newest(this.server, verb).id);
            else if (await this.killIn(verb, this.next[verb])) this.kills++;
            else this.left.delete(verb);
            this.next[verb] += SHARES;
        }
    }
}

function flatten(value, at = '', out = new Map()) {
    if (value === null || typeof value !== 'object') return out.set(at, value);
    for (const [name, each] of Object.entries(value)) flatten(each, `${at}/${name}`, out);
    return out;
}

test('after kill -9 in a verb, the server completes the verb and creates no second resource', { concurrency: true }, async (t) => {
    const parts = PROVIDERS.flatMap((provider) => Array.from({ length: SHARES }, (_, share) => ({ provider, share })));
    const trials = await Promise.all(parts.map(({ provider, share }) => runPart(t, provider, share)));
    const begun = trials.filter(Boolean);
    if (ALL) show(begun);
    console.log(`${begun.reduce((sum, { kills }) => sum + kills, 0)} kills`);
});

async function runPart(t, provider, share) {
    let trial;
    await t.test(`${provider}, part ${share + 1} of ${SHARES}`, async (own) => {
        trial = new Trial(provider, share, await start(own, provider));
        await trial.learn();
        while (trial.left.size > 0 && trial.kills < KILLS_EACH) await trial.round();
    });
    return trial;
}

// show(trials): prints a line for each verb of each provider, with the number of kills at each row of the journal.
function show(trials) {
    for (const provider of PROVIDERS)
        for (const verb of VERBS) {
            const counts = {};
            for (const { killed } of trials.filter((trial) => trial.provider === provider))
                for (const [at, count] of Object.entries(killed[verb] ?? {})) counts[at] = (counts[at] ?? 0) + count;
            const parts = Object.entries(counts).map(([at, count]) => `${at} ${count}`);
            if (parts.length > 0) console.log(`killed: ${provider} ${verb}: ${parts.join(', ')}`);
        }
}
