// SPDX-License-Identifier: Apache-2.0
// Passes a result file through the product: the file is imported, audited and exported in every format, and each export is
// imported again.
import assert from 'node:assert/strict';
import { post } from './harness.mjs';

const FORMATS = ['vllm', 'aiperf', 'csv', 'serving-report'];
const PAGE_CELLS = 500;

// For headings of the CSV export that differ from the figure's name in `not_held`: heading -> name.
const NAMES = {
    context_len: 'input_length', input_len: 'input_length', input_words: 'input_length', max_tokens: 'output_tokens_asked',
    request_rate: 'request_rate_asked', num_requests: 'requests_asked', total_input_tokens: 'input_tokens',
    total_output_tokens: 'output_tokens', avg_input_tokens: 'input_tokens_mean', avg_output_tokens: 'output_tokens_mean',
    req_per_s: 'request_throughput', input_tok_per_s: 'input_throughput', output_tok_per_s: 'output_throughput',
    total_tok_per_s: 'total_throughput', tokens_per_s: 'token_throughput', per_stream_tok_per_s: 'stream_throughput',
    max_concurrent_requests: 'concurrency_max',
};

// importFile(server, name, bytes): returns {run, format, remarks} or, if the file is refused, {refused} with the error message.
export async function importFile(server, name, bytes) {
    const { status, body } = await post(server.port, bytes, { 'content-type': 'text/plain' }, `/v1/imports?name=${encodeURIComponent(name)}`);
    const answer = JSON.parse(body);
    return status < 300 ? { run: answer.run.id, format: answer.run.source.format, remarks: answer.import.remarks } : { refused: answer.error ?? body };
}

const STATISTICS = { std: 'deviation', median: 'p50' };

// Returns the rows of a CSV table, whose fields may be quoted.
function readTable(content) {
    const rows = [[]];
    for (const [, quoted, plain, end] of content.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
        rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
        if (end === '\r\n') rows.push([]);
        if (end === '') break;
    }
    return rows.filter((row) => row.length > 1);
}

// Returns the figure's name for a heading: ttft.mean_ms for "mean_ttft_ms", ttft.count for "count_ttft".
function nameOf(heading) {
    const [, statistic, metric, unit] = heading.match(/^(count|mean|std|min|median|p90|p95|p99|max)_(\w+?)(_ms)?$/) ?? [];
    if (!statistic || heading in NAMES) return NAMES[heading] ?? heading;
    return `${metric}.${STATISTICS[statistic] ?? statistic}${unit ?? ''}`;
}

// allCells(client, run): for each cell, its position, its figures by name, and its marks.
async function allCells(client, run) {
    const page = await client.call('run_export', { run, format: 'csv', limit: PAGE_CELLS });
    const [headings, ...rows] = readTable(page.content);
    const count = headings.indexOf('status'); // the columns before it are figures; the rest are words, and facts about the run
    assert.ok(!page.next_cursor);
    return rows.map((row, position) => ({
        position,
        figures: new Map(row.slice(0, count).flatMap((field, i) => (field === '' ? [] : [[nameOf(headings[i]), Number(field)]]))),
        marks: row[headings.indexOf('marks')],
    }));
}

function compareCells(before, after, notHeld, isAdded, what) {
    const is = after.figures;
    for (const [name, was] of before.figures) {
        if (is.has(name))
            assert.ok(Math.abs(is.get(name) - was) <= 1e-9 * Math.max(1, Math.abs(was)), `${what}: ${name} was ${was}, but is now ${is.get(name)}`);
        else assert.ok(notHeld.includes(name), `${what}: ${name} is lost, and the export does not say so`);
    }
    for (const name of is.keys()) assert.ok(before.figures.has(name) || isAdded(name), `${what}: ${name} is not in the original`);
}

// Figures that an export is allowed to add. An aiperf phase must have an end condition. If no other is known, it is the number of
// requests that were sent, which is then imported as requests_asked.
const ADDED = { aiperf: (name) => name === 'requests_asked' };

async function roundTrip(server, client, { run, cells, format }) {
    const page = await client.call('run_export', { run, format, limit: PAGE_CELLS });
    if (page.cells === page.left_out.length) return; // the format can hold none of the cells
    const again = await importFile(server, page.file_name, page.content);
    assert.equal(again.refused, undefined, `${format}: ${again.refused}`);
    assert.equal(again.format, format);
    const kept = cells.filter((cell) => !page.left_out.includes(cell.position));
    const read = await allCells(client, again.run);
    assert.equal(read.length, kept.length, `${format}: cells`);
    kept.forEach((cell, i) => compareCells(cell, read[i], page.not_held, ADDED[format] ?? (() => false), `${format}, cell ${cell.position}`));
    for (const { position, marks } of page.marked) {
        const at = kept.findIndex((cell) => cell.position === position);
        for (const mark of at < 0 ? [] : marks.split(', ')) assert.ok(read[at].marks.includes(mark), `${format}, cell ${position}: ${mark}`);
    }
}

// takeTrip(server, client, name, bytes): imports and audits the file, and checks that each export, when it is imported again, has
// the file's figures, except those that the export says it omits. Returns the import, its cells, the audit's findings and the
// rules that the audit applied or, if the file is refused, {refused}.
export async function takeTrip(server, client, name, bytes) {
    const imported = await importFile(server, name, bytes);
    if (imported.refused) return imported;
    const cells = await allCells(client, imported.run);
    const audit = await client.call('run_audit', { run: imported.run });
    for (const format of FORMATS) await roundTrip(server, client, { run: imported.run, cells, format });
    return { ...imported, cells, findings: audit.findings, applied: audit.applied };
}
