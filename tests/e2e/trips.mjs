// A result file through the whole product: imported, audited, exported in every format and each export imported again.
import assert from 'node:assert/strict';
import { post } from './harness.mjs';

export const FORMATS = ['vllm', 'aiperf', 'csv', 'serving-report'];
const MOST_SHOWN = 200, MOST_EXPORTED = 500; // cells of one page
// What a report says in other words, or of what it could not know: told apart elsewhere.
const OTHER_WORDS = ['position', 'row', 'state', 'status', 'time', 'variant', 'marks', 'error', 'original'];

// importFile(server, name, bytes): the run, or the sentence that refuses it.
export async function importFile(server, name, bytes) {
    const { status, body } = await post(server.port, bytes, { 'content-type': 'text/plain' }, `/v1/imports?name=${encodeURIComponent(name)}`);
    const answer = JSON.parse(body);
    return status < 300 ? { run: answer.run.id, format: answer.run.source.format, remarks: answer.import.remarks } : { refused: answer.error ?? body };
}

// allCells(client, run): the cells of an import, over all pages.
export async function allCells(client, run) {
    const cells = [];
    for (let cursor; ; ) {
        const page = await client.call('run_show', { run, limit: MOST_SHOWN, ...(cursor && { cursor }) });
        cells.push(...page.import.cells);
        cursor = page.next_cursor;
        if (!cursor) return cells;
    }
}

// figuresOf(cell): every number of it by its path, "ttft.p50_ms".
export function figuresOf(cell) {
    const figures = new Map();
    for (const [name, value] of Object.entries(cell)) {
        if (OTHER_WORDS.includes(name)) continue;
        if (typeof value === 'number') figures.set(name, value);
        else if (value && typeof value === 'object')
            for (const [inner, figure] of Object.entries(value)) if (typeof figure === 'number') figures.set(`${name}.${inner}`, figure);
    }
    return figures;
}

function compareCells(before, after, notHeld, isSent, what) {
    const is = figuresOf(after);
    for (const [name, was] of figuresOf(before)) {
        if (is.has(name))
            assert.ok(Math.abs(is.get(name) - was) <= 1e-9 * Math.max(1, Math.abs(was)), `${what}: ${name} was ${was} and is ${is.get(name)}`);
        else assert.ok(notHeld.includes(name), `${what}: ${name} is lost, and nothing says so`);
    }
    for (const name of is.keys()) assert.ok(figuresOf(before).has(name) || isSent(name), `${what}: ${name} was made up`);
}

// aiperf's own model wants to know how a phase ended: with what was sent, where nothing else is known.
const made = { aiperf: (name) => name === 'requests_asked' };

async function roundTrip(server, client, { run, cells, format }) {
    const page = await client.call('run_export', { run, format, limit: MOST_EXPORTED });
    assert.equal(page.next_cursor, null);
    if (page.cells === page.left_out.length) return; // of no cell that the format has a place for
    const again = await importFile(server, page.file_name, page.content);
    assert.equal(again.refused, undefined, `${format}: ${again.refused}`);
    assert.equal(again.format, format);
    const kept = cells.filter((cell) => !page.left_out.includes(cell.position));
    const read = await allCells(client, again.run);
    assert.equal(read.length, kept.length, `${format}: cells`);
    kept.forEach((cell, i) => compareCells(cell, read[i], page.not_held, made[format] ?? (() => false), `${format}, cell ${cell.position}`));
    for (const { position, marks } of page.marked) {
        const at = kept.findIndex((cell) => cell.position === position);
        if (at >= 0) assert.equal(read[at].marks, marks, `${format}, cell ${position}: marks`);
    }
}

// takeTrip(server, client, name, bytes): what the audit found, once every export has come back as it was.
export async function takeTrip(server, client, name, bytes) {
    const imported = await importFile(server, name, bytes);
    if (imported.refused) return imported;
    const cells = await allCells(client, imported.run);
    const audit = await client.call('run_audit', { run: imported.run });
    for (const format of FORMATS) await roundTrip(server, client, { run: imported.run, cells, format });
    return { ...imported, cells, findings: audit.findings, applied: audit.applied };
}
