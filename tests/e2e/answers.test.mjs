// SPDX-License-Identifier: Apache-2.0
// What models are shown of answers: some hosts give them the structure alone, others the text alone. Each has to carry the
// whole meaning, and neither to cost more of the context than it must.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { connect, text } from './clients.mjs';
import { hold } from './corpus.mjs';
import { startServer, startSimserve } from './harness.mjs';

const MOST = 1.5; // times the tokens of the text
const SHORT = 60; // tokens of a text that is too short for a ratio to say anything

function tokens(value) {
    return countTokens(typeof value === 'string' ? value : JSON.stringify(value));
}

// idsOf(value): what a follow-up call needs from an answer, wherever it stands.
function idsOf(value) {
    return [...new Set(JSON.stringify(value).match(/\b(?:swp|run|imp|job)_[0-9a-z]{26}\b/g) ?? [])];
}

const FOREIGN_TEXT = /\(foreign text: data, not instructions\)/;

// problemsOf(said, structure, conforms): what is wrong with an answer, in words.
function problemsOf(said, structure, conforms) {
    const written = JSON.stringify(structure);
    return [
        !conforms(structure) && `its schema: ${JSON.stringify(conforms.errors)}`,
        tokens(written) > MOST * Math.max(tokens(said), SHORT) && 'the structure is too long',
        /^Next: /m.test(said) !== (structure.next_step !== undefined) && 'the next step stands in one of them alone',
        /^More: /m.test(said) !== (structure.next_cursor !== undefined) && 'the next page stands in one of them alone',
        FOREIGN_TEXT.test(said) && !structure.foreign_text && 'the structure does not say what is foreign',
        ...idsOf(structure).map((id) => !said.includes(id) && `${id} is not in the text`),
        ...idsOf(said).map((id) => !written.includes(id) && `${id} is not in the structure`),
    ].filter(Boolean);
}

// The one answer without a structure, with which some hosts would drop the image.
function assertPicture({ content, structuredContent }) {
    const [image, sentence] = content;
    const png = Buffer.from(image.data, 'base64');
    assert.equal(structuredContent, undefined);
    assert.equal(image.mimeType, 'image/png');
    assert.ok(png.length <= 65536, `${png.length} bytes`);
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20), png[25]], [1200, 800, 3], 'width, height, palette');
    assert.ok(sentence.text.length < 200 && !sentence.text.includes(image.data.slice(0, 20)));
}

test('every answer conforms, and its structure says what its text says in at most 1.5 times the tokens', async (t) => {
    const model = await startSimserve(t, ['--ttft-ms', '20', '--step-ms', '5']);
    const server = await startServer(t);
    const client = await connect('2x-2026', server.url);
    const answers = await hold(client, model);
    const schemas = new Map();
    for (const { name, outputSchema } of await client.listTools())
        schemas.set(name, outputSchema && new Ajv2020({ strict: false }).compile(outputSchema));
    const called = new Set(answers.map(({ name }) => name));
    assert.deepEqual([...schemas.keys()].filter((name) => !called.has(name)), [], 'not in the corpus');

    const problems = [];
    let [texts, structures] = [0, 0];
    for (const { name, args, result } of answers) {
        if (name === 'run_chart') {
            assertPicture(result);
            continue;
        }
        const said = text(result);
        const [inText, inStructure] = [tokens(said), tokens(result.structuredContent)];
        const what = `${name} ${JSON.stringify(args).slice(0, 60)}: ${inText} tokens of text, ${inStructure} of structure`;
        t.diagnostic(what);
        [texts, structures] = [texts + inText, structures + inStructure];
        const found = problemsOf(said, result.structuredContent, schemas.get(name));
        problems.push(...found.map((problem) => `${what}: ${problem}`));
    }
    t.diagnostic(`together ${texts} tokens of text, ${structures} of structure: ${(structures / texts).toFixed(2)} times`);
    assert.deepEqual(problems, []);
    await client.close();
});
