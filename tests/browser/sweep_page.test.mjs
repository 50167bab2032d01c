// SPDX-License-Identifier: Apache-2.0
// A user starts a sweep and watches its page: the page fills without a reload, even when the server is killed and restarted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../e2e/support/clients.mjs';
import { atEnd, startServer, startSimserve, until } from '../e2e/support/harness.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';

const SHOWN_MS = 2000; // a finished cell must be shown within this time
// The sweep's end must be shown within this time: the page needs some seconds after the restart to notice that the server is back.
const BACK_MS = 12_000;
const TABS = 8;
const TABS_MS = 10_000; // limit for opening all tabs
const GRID = { concurrency: '1, 2', input_tokens: '16, 32', output_tokens: '8', window_s: '1' };
// The faults that a page has while its server is down.
const AWAY = /ERR_CONNECTION_(REFUSED|RESET)|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING/;

// The number of finished cells that the page shows; Infinity if it has no progress bar because the sweep has ended.
const cellsShown = (page) => page.locator('main progress').evaluateAll(([bar]) => (bar ? bar.value : Infinity));

// startFromPage(page, origin): goes from the overview to the page of a running sweep, and returns the number of clicks.
async function startFromPage(page, origin) {
    let clicks = 0;
    const click = async (role, name) => (clicks++, await page.getByRole(role, { name, exact: true }).first().click());
    await page.goto(`${origin}/`);
    await click('link', 'sim');
    await click('link', 'Plan a sweep');
    for (const [name, value] of Object.entries(GRID)) await page.locator(`[name=${name}]`).fill(value);
    await click('button', 'Show the plan');
    await click('button', 'Start');
    await page.waitForURL(/\/sweeps\/swp_/);
    return clicks;
}

// follow(page, client, sweep, cells): waits until the page shows that many finished cells; returns how many ms passed after the
// server itself reported them.
async function follow(page, client, sweep, cells) {
    await until(`${cells} cells`, async () => {
        const shown = await client.call('sweep_show', { sweep });
        return shown.sweep.cells_done >= cells;
    });
    const begun = performance.now();
    await until(`${cells} cells on the page`, async () => (await cellsShown(page)) >= cells);
    return performance.now() - begun;
}

test('the page of a sweep fills without a reload, even after kill -9, and eight tabs can show it', async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    atEnd(t, () => client.close());
    await client.call('deployment_register', { name: 'sim', url: model.url });
    const origin = `http://127.0.0.1:${server.port}`;
    const context = await openContext(await startChromium(t));
    const { page, faults } = await newPage(context, origin);

    const clicks = await startFromPage(page, origin);
    const sweep = new URL(page.url()).pathname.split('/').pop();
    await page.evaluate(() => (window.sameDocument = true));
    const waits = [await follow(page, client, sweep, 1), await follow(page, client, sweep, 2)];
    await server.killAndRestart();
    await until('the sweep to end', async () => (await client.call('sweep_show', { sweep })).sweep.state === 'completed');
    const begun = performance.now();
    await page.getByText('completed').first().waitFor();
    const back = performance.now() - begun;
    assert.equal(await page.evaluate(() => window.sameDocument), true, 'the page was loaded again');

    const opened = performance.now();
    const tabs = await Promise.all(Array.from({ length: TABS - 1 }, () => newPage(context, origin)));
    await Promise.all(tabs.map((tab) => tab.page.goto(page.url())));
    const tabsMs = performance.now() - opened;
    t.diagnostic(`${clicks} clicks; shown after ${waits.map(Math.round)} ms; after kill -9 ${Math.round(back)} ms; tabs ${Math.round(tabsMs)} ms`);
    for (const wait of waits) assert.ok(wait <= SHOWN_MS, `a cell was shown ${wait} ms after it was finished`);
    assert.ok(back <= BACK_MS && tabsMs <= TABS_MS);
    assert.deepEqual([...faults, ...tabs.flatMap((tab) => tab.faults)].filter((fault) => !AWAY.test(fault)), []);
});
