// SPDX-License-Identifier: Apache-2.0
// Tests the documents. Each block of commands is run, unless its mark gives a reason not to run it, or a program that it needs is
// not installed. The targets of local links must exist, and so must the paths, functions, flags, tests and so on that are named.
//
// A block of commands (sh, js, python, call) has a mark, which is a comment on the line before it:
//     <!-- run -->                 it must succeed; a text block that follows shows what it prints
//     <!-- run with {...} -->      the same for a call, with these arguments added so that it takes less time
//     <!-- not run: REASON -->     it is not run; a python block must have this mark
// A `call` block has the name of a tool and its arguments. Ids and digests that end in "..." stand for the latest of their kind.
// Each line of the text block must be the beginning of a printed line, in the same order. Only the first words of a line are
// compared, without numbers and ids. "[...]" stands for any text; what follows it on its line is not compared.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { cp, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { connect, text } from './support/clients.mjs';
import { OPSBRAIN, SIMSERVE, run, startServer, startSimserve, temporaryFolder } from './support/harness.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const README_LIMIT_BYTES = 9 * 1024;
const COMMANDS = new Set(['sh', 'js', 'python', 'call']);
const WORDS_COMPARED = 5;
const CALL_LIMIT_MS = 60_000;
const DEMO = ['--max-running', '8']; // as in ./run

const names = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'tests/simserve/README.md',
    ...globSync('docs/*.md', { cwd: ROOT }).sort()];
const documents = await Promise.all(names.map(async (name) => ({ name, content: await readFile(path.join(ROOT, name), 'utf8') })));

// ---- Reading ----

// blocks(content): the fenced blocks, each as {language, mark, body, line, end, output}. `mark` is the text of the comment before
// the block, and `output` is the text block right after it; each is undefined if there is none.
function blocks(content) {
    const found = [];
    const lines = content.split('\n');
    for (let i = 0; i < lines.length; i++) {
        if (!/^\s*```/.test(lines[i])) continue;
        const language = lines[i].match(/^\s*```(\w*)$/)?.[1] ?? assert.fail(`line ${i + 1}: ${lines[i]}: expected the name of a language, and nothing after it`);
        const mark = lines[i - 1]?.match(/^\s*<!-- (.*) -->$/)?.[1];
        const end = lines.findIndex((line, j) => j > i && line.trim() === '```');
        assert.ok(end > i, `line ${i + 1}: the block does not end`);
        const block = { language, mark, body: lines.slice(i + 1, end).join('\n'), line: i + 1, end };
        const before = found.at(-1);
        if (block.language === 'text' && before && lines.slice(before.end + 1, i).every((line) => line.trim() === ''))
            before.output = block.body;
        found.push(block);
        i = end;
    }
    return found;
}

const outsideBlocks = (content) => content.replace(/^\s*```[^]*?^\s*```$/gm, '');

// inline(content): each text in single backticks outside the blocks.
const inline = (content) => [...outsideBlocks(content).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]);

// ---- Running ----

// The environment for the commands in one document: a folder, a server, and a model server registered as "demo".
class Sandbox {
    constructor(t) {
        this.t = t;
        this.latest = {};
    }

    async prepare() {
        this.folder = await temporaryFolder(this.t);
        this.demo = await startSimserve(this.t, DEMO);
        this.server = await startServer(this.t, { data: path.join(this.folder, 'data'), args: ['--auth', 'none'] });
        this.client = await connect('2x-2026', this.server.url);
        await this.client.call('deployment_register', { name: 'demo', url: this.demo.url });
        await this.putFiles();
    }

    async putFiles() {
        const put = (name, content) => writeFile(path.join(this.folder, name), content);
        await mkdir(path.join(this.folder, 'bin'));
        await symlink(path.resolve(OPSBRAIN), path.join(this.folder, 'bin/opsbrain'));
        await symlink(path.join(import.meta.dirname, 'node_modules'), path.join(this.folder, 'node_modules'));
        await cp(path.join(ROOT, 'tests/data/imports/vllm.json'), path.join(this.folder, 'results.json'));
        await put('.curlrc', 'fail-with-body\n');
    }

