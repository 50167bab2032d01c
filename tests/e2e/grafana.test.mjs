// SPDX-License-Identifier: Apache-2.0
// The Grafana dashboard queries only metrics that /metrics serves, and shows all of them.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { dashboard } from '../../docs/grafana/dashboard.mjs';
import { connect } from './support/clients.mjs';
import { startServer, startSimserve } from './support/harness.mjs';

const OUR_SERIES = /\b(?:opsbrain|process)_[a-z_]+/g;

const expressions = [...dashboard.panels.flatMap(({ targets = [] }) => targets), ...dashboard.annotations.list].map(({ expr }) => expr);

// familiesOf(page): every metric family on the page, with its labels and their values.
function familiesOf(page) {
    const families = new Map([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => [name, new Map()]));
    for (const [, name, labels] of page.matchAll(/^([a-z_]+)(?:\{(.*)\})? /gm)) {
        const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
        for (const [, label, value] of (labels ?? '').matchAll(/([a-z_]+)="([^"]*)"/g))
            family.set(label, (family.get(label) ?? new Set()).add(value));
    }
    return families;
}

test('opsbrain.json is up to date with dashboard.mjs', async () => {
    const stored = await readFile(new URL('../../docs/grafana/opsbrain.json', import.meta.url), 'utf8');
    assert.deepEqual(JSON.parse(stored), dashboard, 'to update it: node docs/grafana/dashboard.mjs >docs/grafana/opsbrain.json');
});

test('every metric and label on the dashboard is served, and the dashboard shows every metric family', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    await client.call('deployment_register', { name: 'sim', url: (await startSimserve(t)).url });
    await assert.rejects(client.call('run_show', { run: 'run_nobody' }));
    await client.close();
    const families = familiesOf(await (await fetch(new URL('/metrics', server.url))).text());
    const base = (name) => (families.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''));
    const shown = new Set(expressions.flatMap((expression) => expression.match(OUR_SERIES)).map(base));
    // opsbrain_audit_whole is served only after the audit log has been checked.
    const notServed = [...shown].filter((name) => !families.has(name) && name !== 'opsbrain_audit_whole');

    assert.deepEqual(notServed, [], 'on the dashboard, but not served');
    assert.deepEqual([...families.keys()].filter((name) => !shown.has(name)), [], 'served, but not on the dashboard');
    for (const expression of expressions)
        for (const [, name, labels] of expression.matchAll(/\b((?:opsbrain|process)_[a-z_]+)\{([^}]*)\}/g))
            for (const [, label, value] of labels.matchAll(/([a-z_]+)=~?"([^"]*)"/g)) {
                if (label === 'instance') continue; // Prometheus adds it
                const values = [...(families.get(base(name)).get(label) ?? [])];
                assert.ok(values.some((one) => new RegExp(`^(?:${value})$`).test(one)), `no value of ${name}{${label}} matches ${value}: ${values}`);
            }
});
