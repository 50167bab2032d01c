// SPDX-License-Identifier: Apache-2.0
// Starts Debian's Chromium through playwright-core, and opens pages whose faults are collected.
import { chromium } from 'playwright-core';
import { atEnd } from '../e2e/support/harness.mjs';

const LIMIT_MS = 20_000;

// startChromium(t): a browser, which is closed when the test ends.
export async function startChromium(t) {
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    atEnd(t, () => browser.close());
    return browser;
}

// openContext(browser, options): browser.newContext with a wide window and with LIMIT_MS as the limit on each action.
export async function openContext(browser, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(LIMIT_MS);
    return context;
}

// newPage(context, origin): a page and the list of its faults: console messages (including violations of the content security
// policy), script errors, dialogs, and requests to any server except `origin`.
export async function newPage(context, origin) {
    const page = await context.newPage();
    const faults = [];
    page.on('console', (message) => faults.push(`console, ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => (faults.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`request to ${url}`);
    });
    await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) =>
            console.error(`${event.violatedDirective} blocks ${event.blockedURI} ${event.sample}`),
        );
    });
    return { page, faults };
}
