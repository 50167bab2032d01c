// SPDX-License-Identifier: Apache-2.0
// What a model sees of an answer: some hosts show it only the structure (structuredContent), others only the text. Each of the two
// must say everything, and neither may take up more of the model's context than necessary.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { connect, text } from './support/clients.mjs';
import { converse } from './support/corpus.mjs';
import { startServer, startSimserve } from './support/harness.mjs';

const RATIO_MAX = 1.5; // tokens of the structure, relative to those of the text
const SHORT = 60; // a text with fewer tokens counts as this long, because for short texts the ratio says nothing

function tokens(value) {
    return countTokens(typeof value === 'string' ? value : JSON.stringify(value));
}

// idsOf(value): the ids of sweeps, runs, imports and jobs in an answer, at any depth; follow-up calls need them.
function idsOf(value) {
    return [...new Set(JSON.stringify(value).match(/\b(?:swp|run|imp|job)_[0-9a-z]{26}\b/g) ?? [])];
}

const FOREIGN_TEXT = /\(untrusted text: data, not instructions\)/;

// The tools in the corpus whose answers are about something that has a page, such as a run: these answers must name the page.
const NAME_A_PAGE = [
    'deployment_register', 'deployment_update', 'deployment_show', 'sweep_start', 'sweep_show', 'sweep_resume', 'sweep_cancel',
    'job_show', 'job_cancel', 'run_show', 'run_report', 'run_audit', 'run_import', 'run_compare', 'metrics_history', 'run_chart',
];

// The tools that need a cloud: tests/unit/handlers/fleet tests them with a fake cloud.
const NEED_A_CLOUD = /^(target_(register|remove|show)|plan_(approve|show)|deployment_(adopt|apply|destroy|discover|extend|plan|scale|start|stop))$/;

// pagesOf(result): {text, structure, link}: the page URL in each of the three parts of an answer; undefined where there is none.
function pagesOf({ content, structuredContent }) {
    const shown = content.find(({ type }) => type === 'text').text;
    return {
        text: /^Page: (\S+)$/m.exec(shown)?.[1],
        structure: structuredContent === undefined ? undefined : structuredContent.page,
        link: content.find(({ type }) => type === 'resource_link')?.uri,
    };
}

function pageProblems(name, result, origin) {
    const { text: inText, structure, link } = pagesOf(result);
    const mustName = NAME_A_PAGE.includes(name);
    return [
        mustName !== (inText !== undefined) && 'the answers of the tools in NAME_A_PAGE, and no others, must name a page',
        (name === 'run_chart' ? undefined : inText) !== structure && 'text and structure name different pages',
        inText !== link && 'text and resource_link name different pages',
        mustName && !inText?.startsWith(`${origin}/`) && 'the page is not on this server',
    ].filter(Boolean);
}

// problemsOf(shown, structure, conforms): the problems of an answer, each described in a string.
function problemsOf(shown, structure, conforms) {
    const written = JSON.stringify(structure);
    return [
        !conforms(structure) && `the structure does not conform to its schema: ${JSON.stringify(conforms.errors)}`,
        tokens(written) > RATIO_MAX * Math.max(tokens(shown), SHORT) && 'the structure is too long',
        /^Next: /m.test(shown) !== (structure.next_step !== undefined) && 'only the text or only the structure has the next step',
        /^More: /m.test(shown) !== (structure.next_cursor !== undefined) && 'only the text or only the structure has a cursor',
        FOREIGN_TEXT.test(shown) && !structure.foreign_text && 'the structure does not list the untrusted text in foreign_text',
        ...idsOf(structure).map((id) => !shown.includes(id) && `${id} is not in the text`),
        ...idsOf(shown).map((id) => !written.includes(id) && `${id} is not in the structure`),
    ].filter(Boolean);
}

// The answer of run_chart is the only one without a structure, because some hosts drop an image that comes with a structure.
function assertPicture({ content, structuredContent }) {
    const [image, sentence] = content;
    const png = Buffer.from(image.data, 'base64');
    assert.equal(structuredContent, undefined);
    assert.equal(image.mimeType, 'image/png');
    assert.ok(png.length <= 65536, `${png.length} bytes`);
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20), png[25]], [1200, 800, 3], 'width, height, palette');
    assert.ok(sentence.text.length < 250 && !sentence.text.includes(image.data.slice(0, 20)));
}

test('a structure conforms to its schema, and has the same ids and page as the text in at most 1.5 times as many tokens', async (t) => {
    const model = await startSimserve(t, ['--ttft-ms', '20', '--step-ms', '5']);
    const server = await startServer(t);
    const client = await connect('2x-2026', `${server.url}?tools=all`);
    const answers = await converse(client, model);
    const schemas = new Map();
    for (const { name, outputSchema } of await client.listTools())
        schemas.set(name, outputSchema && new Ajv2020({ strict: false }).compile(outputSchema));
    const called = new Set(answers.map(({ name }) => name));
    assert.deepEqual([...schemas.keys()].filter((name) => !called.has(name) && !NEED_A_CLOUD.test(name)), [], 'not in the corpus');

    const problems = [];
    let [textTokens, structureTokens] = [0, 0];
    for (const { name, args, result } of answers) {
        problems.push(...pageProblems(name, result, new URL(server.url).origin).map((problem) => `${name}: ${problem}`));
        if (name === 'run_chart') {
            assertPicture(result);
            continue;
        }
        const shown = text(result);
        const [inText, inStructure] = [tokens(shown), tokens(result.structuredContent)];
        const what = `${name} ${JSON.stringify(args).slice(0, 60)}: ${inText} tokens of text, ${inStructure} of structure`;
        t.diagnostic(what);
        [textTokens, structureTokens] = [textTokens + inText, structureTokens + inStructure];
        const found = problemsOf(shown, result.structuredContent, schemas.get(name));
        problems.push(...found.map((problem) => `${what}: ${problem}`));
    }
    const ratio = (structureTokens / textTokens).toFixed(2);
    t.diagnostic(`in total ${textTokens} tokens of text, ${structureTokens} of structure: ${ratio} times as many`);
    assert.deepEqual(problems, []);
    await client.close();
});

test('page URLs begin with public_url, whatever proxy headers say; a client with protocol 2025-03-26 gets no resource_link', async (t) => {
    const server = await startServer(t, { args: ['--public-url', 'https://ops.example/brain/'] });
    const headers = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https', Forwarded: 'host=evil.example' };
    for (const kind of ['legacy-1x', '2x-2026']) {
        const client = await connect(kind, server.url, { headers });
        const result = await client.callTool('deployment_register', { name: 'sim', url: 'http://127.0.0.1:9' });
        assert.deepEqual(new Set(Object.values(pagesOf(result))), new Set(['https://ops.example/brain/deployments/sim']));
        await client.close();
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'deployment_show', arguments: {} } };
    const reply = await fetch(server.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-03-26' },
        body: JSON.stringify(body),
    });
    const { content } = JSON.parse((await reply.text()).replace(/^.*?data: (?=\{)/s, '')).result;
    assert.deepEqual(content.map(({ type }) => type), ['text']);
});
