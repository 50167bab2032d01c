// SPDX-License-Identifier: Apache-2.0
// The command line with a fake server: unexpected answers, no answer, wrong command lines, and commands that call no tool.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { atEnd, OPSBRAIN, temporaryFolder } from './support/harness.mjs';

const LIMIT_MS = 10_000;
const SANITIZER = /ERROR: (Address|Leak)Sanitizer|runtime error:/;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]/;
const EVIL = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e';
const SWEEP = 'swp_01hzzzzzzzzzzzzzzzzzzzzzzz';
const CELL = { position: 0, concurrency: 1, input_tokens: 128, output_tokens: 16, state: 'measured', success_rate: 1, ttft_p50_ms: 20 };
const INTEGERS = { type: 'array', items: { type: 'integer' } };
const TOOLS = [{ name: 'sweep_plan', inputSchema: { type: 'object', properties: { deployment: { type: 'string' }, concurrency: INTEGERS } } }];

// The server's answers to the tool calls that `opsbrain bench` makes. A test can replace an answer with another value, or with a
// function of the arguments and of the number of the call, from 1. The value 'hang' means that the server never answers, and 'cut'
// that it closes the connection without an answer.
const bench = (replaced = {}) => ({
    deployment_list: { deployments: [{ name: 'demo', url: 'http://127.0.0.1:1' }] },
    model_show: {},
    sweep_plan: { plan_digest: 'd' },
    sweep_start: { sweep: { id: SWEEP } },
    job_show: { job: { state: 'completed', progress: 1, progress_total: 1 }, over: true },
    sweep_show: { cells: [CELL] },
    run_report: {},
    ...replaced,
});

// pretend(t, answers): starts a fake server that gives these answers; returns a function run. run(...args) runs a command against the
// server, in the new folder run.folder; run.typing(input, ...args) does the same with `input` as standard input. run.calls has the
// number of calls of each tool.
async function pretend(t, answers) {
    const folder = await temporaryFolder(t);
    const calls = {};
    const server = http.createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
        const { id, method, params } = JSON.parse(body);
        const answer = method === 'tools/list' ? { tools: TOOLS } : answers[params.name];
        if (method !== 'tools/list') calls[params.name] = (calls[params.name] ?? 0) + 1;
        const structured = typeof answer === 'function' ? answer(params.arguments, calls[params.name]) : answer;
        if (structured === 'hang') return;
        if (structured === 'cut') return void response.destroy();
        const result = method === 'tools/list' ? structured : { content: [{ type: 'text', text: EVIL }], structuredContent: structured };
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    atEnd(t, () => server.close() && server.closeAllConnections());
    const env = { ...process.env, OPSBRAIN_URL: `http://127.0.0.1:${server.address().port}`, OPSBRAIN_KEY: '', XDG_CONFIG_HOME: folder, HOME: folder };
    const run = (...args) => run.typing('', ...args);
    run.typing = async (input, ...args) => {
        const child = spawn(OPSBRAIN, args, { env, cwd: folder });
        child.stdin.on('error', () => {}).end(input);
        const kept = { stdout: '', stderr: '' };
        for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (chunk) => (kept[name] += chunk));
        run.child = child;
        const late = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
        const [code] = await once(child, 'close');
        clearTimeout(late);
        assert.doesNotMatch(kept.stdout + kept.stderr, SANITIZER);
        return { code, ...kept };
    };
    return Object.assign(run, { calls, folder });
}

