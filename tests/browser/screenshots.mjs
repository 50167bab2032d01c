// SPDX-License-Identifier: Apache-2.0
// Saves a picture of every page under build/screenshots/, in both themes, wide and narrow: ./run screenshots [PART OF A PATH]
import { mkdir } from 'node:fs/promises';
import { test } from 'node:test';
import { newPage, openContext, startChromium } from './chromium.mjs';
import { examplesOf } from './pages.mjs';
import { prepareWorld } from './world.mjs';

const FOLDER = 'build/screenshots';

// Loads the charts that a browser would load only when a user scrolls to them.
async function loadPictures(page) {
    await page.evaluate(() => document.querySelectorAll('img').forEach((image) => (image.loading = 'eager')));
    await page.waitForFunction(() => [...document.images].every((image) => image.complete));
}

test('screenshots', async (t) => {
    const world = await prepareWorld(t);
    const { page, faults } = await newPage(await openContext(await startChromium(t)), world.origin);
    await mkdir(FOLDER, { recursive: true });
    for (const [at, path] of examplesOf(world).entries()) {
        if (!path.includes(process.env.SCREENSHOTS ?? '')) continue;
        await page.goto(world.origin + path);
        const name = `${String(at).padStart(2, '0')}${path.replace(/_[0-9a-z]{26}/g, '').replace(/\W+/g, '-')}`;
        for (const width of [1280, 320])
            for (const colorScheme of ['light', 'dark']) {
                await page.setViewportSize({ width, height: 800 });
                await page.emulateMedia({ colorScheme });
                await loadPictures(page);
                await page.screenshot({ path: `${FOLDER}/${name}-${width}-${colorScheme}.png`, fullPage: true });
            }
    }
    t.diagnostic(`saved in ${FOLDER}/; faults: ${faults.join('; ') || 'none'}`);
});
