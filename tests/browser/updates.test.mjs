// SPDX-License-Identifier: Apache-2.0
// A page that updates itself misses no change, and keeps what the user typed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../e2e/support/clients.mjs';
import { atEnd, startServer } from '../e2e/support/harness.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';

// open(t): {register, show}: register(name) registers a deployment; show(path) opens a page in a tab of its own, and returns it.
async function open(t) {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    atEnd(t, () => client.close());
    const origin = `http://127.0.0.1:${server.port}`;
    const context = await openContext(await startChromium(t));
    const show = async (path) => {
        const { page } = await newPage(context, origin);
        await page.goto(origin + path);
        return page;
    };
    return { show, register: (name) => client.call('deployment_register', { name, url: 'http://127.0.0.1:9' }) };
}

test('a page misses no change, even one that occurs while the page is being loaded or while the server is busy', async (t) => {
    const { show, register } = await open(t);
    const [page, other] = [await show('/deployments'), await show('/deployments')];
    const requests = [];
    await page.route('**/deployments', async (route) => {
        requests.push(Date.now());
        if (requests.length === 1) return route.fulfill({ status: 503, body: 'busy' });
        const response = await route.fetch();
        if (requests.length === 2) {
            await register('second');
            await other.getByText('second').waitFor();
        }
        return route.fulfill({ response });
    });
    await register('first');
    await page.getByText('first').waitFor();
    await page.getByText('second').waitFor();
    // page.js waits 5 s between two requests if the page follows all changes, and after a request that failed
    for (const [i, at] of requests.entries()) if (i > 0) assert.ok(at - requests[i - 1] > 4500, `${requests}`);
});

test('text typed into a form stays, even when another control has the focus', async (t) => {
    const { show, register } = await open(t);
    const [page, other] = [await show('/jobs'), await show('/deployments')];
    await page.locator('[name=principal]').fill('ada');
    await page.locator('main button').focus();
    await register('sim');
    await other.getByText('sim').waitFor();
    await other.waitForTimeout(500); // long enough for the page to be replaced, which must not happen
    assert.equal(await page.locator('[name=principal]').inputValue(), 'ada');
    await page.locator('[name=principal]').fill('');
    await page.evaluate(() => (document.querySelector('main').mark = true));
    await page.locator('main button').focus();
    await page.waitForFunction(() => !document.querySelector('main').mark);
});
