// SPDX-License-Identifier: Apache-2.0
// Opens every page of web/pages.c in Chromium, with hostile text in the database, and checks the layout, the use with the keyboard
// alone, and that the page shows the same text without scripts.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../e2e/support/harness.mjs';
import { checkForeignText, checkKeyboard, checkLooks, shownText } from './checks.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';
import { addressesWith, examplesOf } from './pages.mjs';
import { MARKUP, prepareWorld } from './world.mjs';

const AT_ONCE = 3;
const ALIKE_MS = 20_000;
const REFUSED = /the server responded with a status of 4\d\d/;

// open(context, url, origin): the page, and the list of its faults so far.
async function open(context, url, origin) {
    const { page, faults } = await newPage(context, origin);
    const answer = await page.goto(url);
    if (answer.status() !== 200 && answer.status() !== 0) faults.push(`status ${answer.status()}`);
    return { page, faults };
}

// textsOf(pages): the text of each page. While the texts differ, the pages are reloaded, for up to ALIKE_MS, since new data might
// have been stored between two loads.
async function textsOf(pages) {
    const limit = Date.now() + ALIKE_MS;
    for (;;) {
        const texts = await Promise.all(pages.map(shownText));
        if (new Set(texts).size === 1 || Date.now() > limit) return texts;
        await Promise.all(pages.map((page) => page.reload()));
    }
}

// tryEverything(contexts, url, origin): asserts that a page passes all checks, and that it has the same text and no faults when
// scripts are disabled; returns the page.
async function tryEverything(contexts, url, origin) {
    const { page, faults } = await open(contexts.usual, url, origin);
    const without = await open(contexts.withoutScripts, url, origin);
    const wrong = await checkForeignText(page);
    const texts = await textsOf([page, without.page]);
    wrong.push(...(await checkKeyboard(page)), ...(await checkLooks(page)));
    wrong.push(...faults, ...without.faults.map((fault) => `without scripts: ${fault}`));
    await without.page.close();
    assert.deepEqual(wrong, []);
    assert.equal(texts[1], texts[0], 'the page shows something else without scripts');
    return page;
}

// Saves a report, opens it from the disk without a network, checks it, and prints it.
async function tryReport(t, world, contexts, uri) {
    const { contents } = await world.client.client.readResource({ uri });
    const file = path.join(await temporaryFolder(t), 'report.html');
    await writeFile(file, contents[0].text);
    const page = await tryEverything(contexts, `file://${file}`, `file://${path.dirname(file)}`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.match(paper, /255, 255, 255|rgba\(0, 0, 0, 0\)/, 'the report prints on dark paper');
    const sheets = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g).length;
    t.diagnostic(`${contents[0].text.length} bytes, ${sheets} sheets`);
    await page.close();
}

// The answer to a URL whose parameters are markup is a page with a heading, on which the markup is only text.
async function tryAddresses(world, context) {
    for (const address of addressesWith(MARKUP)) {
        const { page, faults } = await newPage(context, world.origin);
        await page.goto(world.origin + address);
        const wrong = [...(await checkForeignText(page)), ...faults.filter((fault) => !REFUSED.test(fault))];
        assert.deepEqual(wrong, [], address);
        assert.notEqual(await page.locator('h1').innerText(), '', address);
        await page.close();
    }
}

const withoutIds = (name) => name.replace(/_[0-9a-z]{26}/g, '');

test('every page passes all checks', { concurrency: AT_ONCE }, async (t) => {
    const world = await prepareWorld(t);
    const browser = await startChromium(t);
    const usual = await openContext(browser);
    const withoutScripts = await openContext(browser, { javaScriptEnabled: false });
    const checks = examplesOf(world).map((each) =>
        t.test(withoutIds(each), async () => {
            const page = await tryEverything({ usual, withoutScripts }, world.origin + each, world.origin);
            await page.close();
        }),
    );
    const offline = {
        usual: await openContext(browser, { offline: true }),
        withoutScripts: await openContext(browser, { offline: true, javaScriptEnabled: false }),
    };
    const { sweeps, runs } = world;
    const reported = [`sweeps/${sweeps.done}`, ...[runs.done, runs.grid, runs.hostile].map((run) => `runs/${run}`)];
    const reports = reported.map((each) =>
        t.test(`report of ${withoutIds(each)}`, (t) => tryReport(t, world, offline, `opsbrain://${each}/report.html`)),
    );
    const addresses = t.test('markup in a URL is shown only as text', () => tryAddresses(world, usual));
    await Promise.all([...checks, ...reports, addresses]);
});