test('an invalid sweep id from the server is refused, and no file is named after it', async (t) => {
    const ids = ['../../owned', EVIL, 'x'.repeat(64), 7];
    for (const id of ids) {
        const run = await pretend(t, bench({ sweep_start: { sweep: { id } } }));
        const { code, stdout, stderr } = await run('bench', 'http://127.0.0.1:1', '--yes');
        assert.equal(code, 3, stderr);
        assert.match(stderr, /^opsbrain: the server's answer has no sweep id$/m);
        assert.doesNotMatch((stdout + stderr).replaceAll('\n', ''), CONTROLS);
        assert.deepEqual(await readdir(run.folder), []);
        assert.equal(run.calls.job_show, undefined);
    }
    const run = await pretend(t, bench());
    const { code, stderr } = await run('bench', 'http://127.0.0.1:1', '--yes');
    assert.equal(code, 0, stderr);
    assert.deepEqual(await readdir(run.folder), [`${SWEEP}.md`]);
});

test('control sequences in the rows and the result of a benchmark do not reach the terminal', async (t) => {
    const run = await pretend(t, bench({
        job_show: { job: { state: EVIL, outcome: { state: EVIL, reason: EVIL } }, over: true, verdict: [EVIL, 7] },
        sweep_show: { cells: [{ ...CELL, state: EVIL, reason: EVIL, deployment: EVIL }] },
    }));
    const { code, stdout, stderr } = await run('bench', SWEEP);
    assert.equal(code, 5, stderr);
    assert.doesNotMatch((stdout + stderr).replaceAll('\n', ''), CONTROLS);
    assert.equal(stdout.match(/owned/g).length, 6);
});

test('a row names its deployment and repetition, and a success rate just below 100 % is not rounded to 100 %', async (t) => {
    const cells = [
        { ...CELL, deployment: 'left', repetition: 1 },
        { ...CELL, deployment: 'right', repetition: 2, request_rate: 1000, success_rate: 0.9999, ttft_p50_ms: 999.6 },
        { ...CELL, state: 'failed' },
    ].map((cell, position) => ({ ...cell, position }));
    const run = await pretend(t, bench({ sweep_show: { cells } }));
    const { code, stdout } = await run('bench', SWEEP);
    assert.equal(code, 5);
    assert.match(stdout, /^ +1 +128 +16 .* left repetition 1$/m);
    assert.match(stdout, /^1000\/s +128 +16 +1000 .* right repetition 2 99\.9 % succeeded$/m);
    assert.match(stdout, /, but 1 cell has no figures\./);
});

test('a request whose connection was cut is sent again', async (t) => {
    const lost = (answer) => (_, number) => (number === 1 ? 'cut' : answer);
    const answers = bench();
    for (const name of ['job_show', 'sweep_show']) {
        const run = await pretend(t, bench({ [name]: lost(answers[name]) }));
        const { code, stdout, stderr } = await run('bench', SWEEP);
        assert.equal(code, 0, stderr);
        assert.equal(stdout.match(/^ +1 +128/gm).length, 1);
    }
});

test('Ctrl-C ends a benchmark and a live view at once, even while the server does not answer', async (t) => {
    const cases = [
        [bench({ job_show: () => interrupt() }), ['bench', SWEEP], /To see it again: opsbrain bench swp_/],
        [{ metrics_show: (_, number) => (number === 1 ? { now: {} } : interrupt()) }, ['watch', 'demo'], /^$/],
    ];
    let run;
    const interrupt = () => run.child.kill('SIGINT') && 'hang';
    for (const [answers, args, sentence] of cases) {
        run = await pretend(t, answers);
        const begun = performance.now();
        const { code, stderr } = await run(...args);
        assert.equal(code, 130, stderr);
        assert.match(stderr, sentence);
        assert.ok(performance.now() - begun < LIMIT_MS / 2);
    }
});

test('a wrong command line gives exit status 2, and a refused command gives 1', async (t) => {
    const run = await pretend(t, bench({ metrics_show: { now: {} } }));
    const cases = [
        [['watch', '--count', 'many'], 2, /--count is "many": it must be a whole number, at least 1/],
        [['watch', '--count', '0'], 2, /--count is "0"/],
        [['watch', '--interval', '0'], 2, /--interval is "0"/],
        [['watch', 'demo', 'extra'], 2, /one word too many/],
        [['logout', 'a', 'b'], 2, /takes only the server's address/],
        [['login', 'one.example.com'], 2, /the server's address must look like/],
        [['logout', 'one.example.com'], 2, /the server's address must look like/],
        [['tools', 'extra'], 2, /one word too many/],
        [['bench', 'demo', '--deployment', 'other'], 2, /deployment is given twice/],
        [['bench', 'demo', '--users', '1', '--users', '4'], 1, /give --yes/],
        [['bench', 'swp_../../x', '--yes'], 1, /must begin with http/], // neither a sweep nor a name, hence taken for an address
    ];
    for (const [args, status, sentence] of cases) {
        const { code, stderr } = await run(...args);
        assert.equal(code, status, `${args}: ${stderr}`);
        assert.match(stderr, sentence);
    }
});

test("help on a command calls no tool, and tools --json prints the server's tools", async (t) => {
    const run = await pretend(t, {});
    const names = ['logout', 'call', 'completion', 'run_show', 'serve', 'key', 'audit-log'];
    await Promise.all(names.map(async (name) => {
        const { code, stdout, stderr } = await run('help', name);
        assert.equal(code, 0, stderr);
        assert.match(stdout, new RegExp(`^  opsbrain ${name} `, 'm'));
    }));
    for (const name of ['login', 'tools']) assert.deepEqual(await run(name, '--help'), await run('help', name));
    assert.deepEqual(run.calls, {});
    assert.deepEqual(JSON.parse((await run('tools', '--json')).stdout), TOOLS);
});

test('a login without a key deletes the stored key', async (t) => {
    const run = await pretend(t, {});
    const stored = async () => readFile(path.join(run.folder, 'opsbrain/login.json'), 'utf8');
    assert.match((await run.typing('obk_old\n', 'login')).stdout, /the key is stored/);
    assert.match(await stored(), /obk_old/);
    assert.match((await run.typing('\n', 'login')).stdout, /no key is stored/);
    assert.doesNotMatch(await stored(), /obk_old/);
    await writeFile(path.join(run.folder, 'opsbrain/login.json'), '[]');
    assert.equal((await run.typing('\n', 'login')).code, 1, 'a damaged login.json gives 1, not 2 as for a wrong command line');
});
