// SPDX-License-Identifier: Apache-2.0
// Tests the pages of runs and comparisons, and the files whose URLs end in .html, .svg, .csv and so on: their statuses, sizes
// and ETags, and that a run's page has the figures of run_show. The tests in tests/browser/ open the pages in a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from './support/browser.mjs';
import { connect } from './support/clients.mjs';
import { startServer } from './support/harness.mjs';
import { gridFile } from '../browser/grid_file.mjs';

const PAGE_MAX_BYTES = 150_000; // including its style sheets and scripts
const SCRIPTS_MAX_BYTES = 25_000;
const REPORT_MAX_BYTES = 400_000;

const gridCsv = (factor) =>
    'concurrency,context_len,success_rate,avg_latency_s,req_per_sec,status\n' +
    [1, 4, 16]
        .flatMap((users) =>
            [64, 1024].map((length) => `${users},${length},1.0,${0.5 * users},${factor * users},<b onclick="x()">`),
        )
        .join('\n');

const get = (server, path) => new Browser(server.port).get(path);

async function importedTwice(t, server) {
    const client = await connect('2x-2026', server.url);
    t.after(() => client.close());
    const ids = [];
    for (const factor of [2, 3])
        ids.push((await client.call('run_import', { text: gridCsv(factor), name: `${factor}.csv` })).run.id);
    return { client, ids };
}

test('the page of a run has the figures of run_show, and a run or comparison can be downloaded as a file of each type', async (t) => {
    const server = await startServer(t);
    const { client, ids } = await importedTwice(t, server);
    const page = await get(server, `/runs/${ids[0]}`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.body, /<b onclick/);
    const { import: shown } = await client.call('run_show', { run: ids[0], detail: true });
    const rows = [...page.body.match(/<tbody>.*?<\/tbody>/s)[0].matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
        [...row.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, text]) => text),
    );
    assert.deepEqual(
        rows.map(([users, length, rate]) => [+users, +length, +rate]),
        shown.cells.map((cell) => [cell.concurrency, cell.input_length, cell.request_throughput]),
    );

    const report = await get(server, `/runs/${ids[0]}.html`);
    assert.equal(report.headers['content-disposition'], `attachment; filename="${ids[0]}.html"`);
    const policy = report.headers['content-security-policy'];
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:;/);
    assert.ok(report.body.includes(policy.replaceAll("'", '&#39;')), 'the file must contain the policy of its header');
    const data = JSON.parse(report.body.match(/id="data">(.*?)<\/script>/s)[1]);
    assert.equal(data.runs[0].cells.length, shown.cells.length);
    const types = { svg: 'image/svg+xml', png: 'image/png', csv: 'text/csv; charset=utf-8', json: 'application/json' };
    for (const [end, type] of Object.entries(types))
        for (const path of [`/runs/${ids[0]}`, `/runs/${ids[0]}/heat`, '/compare', '/compare/forest']) {
            const file = await get(server, `${path}.${end}?a=${ids[0]}&b=${ids[1]}`);
            assert.deepEqual([path, file.status, file.headers['content-type']], [path, 200, type]);
        }
    const cost = async (query) => (await get(server, `/runs/${ids[0]}/cost.svg?candidate=${ids[1]}${query}`)).status;
    assert.deepEqual([await cost(''), await cost('&usd_per_hour=1.5,2'), await cost('&usd_per_hour=1,x')], [400, 200, 400]);
    assert.equal(JSON.parse((await get(server, `/runs/${ids[0]}.json`)).body).import.cells.length, 6);

    const lines = Array.from({ length: 450 }, (_, i) => `${i + 1},64,1.0,0.5,2,ok`);
    const text = ['concurrency,context_len,success_rate,avg_latency_s,req_per_sec,status', ...lines].join('\n');
    const { run } = await client.call('run_import', { text, name: 'long.csv' });
    const whole = JSON.parse((await get(server, `/runs/${run.id}.json`)).body);
    assert.deepEqual(whole.import.cells.map((cell) => cell.concurrency), lines.map((_, i) => i + 1));
    assert.equal(whole.next_cursor, undefined);
});

