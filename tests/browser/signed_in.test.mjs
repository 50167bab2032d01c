// SPDX-License-Identifier: Apache-2.0
// Users sign in with keys, in Chromium: a viewer sees no form and no link that the server would refuse, and a sign-in ends with
// "Sign out" or when its key is revoked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../e2e/support/harness.mjs';
import { checkLooks } from './checks.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';
import { examplesOf, tableOfPages } from './pages.mjs';
import { prepareTeam } from './world.mjs';

// signIn(browser, origin, key): a page of a user who signed in with the key, and its faults.
async function signIn(browser, origin, key) {
    const { page, faults } = await newPage(await openContext(browser), origin);
    await page.goto(`${origin}/`);
    await page.locator('input[type=password]').fill(key);
    await page.locator('main button').click();
    await page.waitForURL(`${origin}/`);
    return { page, faults };
}

// linkedFrom(page, origin, paths): {forms, links}: the paths to which the forms and the links of these pages lead, except for the
// form that signs the user out.
async function linkedFrom(page, origin, paths) {
    const [forms, links] = [new Set(), new Set()];
    for (const path of paths) {
        await page.goto(origin + path, { waitUntil: 'domcontentloaded' });
        const found = await page.evaluate(() => ({
            forms: [...document.querySelectorAll('form[method=post]')].map(({ action }) => new URL(action).pathname),
            links: [...document.querySelectorAll('a[href^="/"]')].map(({ href }) => new URL(href).pathname),
        }));
        for (const action of found.forms) if (action !== '/sign-out') forms.add(action);
        for (const link of found.links) links.add(link);
    }
    return { forms: [...forms].sort(), links: [...links].sort() };
}

// send(page, action): sends a form with the token of the page that is shown; returns the status of the answer.
function send(page, action) {
    return page.evaluate(async (action) => {
        const token = document.querySelector('input[name=token]').value;
        return (await fetch(action, { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' })).status;
    }, action);
}

test('the sign-in form is accessible', async (t) => {
    const team = await prepareTeam(t);
    const { page, faults } = await newPage(await openContext(await startChromium(t)), team.origin);
    await page.goto(`${team.origin}/sign-in`);
    assert.deepEqual(await checkLooks(page), []);
    await page.keyboard.type('obk_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    assert.deepEqual(await checkLooks(page), []);
    assert.deepEqual(faults.filter((fault) => !/status of 403/.test(fault)), []);
});

test('a viewer sees no form or link that the server would refuse, and a form that a viewer sends anyway is refused', async (t) => {
    const team = await prepareTeam(t);
    const browser = await startChromium(t);
    const [otto, eve] = [await signIn(browser, team.origin, team.keys.otto), await signIn(browser, team.origin, team.keys.eve)];
    const paths = examplesOf(team);
    const { forms } = await linkedFrom(otto.page, team.origin, paths);
    t.diagnostic(`an operator can send ${forms.join(' ')}`);
    const shown = await linkedFrom(eve.page, team.origin, paths);
    assert.deepEqual(shown.forms, []);
    const refused = tableOfPages().filter(({ verb, role }) => verb === 'GET' && role !== 'viewer');
    assert.deepEqual(shown.links.filter((link) => refused.some(({ pattern }) => pattern === link)), []);
    await eve.page.goto(`${team.origin}/`);
    for (const action of forms) assert.equal(await send(eve.page, action), 403, action);
    // Some of the pages are answered with a 4xx status: a running sweep, for example, cannot be compared with itself.
    assert.deepEqual(otto.faults.filter((fault) => !/status of 4\d\d/.test(fault)), []);
});

test('a sign-in ends with the button "Sign out", or when its key is revoked', async (t) => {
    const team = await prepareTeam(t);
    const browser = await startChromium(t);
    const { page, faults } = await signIn(browser, team.origin, team.keys.eve);
    const tabs = [await page.context().newPage(), await page.context().newPage()];
    for (const tab of tabs) await tab.goto(`${team.origin}/jobs`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${team.origin}/sign-in`);
    for (const tab of tabs) await tab.waitForURL(/\/sign-in/); // without any action by the user
    await page.goBack();
    assert.equal(await page.getByText('eve').count(), 0, 'the Back button shows the page of somebody who signed out');
    const otto = await signIn(browser, team.origin, team.keys.otto);
    await run(['key', 'revoke', 'otto', '--data', team.data]);
    await otto.page.waitForURL(/\/sign-in/); // without any action by the user
    await otto.page.goto(`${team.origin}/`);
    assert.match(otto.page.url(), /\/sign-in/);
    // The event stream of otto's page was cut off when the key was revoked.
    const cut = /ERR_INCOMPLETE_CHUNKED_ENCODING/;
    assert.deepEqual([...faults, ...otto.faults].filter((fault) => !cut.test(fault)), []);
});