    // atServer(source): the source, with the address that the documents use replaced with that of the server.
    atServer(source) {
        return source.replaceAll('http://127.0.0.1:8080', new URL(this.server.url).origin);
    }

    async shell(source) {
        return this.spawn('bash', ['-euo', 'pipefail', '-c', this.atServer(source)]);
    }

    async script(source) {
        const file = path.join(this.folder, 'script.mjs');
        await writeFile(file, this.atServer(source));
        return this.spawn(process.execPath, [file]);
    }

    async spawn(file, args) {
        const env = { ...process.env, HOME: this.folder, CURL_HOME: this.folder,
            PATH: `${path.join(this.folder, 'bin')}:${process.env.PATH}` };
        const child = spawn(file, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';
        for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
        const [code] = await once(child, 'close');
        assert.equal(code, 0, output);
        return output;
    }

    // fill(source): the source, with the ids and digests that end in "..." replaced with the latest ones. If no run has been
    // printed yet, an import is used instead of a run; if there is no import either, a file is imported.
    async fill(source) {
        if (/"(run|imp)_\.\.\."/.test(source) && !this.latest.run)
            this.note(text(await this.client.callTool('run_import', { text: await readFile(
                path.join(this.folder, 'results.json'), 'utf8'), name: 'results.json' })));
        return source.replace(/"([a-z]+)_\.\.\."/g, (whole, kind) => JSON.stringify(this.latest[kind] ?? whole))
            .replace(/"[0-9a-f]+\.\.\."/g, () => JSON.stringify(this.latest.digest));
    }

    note(output) {
        for (const [id, kind] of output.matchAll(/\b(run|swp|job|imp)_[0-9a-z]{26}\b/g)) this.latest[kind] = id;
        this.latest.run ??= this.latest.imp;
        this.latest.digest = output.match(/\b[0-9a-f]{64}\b/)?.[0] ?? this.latest.digest;
    }

    async callTool(source, more) {
        const [, name, args] = (await this.fill(source)).match(/^(\w+) (\{[^]*\})$/) ?? assert.fail(`not a call: ${source}`);
        const result = await this.client.callTool(name, { ...JSON.parse(args), ...more },
            { onprogress: () => {}, timeout: CALL_LIMIT_MS });
        assert.ok(!result.isError, text(result));
        this.note(text(result));
        return text(result);
    }

    run({ language, body }, more) {
        if (language === 'call') return this.callTool(body, more);
        return language === 'js' ? this.script(body) : this.shell(body);
    }
}

// Returns the first words of a line, without what differs each time, such as numbers, ids, and a model's answer ("> ...").
const words = (line) => line.replace(/^> .*/, '>').replace(/\b(run|swp|job|imp|dep|key)_[0-9a-z]{4,}/g, 'ID')
    .replace(/\b[0-9a-f]{64}\b/g, 'DIGEST').replace(/[-|:]{3,}/g, '-').replace(/[0-9][0-9.,:]*[~!]*/g, '0').trim().split(/\s+/).slice(0, WORDS_COMPARED).join(' ');

// Checks that each line shown is the beginning of a printed line, in the same order.
function checkOutput(shown, printed, where) {
    const lines = printed.split('\n').map(words);
    let at = 0;
    for (const line of shown.split('\n').filter((each) => each.trim() !== '' && each.trim() !== '[...]')) {
        const wanted = words(line.split('[...]')[0]);
        const found = lines.findIndex((each, i) => i >= at && each.startsWith(wanted));
        assert.ok(found >= 0, `${where}: the document shows\n    ${line}\nwhich is missing from this output, or not in this order:\n${printed}`);
        at = found + 1;
    }
}

const has = (program) => new Promise((resolve) =>
    spawn('sh', ['-c', `command -v ${program}`]).on('close', (code) => resolve(code === 0)));

// Returns sqlite3 or curl if the block needs it and it is not installed; otherwise undefined.
async function lacks(body) {
    for (const program of ['sqlite3', 'curl'])
        if (new RegExp(`^${program} `, 'm').test(body) && !(await has(program))) return program;
    return undefined;
}

async function runCommands(t, name, content) {
    const all = blocks(content).filter((block) => COMMANDS.has(block.language));
    for (const { mark, line } of all)
        assert.match(mark ?? 'no mark', /^(run|run with \{.*\}|not run: .+)$/, `${name}:${line}: the comment before the block must say whether it is run`);
    const runnable = all.filter(({ mark }) => mark.startsWith('run'));
    if (runnable.length === 0) return;
    const sandbox = new Sandbox(t);
    await sandbox.prepare();
    for (const block of runnable) await runBlock(t, sandbox, block, `${name}:${block.line}`);
    await sandbox.client.close();
}

async function runBlock(t, sandbox, block, where) {
    const missing = await lacks(block.body);
    if (missing) return t.diagnostic(`${where} is skipped: ${missing} is not installed`);
    const more = block.mark.startsWith('run with') ? JSON.parse(block.mark.slice('run with '.length)) : {};
    const printed = await sandbox.run(block, more).catch((error) => assert.fail(`${where}: ${error.message}`));
    if (block.output !== undefined) checkOutput(block.output, printed, where);
}

test('the commands in the documents succeed', { concurrency: true }, (t) =>
    Promise.all(documents.map(({ name, content }) => t.test(name, (sub) => runCommands(sub, name, content)))));

// ---- What the documents name ----

// inEach(title, check): defines a test that calls check(name, content) for every document.
function inEach(title, check) {
    test(title, async () => {
        for (const { name, content } of documents) await check(name, content);
    });
}

inEach('JSON blocks are valid', (name, content) => {
    for (const { language, body, line } of blocks(content))
        if (language === 'json') assert.doesNotThrow(() => JSON.parse(body), `${name}:${line}`);
});

inEach('the targets of local links exist', async (name, content) => {
    for (const [, link] of outsideBlocks(content).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(link)) continue;
        const [file, anchor] = link.split('#');
        const target = file === '' ? name : path.join(path.dirname(name), file);
        await stat(path.join(ROOT, target)).catch(() => assert.fail(`${name}: ${link}`));
        if (anchor) assert.ok((await anchors(target)).includes(anchor), `${name}: ${link}`);
    }
});

