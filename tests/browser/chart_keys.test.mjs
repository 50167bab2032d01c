// SPDX-License-Identifier: Apache-2.0
// A chart on a page can be used with the keyboard: Tab stops at it once, and the arrow keys move from cell to cell. The sentence
// that describes a cell is shown, screen readers can read it, and its figures are those of the table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../e2e/support/clients.mjs';
import { startServer, until } from '../e2e/support/harness.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';
import { gridFile } from './grid_file.mjs';

const focusedMark = () => document.activeElement.closest('svg g[data-i]')?.dataset.i;
const sentence = (page) => page.locator('.sentence').first().textContent();

// Returns what Chromium reports to assistive technology about the element with the focus.
async function accessibleName(page) {
    const session = await page.context().newCDPSession(page);
    const { result } = await session.send('Runtime.evaluate', { expression: 'document.activeElement' });
    const { nodes } = await session.send('Accessibility.getPartialAXTree', { objectId: result.objectId, fetchRelatives: false });
    await session.detach();
    return `${nodes[0].role.value}: ${nodes[0].name.value}`;
}

// Presses Tab once for each control on the page, starting at the focused element or, without one, at the top of the page. Returns
// the chart marks at which Tab stopped.
async function stops(page) {
    const reached = [];
    const controls = await page.locator('a, button, input, select, summary, [tabindex="0"]').count();
    for (let presses = 0; presses < controls; presses++) {
        await page.keyboard.press('Tab');
        const mark = await page.evaluate(focusedMark);
        if (mark !== undefined) reached.push(mark);
    }
    return reached;
}

async function openRun(t, viewport) {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const { run } = await client.call('run_import', { name: 'grid.json', text: gridFile() });
    await client.close();
    const origin = `http://127.0.0.1:${server.port}`;
    const { page, faults } = await newPage(await openContext(await startChromium(t), { viewport }), origin);
    await page.goto(`${origin}/runs/${run.id}`);
    return { page, faults };
}

test('a heat map on a page can be read cell by cell with the keyboard', async (t) => {
    const { page, faults } = await openRun(t, { width: 320, height: 800 });
    assert.deepEqual(await stops(page), ['0'], 'Tab stops at the chart once');

    await page.locator('svg g[data-i="0"]').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'])
        await page.keyboard.press(key);
    const words = await sentence(page);
    assert.match(words, /^4 users, context 256: 182 tokens\/s/);
    assert.equal(await accessibleName(page), `image: ${words}`);
    const row = page.locator('table.cells tbody tr').filter({ has: page.locator('td:text-is("4")'), hasText: '256' });
    assert.match(await row.first().innerText(), /\b182\b/, 'the table has the same figure');

    for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight');
    assert.match(await sentence(page), /^1024 users, context 256: /, 'the arrow keys stop at the edge');
    const box = await page.locator('svg g[data-i]:focus').boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 320, `the cell is scrolled into view: ${JSON.stringify(box)}`);
    assert.deepEqual(faults, []);
});

test('when the content of a page is replaced, the focus stays on its cell', async (t) => {
    const { page, faults } = await openRun(t);
    await page.locator('svg g[data-i="14"]').focus();
    const words = await sentence(page);
    await page.evaluate(() => {
        window.before = document.getElementById('main');
        new BroadcastChannel('opsbrain').postMessage(['*']);
    });
    await until('the page to be replaced', () => page.evaluate(() => document.getElementById('main') !== window.before));
    assert.equal(await page.evaluate(focusedMark), '14');
    assert.equal(await sentence(page), words);
    assert.deepEqual(await stops(page), [], 'Tab leaves the chart');
    await page.locator('svg g[data-i="15"]').hover();
    assert.notEqual(await sentence(page), words, 'pointing at a mark also shows its sentence');
    assert.deepEqual(faults, []);
});
