// SPDX-License-Identifier: Apache-2.0
// The MCP App that shows charts: only hosts that support apps are told of it. The tests drive it through the official bridge.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APPS, openApp } from '../e2e/support/app_host.mjs';
import { connect } from '../e2e/support/clients.mjs';
import { startServer, startSimserve, until } from '../e2e/support/harness.mjs';
import { newPage, openContext, startChromium } from './chromium.mjs';
import { gridFile } from './grid_file.mjs';

const URI = 'ui://opsbrain/chart';
const APP_LIMIT_BYTES = 16 * 1024;
const CELLS = 156;

for (const kind of ['legacy-1x', '2x-2026'])
    test(`only a host that supports apps sees the app's tool (${kind})`, async (t) => {
        const server = await startServer(t);
        const plain = await connect(kind, server.url);
        const host = await connect(kind, server.url, { extensions: APPS });
        const [without, tools] = [await plain.listTools(), await host.listTools()];
        const chart = tools.find(({ name }) => name === 'run_chart');
        const drawing = tools.find(({ name }) => name === 'chart_draw');

        assert.deepEqual(chart._meta, { ui: { resourceUri: URI, visibility: ['app', 'model'] }, 'ui/resourceUri': URI });
        assert.deepEqual(drawing._meta.ui.visibility, ['app']);
        assert.ok(without.every(({ name, _meta }) => name !== 'chart_draw' && !_meta));
        assert.equal(tools.length, without.length + 1);
        await plain.close();
        await host.close();
    });

test('the app draws the grid, reports its size, follows the theme, obeys the arrow keys, and ends on request', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url, { extensions: APPS });
    const { run } = await client.call('run_import', { name: 'grid.json', text: gridFile() });
    const { contents } = await client.client.readResource({ uri: URI });
    assert.equal(contents[0].mimeType, 'text/html;profile=mcp-app');
    assert.ok(contents[0].text.length <= APP_LIMIT_BYTES, `${contents[0].text.length} bytes`);

    const browser = await startChromium(t);
    const context = await openContext(browser);
    const { page, faults } = await newPage(context, 'about:blank');
    const calls = [];
    const { bridge, sizes, frame } = await openApp(
        page,
        contents[0].text,
        (name, args) => (calls.push(name), client.callTool(name, args)),
        'dark',
    );
    const words = () => frame.locator('.sentence').textContent();
    await bridge.sendToolInput({ arguments: { run: run.id, options: ['quantity=output_tokens_per_s'] } });
    await frame.locator('svg g.cell').nth(CELLS - 1).waitFor();
    assert.equal(await frame.locator('svg g.cell').count(), CELLS);
    assert.equal(await frame.locator('svg > rect').first().getAttribute('fill'), '#14181d', 'dark paper');
    assert.equal(await frame.locator('#quantity').inputValue(), 'output_tokens_per_s');
    assert.ok(sizes.at(-1).height > 300, JSON.stringify(sizes.at(-1)));

    await frame.locator('#quantity').focus();
    await page.keyboard.press('Tab');
    assert.match(await words(), /^1 user, context 128: 97\.6 tokens\/s/);
    await page.keyboard.press('ArrowRight');
    assert.match(await words(), /^2 users, context 128: /);
    await page.keyboard.press('ArrowDown');
    assert.match(await words(), /^2 users, context 256: /);
    await frame.locator('#plot').selectOption('latency');
    await frame.locator('svg[aria-label*="TTFT by users"]').waitFor();

    await bridge.setHostContext({ theme: 'light' });
    await frame.locator('svg > rect[fill="#ffffff"]').first().waitFor();
    assert.deepEqual(await bridge.teardownResource({}), {});
    assert.deepEqual([...new Set(calls)], ['chart_draw']);
    assert.deepEqual(faults, []);
    await client.close();
});

test('in the history chart of the app, an arrow key and the mouse pointer select another moment', async (t) => {
    const model = await startSimserve(t);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url, { extensions: APPS });
    await client.call('deployment_register', { name: 'sim', url: model.url });
    await client.call('metrics_watch', { deployment: 'sim', interval_s: 1 });
    const { contents } = await client.client.readResource({ uri: URI });
    const { page, faults } = await newPage(await openContext(await startChromium(t)), 'about:blank');
    const { bridge, frame } = await openApp(page, contents[0].text, (name, args) => client.callTool(name, args), 'light');
    const moments = frame.locator('svg g.moment');
    await until('two moments', async () => {
        await bridge.sendToolInput({ arguments: { plot: 'history', options: ['deployment=sim', 'minutes=1'] } });
        await frame.locator('svg').waitFor();
        return (await moments.count()) >= 2;
    });

    await frame.locator('#minutes').focus();
    await page.keyboard.press('Tab');
    const words = () => frame.locator('.sentence').textContent();
    const first = await words();
    assert.match(first, /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC; requests: running 0, waiting 0/);
    await page.keyboard.press('ArrowRight');
    assert.ok((await words()) > first, 'later');
    assert.equal(await frame.locator('.cursor rect').getAttribute('width'), '1', 'a vertical line through the moment');
    await moments.first().hover();
    assert.equal(await words(), first);
    assert.deepEqual(faults, []);
    await client.close();
});

test('the app says why it cannot draw a chart', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url, { extensions: APPS });
    const { contents } = await client.client.readResource({ uri: URI });
    const browser = await startChromium(t);
    const { page } = await newPage(await openContext(browser), 'about:blank');
    const { bridge, frame } = await openApp(page, contents[0].text, (name, args) => client.callTool(name, args), 'light');
    await bridge.sendToolInput({ arguments: { run: 'imp_nobody' } });
    await frame.locator('#words', { hasText: 'imp_nobody' }).waitFor();
    await client.close();
});
