// SPDX-License-Identifier: Apache-2.0
// A page in the dark theme is printed in the light theme, including its charts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { connect } from '../e2e/support/clients.mjs';
import { startServer } from '../e2e/support/harness.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';
import { gridFile } from './grid_file.mjs';

const DARK_PAPER = [0x14, 0x18, 0x1d];
const LIGHT_MARKER = [0xc2, 0x4e, 0x00]; // the light theme's colour of a chart's second line

// fills(pdf): the fill colours on the sheets of the PDF, as [r, g, b], each from 0 to 255.
function fills(pdf) {
    const found = [];
    for (let at = pdf.indexOf('stream\n'); at >= 0; at = pdf.indexOf('stream\n', at + 1)) {
        if (pdf.subarray(at - 3, at).toString('latin1') === 'end') continue;
        const text = inflated(pdf.subarray(at + 'stream\n'.length));
        for (const [, ...colour] of text.matchAll(/([\d.]+) ([\d.]+) ([\d.]+) rg\b/g))
            found.push(colour.map((part) => Math.round(255 * part)));
    }
    return found;
}

function inflated(bytes) {
    try {
        return inflateSync(bytes).toString('latin1');
    } catch {
        return ''; // not text: a picture or a font
    }
}

test('a page in the dark theme is printed with light charts', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const { run } = await client.call('run_import', { name: 'grid.json', text: gridFile() });
    await client.close();
    const origin = `http://127.0.0.1:${server.port}`;
    const { page, faults } = await newPage(await openContext(await startChromium(t)), origin);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(`${origin}/runs/${run.id}`);
    for (const picture of await page.locator('figure img:visible').all()) await picture.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => [...document.querySelectorAll('picture img')].every((image) => image.complete));
    const shown = await page.locator('picture img').evaluateAll((images) => images.map((image) => image.currentSrc));
    assert.ok(shown.length > 0 && shown.every((url) => url.includes('dark=1')), `${shown}`);

    const colours = fills(await page.pdf({ format: 'A4', printBackground: true })).map(String);
    assert.ok(colours.includes(String(LIGHT_MARKER)), 'no chart is printed');
    assert.ok(!colours.includes(String(DARK_PAPER)), 'a chart is printed on dark paper');
    assert.deepEqual(faults, []);
});