// A path begins with a top-level folder of the repository, and ends with an extension or a slash. (So the method server/discover
// is not a path.) Paths in build/ and data/ are not checked, because the build and the program create these folders.
inEach('the paths that the documents name exist', (name, content) => {
    const rooms = globSync('*/', { cwd: ROOT, exclude: ['build', 'data'] }).map((room) => room.replace(/\/$/, ''));
    for (const code of inline(content)) {
        if (!rooms.includes(code.split('/')[0]) || !/^[^<>\s]*(\/|\.\w+)$/.test(code)) continue;
        for (const one of braces(code)) assert.ok(globSync(one, { cwd: ROOT }).length > 0, `${name} names ${one}`);
    }
});

// Checks that names such as `tool_call` and `struct call` occur in the source. Names that begin with "x_" are not checked, as they
// are examples.
test('the documents that explain the source name functions, tables and structs that exist', async () => {
    const sources = globSync('{base,store,jobs,bench,fleet,analysis,handlers,server,tests}/**/*.{c,h}', { cwd: ROOT });
    const texts = await Promise.all(sources.map((file) => readFile(path.join(ROOT, file), 'utf8')));
    const known = new Set([...texts.flatMap((one) => one.match(/\w+/g)), ...sources.map((file) => path.parse(file).name)]);
    for (const { name, content } of documents.filter((each) => /architecture|adding/.test(each.name)))
        for (const code of inline(content)) {
            const word = code.match(/^(?!x_)(?:struct |enum )?([a-zA-Z]\w*_\w+|(?<=struct |enum )\w+)$/)?.[1];
            assert.ok(!word || known.has(word), `${name} names ${code}`);
        }
});

