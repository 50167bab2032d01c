// SPDX-License-Identifier: Apache-2.0
// ./run bench first_ten_minutes    a user's first ten minutes: a fresh clone, ./run, a sweep from the web page, its report saved
//
// Prints when each step was done, and how many clicks and filled fields the steps took. Fails if the demo model server does not
// saturate within the grid that ./run suggests. Needs Debian's Chromium and the package that controls it, both of which
// `./run screenshots` installs, and the packages that a build needs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort, until } from '../e2e/support/harness.mjs';

const BUILD_MS = 1_200_000;
const SWEEP_MS = 300_000;
const GRID = { concurrency: '1, 4, 16', input_tokens: '128, 1024', window_s: '2' }; // as ./run suggests

if (!existsSync('/usr/bin/chromium') || !existsSync('tests/browser/node_modules')) {
    console.log('first_ten_minutes skipped: it needs Chromium (./run screenshots installs it)');
    process.exit(0);
}
const { newPage, openContext, startChromium } = await import('../browser/chromium.mjs');

const endings = [];
const bench = { after: (end) => endings.push(end) };
const begun = performance.now();
const seconds = () => (performance.now() - begun) / 1000;
const note = (what) => console.log(`${seconds().toFixed(1).padStart(7)} s  ${what}`);
const effort = { clicks: 0, fields: 0 };

// startRun(clone, port): starts ./run in a fresh clone, and waits until it has printed its address.
async function startRun(clone, port) {
    const environment = { ...process.env, PORT: '', OPSBRAIN_LISTEN: '' };
    const child = spawn('./run', ['--listen', `127.0.0.1:${port}`], { cwd: clone, env: environment, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    bench.after(async () => {
        if (child.exitCode === null) process.kill(-child.pid, 'SIGINT');
        await until('./run to end', () => child.exitCode !== null || child.signalCode !== null);
    });
    await until('./run to start the server', () => {
        assert.equal(child.exitCode, null, output);
        return output.includes('Ctrl-C stops it');
    }, BUILD_MS);
    assert.match(output, /1, 4 and 16 users at 128 and 1024 tokens/);
}

async function sweepFromPage(page, origin) {
    const click = async (role, name) => (effort.clicks++, await page.getByRole(role, { name, exact: true }).first().click());
    await page.goto(`${origin}/`);
    note('the overview is shown');
    await click('link', 'demo');
    await click('link', 'Plan a sweep');
    for (const [name, value] of Object.entries(GRID)) {
        effort.fields++;
        await page.locator(`[name=${name}]`).fill(value);
    }
    await click('button', 'Show the plan');
    await click('button', 'Start');
    await page.waitForURL(/\/sweeps\/swp_/);
    note('the sweep has started');
    await page.getByText('completed').first().waitFor({ timeout: SWEEP_MS });
    note('the sweep has completed');
}

async function saveReport(page, folder) {
    effort.clicks++;
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Save the report' }).first().click()]);
    const file = path.join(folder, download.suggestedFilename());
    await download.saveAs(file);
    note(`the report has been saved: ${path.basename(file)}, ${Math.round(statSync(file).size / 1024)} KB`);
}

const folder = mkdtempSync(path.join(tmpdir(), 'opsbrain-ten-'));
endings.push(() => rmSync(folder, { recursive: true, force: true }));
try {
    const clone = path.join(folder, 'opsbrain');
    execFileSync('git', ['clone', '--quiet', process.cwd(), clone]);
    note('cloned');
    const port = await freePort();
    await startRun(clone, port);
    note('./run has printed its address');
    const origin = `http://127.0.0.1:${port}`;
    const { page, faults } = await newPage(await openContext(await startChromium(bench), { acceptDownloads: true }), origin);
    await sweepFromPage(page, origin);
    const shown = await page.locator('main').innerText();
    await saveReport(page, folder);
    console.log(`1 command typed after the clone, ${effort.clicks} clicks, ${effort.fields} fields filled, ${seconds().toFixed(0)} s in all`);
    for (const [verdict] of shown.matchAll(/^.*\btokens in, .*saturated.*$/gm)) console.log(`  ${verdict.trim()}`);
    assert.match(shown, /saturated (at|between)/i);
    assert.doesNotMatch(shown, /not saturated/i);
    assert.deepEqual(faults, []);
} finally {
    for (const end of endings.reverse()) await end();
}
