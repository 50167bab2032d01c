// SPDX-License-Identifier: Apache-2.0
// The program's table of pages, and examples of each page, for the tests that go through all pages.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const ROW = /\{\s*"(GET|POST)",\s*"([^"]+)",\s*ROLE_([A-Z]+)/g;

// The rows of web/pages.c: [{verb, pattern, role}]. The parameters of a pattern have no names here: "/runs/{}.svg".
export function tableOfPages() {
    const source = readFileSync(new URL('../../web/pages.c', import.meta.url), 'utf8');
    return [...source.matchAll(ROW)].map(([, verb, path, role]) => ({
        verb,
        pattern: path.replace(/\{\w+\}/g, '{}'),
        role: role.toLowerCase(),
    }));
}

// The paths to request for each page, made from the data that world.mjs prepares. A page that shows several kinds of things has
// an example of each kind.
const EXAMPLES = {
    '/': () => ['/'],
    '/deployments': () => ['/deployments'],
    '/register': () => ['/register'],
    '/deployments/{}': () => ['/deployments/demo', '/deployments/hostile'],
    '/sweeps': () => ['/sweeps'],
    '/sweeps/new': () => ['/sweeps/new?deployment=demo'],
    '/sweeps/{}': ({ sweeps }) => [sweeps.done, sweeps.running, sweeps.failed].map((id) => `/sweeps/${id}`),
    '/runs': () => ['/runs'],
    '/runs/{}': ({ runs }) => [runs.done, runs.grid, runs.hostile].map((id) => `/runs/${id}`),
    '/compare': ({ sweeps, runs }) => [
        '/compare',
        `/compare?a=${sweeps.done}&b=${sweeps.again}`,
        `/compare?a=${runs.hostile}&b=${runs.grid}`,
    ],
    '/history': () => ['/history?deployment=demo', '/history?deployment=hostile'],
    '/jobs': () => ['/jobs'],
    '/jobs/{}': ({ jobs }) => [jobs.running, jobs.done].map((id) => `/jobs/${id}`),
    '/ask/{}': ({ questions }) => questions,
    '/plans/{}': ({ plans }) => plans.map((id) => `/plans/${id}`),
    '/leases': () => ['/leases'],
    '/audit-log': () => ['/audit-log'],
    '/imports': () => ['/imports'],
};

const isFile = ({ pattern }) => /\.[a-z]+$/.test(pattern);

// examplesOf(world): the paths of all pages; fails if a page of the table has no example.
export function examplesOf(world) {
    const rows = tableOfPages().filter((row) => row.verb === 'GET' && !isFile(row));
    assert.ok(rows.length > 0, 'web/pages.c has no rows that this test can read');
    const without = rows.filter(({ pattern }) => !(pattern in EXAMPLES)).map(({ pattern }) => pattern);
    assert.deepEqual(without, [], 'pages without an example in tests/browser/pages.mjs');
    return rows.flatMap(({ pattern }) => EXAMPLES[pattern](world));
}

const PARAMETERS = ['a', 'b', 'cursor', 'deployment', 'limit', 'metric', 'plot', 'principal', 'quantity', 'run', 'since', 'state']
    .concat(['subject', 'sweep', 'to', 'tool', 'until']);

// addressesWith(text): the paths of all pages; each parameter in the path, and each of PARAMETERS in the query, has the text as its
// value.
export function addressesWith(text) {
    const rows = tableOfPages().filter((row) => row.verb === 'GET' && !isFile(row));
    const query = new URLSearchParams(PARAMETERS.map((name) => [name, text]));
    return rows.map(({ pattern }) => `${pattern.replaceAll('{}', encodeURIComponent(text))}?${query}`);
}