inEach('the arguments of ./run in the documents exist', async (name, content) => {
    const script = await readFile(path.join(ROOT, 'run'), 'utf8');
    for (const [, command, bench] of content.matchAll(/\.\/run ([a-z]+)(?: ([a-z]+))?/g)) {
        assert.match(script, new RegExp(`^\\./run ${command}\\b`, 'm'), `${name}: ./run ${command}`);
        if (command === 'bench' && bench)
            assert.ok(globSync(`tests/bench/${bench}.{sh,mjs}`, { cwd: ROOT }).length > 0, `${name}: ./run bench ${bench}`);
    }
});

// Checks every sh block, even if it is not run: the names of test programs and test files, and the arguments of `./run test`.
inEach('the tests that commands in the documents name exist', (name, content) => {
    const isUnit = (test) => globSync(`tests/unit/**/test_${test}.c`, { cwd: ROOT }).length > 0;
    const isEndToEnd = (test) => globSync(`tests/e2e/${test}.test.mjs`, { cwd: ROOT }).length > 0;
    for (const { body, line } of blocks(content).filter((block) => block.language === 'sh')) {
        for (const [, test] of body.matchAll(/\btest_(\w+)/g)) assert.ok(isUnit(test), `${name}:${line}: test_${test}`);
        for (const [, test] of body.matchAll(/\btests\/e2e\/(\w+)\.test\.mjs/g)) assert.ok(isEndToEnd(test), `${name}:${line}: ${test}`);
        for (const [, tests] of body.matchAll(/^\.\/run test ([^#\n]+)/gm))
            for (const test of tests.split(/\s+/).filter(Boolean)) assert.ok(isUnit(test) || isEndToEnd(test), `${name}:${line}: ./run test ${test}`);
    }
});

test('the flags that the documents name exist', async () => {
    const helps = [[], ['plan'], ['ask'], ['sweep_cancel'], ['job_list'], ['run_import'], ['bench'], ['report'], ['watch'], ['serve'], ['backup'], ['move']].map((words) => run(['help', ...words]));
    const [simserve, ...opsbrain] = await Promise.all([promisify(execFile)(SIMSERVE, ['--help']), ...helps]);
    const known = new Set((opsbrain.map(({ output }) => output).join('') + simserve.stdout.replaceAll('_', '-')).match(/--[a-z][a-z0-9-]*/g));
    // flags of other programs and of scripts
    const others = [
        '--preset', '--build', '--target', '--follow', '--header', '--help', '--write', '--save', '--faults', '--kill',
        '--ignore-scripts', '--prefix', '--gpu-memory-utilization', '--max-num-seqs', '--tensor-parallel-size',
        '--cpu-offload-gb',
    ];
    for (const other of others) known.add(other);
    const exists = (flag) => flag.endsWith('-') ? [...known].some((each) => each.startsWith(flag)) : known.has(flag);
    for (const { name, content } of documents)
        for (const code of inline(content))
            for (const [flag] of code.matchAll(/(?<![\w.-])--[a-z][a-z0-9-]*/g)) assert.ok(exists(flag), `${name} names ${flag}`);
});

// Returns the anchors that GitHub makes from the headings in a file.
async function anchors(file) {
    const content = await readFile(path.join(ROOT, file), 'utf8');
    return [...outsideBlocks(content).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-'));
}

// "a/{b,c}.c" -> a/b.c, a/c.c
function braces(code) {
    const found = code.match(/^(.*?)\{([^{}]*)\}(.*)$/);
    return found ? found[2].split(',').flatMap((each) => braces(`${found[1]}${each.trim()}${found[3]}`)) : [code];
}

test('README.md is short', () => {
    const bytes = Buffer.byteLength(documents[0].content);
    assert.ok(bytes <= README_LIMIT_BYTES, `${bytes} bytes, but the limit is ${README_LIMIT_BYTES}`);
});