test('a chart is drawn once, and is not sent again to a browser that sends its ETag', async (t) => {
    const server = await startServer(t);
    const { ids } = await importedTwice(t, server);
    const browser = new Browser(server.port);
    const pictures = async () =>
        Object.fromEntries([...(await browser.get('/metrics')).body.matchAll(/^opsbrain_pictures_total\{source="(\w+)"\} (\d+)/gm)].map(([, source, count]) => [source, +count]));
    const [first, other] = [await browser.get(`/runs/${ids[0]}/heat.png`), await browser.get(`/runs/${ids[1]}/heat.png`)];
    assert.match(first.headers.etag, /^"[0-9a-f]{64}"$/);
    assert.notEqual(first.headers.etag, other.headers.etag);
    assert.equal(first.headers['cache-control'], 'private, no-cache');
    assert.deepEqual(await pictures(), { drawn: 2, kept: 0 });

    for (const known of [first.headers.etag, `W/"a", ${first.headers.etag}`, '*']) {
        const again = await browser.get(`/runs/${ids[0]}/heat.png`, { 'If-None-Match': known });
        assert.deepEqual([again.status, again.body, again.headers.etag], [304, '', first.headers.etag], known);
    }
    assert.equal((await browser.get(`/runs/${ids[1]}/heat.png`, { 'If-None-Match': first.headers.etag })).status, 200);
    assert.deepEqual(await pictures(), { drawn: 2, kept: 4 });
    assert.equal((await browser.get(`/runs/${ids[0]}/heat.png?dark=1`, { 'If-None-Match': first.headers.etag })).status, 200);
    assert.deepEqual(await pictures(), { drawn: 3, kept: 4 });

    for (const path of [`/runs/${ids[0]}/heat.svg`, `/runs/${ids[0]}/heat.csv`, '/assets/marks.js', '/assets/chart.css']) {
        const { headers } = await browser.get(path);
        assert.equal((await browser.get(path, { 'If-None-Match': headers.etag })).status, 304, path);
    }
    assert.equal((await browser.get(`/runs/${ids[0]}`)).headers['cache-control'], 'no-store', 'a page shows who is signed in');
});

test('the page of a run with 156 cells is small, including its style sheets and scripts, and so is the report', async (t) => {
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const { run } = await client.call('run_import', { text: gridFile(), name: 'study.json' });
    await client.close();
    const { body: page } = await get(server, `/runs/${run.id}`);
    const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path).concat('/assets/marks.js');
    let [all, scripts] = [Buffer.byteLength(page), 0];
    for (const path of assets) {
        const bytes = Buffer.byteLength((await get(server, path)).body);
        all += bytes;
        if (path.includes('.js')) scripts += bytes;
    }
    const report = Buffer.byteLength((await get(server, `/runs/${run.id}.html`)).body);
    t.diagnostic(`page: ${all} bytes, including ${scripts} of scripts; report: ${report} bytes`);
    assert.ok(all <= PAGE_MAX_BYTES && scripts <= SCRIPTS_MAX_BYTES && report <= REPORT_MAX_BYTES);
});

test('the page of a refused comparison names the unknown facts, and has a link to compare anyway', async (t) => {
    const server = await startServer(t);
    const { ids } = await importedTwice(t, server);
    const page = await get(server, `/compare?a=${ids[0]}&b=${ids[1]}`);
    assert.match(page.body, /cannot be compared with/);
    assert.ok(page.body.indexOf('Unknown on both sides, so the comparison is refused') > 0);
    const forced = page.body.match(/href="([^"]+)">compare anyway/)[1].replaceAll('&amp;', '&');
    const compared = await get(server, forced);
    assert.equal(compared.status, 200);
    assert.doesNotMatch(compared.body, /rules the comparison out|so the comparison is refused/);
    assert.equal((await get(server, forced.replace('/compare?', '/compare.html?'))).status, 200);
});

test('unknown ids and paths get 404, and unknown plots and bad parameters 400; if no runs are named, /compare gets 200, and its files 400', async (t) => {
    const server = await startServer(t);
    const expected = {
        '/runs/run_nothing': 404, '/runs/imp_nothing.html': 404, '/runs/run_nothing.csv': 404, '/runs/run_nothing.json': 404,
        '/runs/run_nothing/heat.svg': 404, '/runs/run_nothing/nothing.svg': 400, '/runs/run_nothing/heat.gif': 404,
        '/sweeps/swp_nothing': 404, '/sweeps/swp_nothing.html': 404, '/sweeps/run_nothing': 404,
        '/compare': 200, '/compare?a=run_nothing&b=run_other': 404, '/compare.html': 400, '/compare.html?a=run_1': 404,
        '/compare/forest.svg': 400, '/compare/forest.svg?a=run_1&b=run_2': 404, '/compare?a=run_1&b=run_2&metric=fun': 400,
        '/runs/run_nothing.svg': 404, '/sweeps/swp_nothing.png': 404, '/jobs/job_nothing.json': 404, '/deployments/none.json': 404,
        '/compare.json': 400, '/compare.csv': 400, '/history.svg?deployment=none': 404, '/history.json?minutes=soon': 400,
        '/history?minutes=inf': 400, '/history/chart.svg?minutes=soon': 400, '/history/chart.svg?minutes=inf': 400, '/history/chart.svg?deployment=none': 404, '/runs': 200, '/sweeps': 200,
        '/runs?cursor=soon': 400, '/runs/heat.svg/': 404,
    };
    const found = {};
    for (const path of Object.keys(expected)) found[path] = (await get(server, path)).status;
    assert.deepEqual(found, expected);
});
