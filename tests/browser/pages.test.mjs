// SPDX-License-Identifier: Apache-2.0
// Every page of the table in Chromium: how it looks, without scripts, with the keyboard alone, with hostile text stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkForeignText, checkKeyboard, checkLooks, shownText } from './checks.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';
import { examplesOf } from './pages.mjs';
import { prepareWorld } from './world.mjs';

const AT_ONCE = 3;

test('every page', { concurrency: AT_ONCE }, async (t) => {
    const world = await prepareWorld(t);
    const browser = await startChromium(t);
    const context = await openContext(browser);
    const plain = await openContext(browser, { javaScriptEnabled: false });
    const open = async (where, path) => {
        const { page, faults } = await newPage(where, world.origin);
        const answer = await page.goto(world.origin + path, { waitUntil: 'load' });
        if (answer.status() !== 200) faults.push(`status ${answer.status()}`);
        return { page, faults };
    };

    const checks = examplesOf(world).map((path) =>
        t.test(path.replace(/_[0-9a-z]{26}/g, ''), async () => {
            const { page, faults } = await open(context, path);
            const without = await open(plain, path);
            const wrong = await checkForeignText(page);
            const texts = [await shownText(page), await shownText(without.page)];
            wrong.push(...(await checkKeyboard(page)), ...(await checkLooks(page)));
            wrong.push(...faults, ...without.faults.map((fault) => `without scripts: ${fault}`));
            await Promise.all([page.close(), without.page.close()]);
            assert.deepEqual(wrong, []);
            assert.equal(texts[1], texts[0], 'without scripts it shows something else');
        }),
    );
    await Promise.all(checks);
});
