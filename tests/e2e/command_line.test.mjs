// SPDX-License-Identifier: Apache-2.0
// The command line: in a pipe, on a terminal, with a key, and without a running server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { commandLine, output, QUICK, startRelay, sweepOf, withDemo } from './support/command_line.mjs';
import { databaseSettings } from './support/database.mjs';
import { addKey, atEnd, freePort, OPSBRAIN, startServer, startSimserve, temporaryFolder, until } from './support/harness.mjs';

// The tests spend most of their time waiting, so several run at a time. The last ones in this file take the longest, so they start first.
const AT_A_TIME = 5;
const tests = [];
const sideBySide = (title, body) => tests.push([title, body]);

sideBySide('a tool can be run by its short or full name; all its arguments can be given as operands or flags', async (t) => {
    const { run } = await withDemo(t);
    const { deployments } = JSON.parse(await run.done('deployments', '--json'));
    assert.deepEqual(deployments.map(({ name }) => name), ['demo']);
    assert.match(await run.done('health', 'demo'), /^PASSED[^]*^Next: opsbrain ask to ask it something, opsbrain plan to/m);
    const planned = await run.done('plan', 'demo', '--concurrency', '1');
    assert.match(planned, /^Next: opsbrain bench with this --plan-digest\.$/m);
    assert.doesNotMatch(planned, /options|opsbrain:\/\//);
    assert.match(await run.done('call', 'deployment_show', 'deployment=demo'), /^demo \(revision 1\)/);
    assert.match(await run.done('deployment-show', '--deployment', 'demo'), /^demo \(revision 1\)/);
    const { plan } = JSON.parse(await run.done('plan', 'demo', '--concurrency', '1,4', '--seed=7', '--natural-output', '--json'));
    assert.deepEqual(plan.concurrency, [1, 4]);
    assert.equal(plan.seed, 7);
    assert.equal(plan.natural_output, true);
    assert.match(await run.done('tools'), /^run_compare +compare +Compare runs$/m);
});

sideBySide('a refusal is one line on standard error, and the exit status tells what kind it is', async (t) => {
    const { run } = await withDemo(t);
    const cases = [
        [['health', 'nobody'], 1, /nobody/],
        [['jobs', '--limit', 'many'], 1, /--limit is .*many/],
        [['jobs', '--limt', '3'], 1, /did you mean --limit/],
        [['jobs', 'extra'], 2, /one word too many/],
        [['register', 'x'], 2, /takes name url/],
        [['nonsense'], 2, /no command "nonsense"/],
        [['deploymets'], 2, /no command "deploymets": did you mean opsbrain deployments\?/],
        [['fleet', 'lst'], 2, /"lst" is one word too many: opsbrain help fleet/],
        [['call'], 2, /needs a tool/],
        [['audit-log', 'lst'], 2, /there is no "audit-log lst"; use one of: audit-log list, audit-log verify/],
        [['audit-log', 'list', '--limit', 'many'], 2, /limit is .*many/],
        [['plan', 'demo', '--bogus', '3'], 1, /opsbrain plan takes no argument "bogus": opsbrain help plan shows what it takes$/m],
        [['bench', '--plan-digest', 'of-nothing'], 1, /--plan-digest matches none of your plans .*opsbrain plan/],
    ];
    for (const [args, status, sentence] of cases) {
        const { code, stdout, stderr } = await run(...args);
        assert.equal(code, status, `${args}: ${stderr}`);
        assert.match(stderr, sentence);
        assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
        assert.equal(stdout, '');
    }
    run.env.OPSBRAIN_URL = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await run('deployments');
    assert.equal(code, 3);
    assert.match(stderr, /no server answers at .*opsbrain serve/);
    const unknown = await run('nonsense');
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /no command "nonsense"; .*no server answers at/);
    assert.equal((await run('benc')).stderr, 'opsbrain: there is no command "benc": did you mean opsbrain bench?\n');
});

sideBySide('a key is not shown while it is typed, is stored in a file that only its user can read, and is sent only to its server', async (t) => {
    const data = await temporaryFolder(t);
    const key = await addKey(data, 'alice', '--role', 'viewer');
    const server = await startServer(t, { data });
    const run = await commandLine(t, server);
    const refused = await run('deployments');
    assert.equal(refused.code, 4);
    assert.match(refused.stderr, /needs a key: opsbrain login/);
    const wrong = await output(OPSBRAIN, ['login'], { env: run.env, input: 'obk_wrong\n' });
    assert.equal(wrong.code, 4);
    assert.match(wrong.stderr, /does not accept the key/);
    assert.equal((await run('login', key)).code, 2);

    const typed = await run.typed(80, `${key}\n`, 'login');
    assert.equal(typed.code, 0, typed.stdout);
    assert.ok(!typed.stdout.includes(key), 'the key is shown');
    assert.doesNotMatch(typed.stdout, /plain HTTP/);
    const file = path.join(run.env.XDG_CONFIG_HOME, 'opsbrain/login.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok((await readFile(file, 'utf8')).includes(key));
    assert.match(await run.done('deployments'), /No deployment/);
    const viewer = await run('register', 'x', 'http://127.0.0.1:1');
    assert.equal(viewer.code, 4, viewer.stderr);

    const seen = [];
    const other = http.createServer((request, response) => { seen.push(request.headers); response.end('{}'); });
    await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
    atEnd(t, () => other.close());
    const elsewhere = await output(OPSBRAIN, ['deployments'], { env: { ...run.env, OPSBRAIN_URL: `http://127.0.0.1:${other.address().port}` } });
    assert.equal(elsewhere.code, 3, elsewhere.stderr);
    assert.equal(seen.length, 1);
    assert.equal(seen[0].authorization, undefined);
    assert.equal((await run('logout')).code, 0);
    assert.equal((await run('deployments')).code, 4);
});

sideBySide('import reads a file, and export and chart write to standard output', async (t) => {
    const { run } = await withDemo(t);
    const file = path.join(await temporaryFolder(t), 'results.csv');
    await writeFile(file, 'concurrency,input_tokens,output_tokens,ttft_p50_ms,output_tokens_per_s\n1,128,64,20,50\n4,128,64,21,200\n');
    const imported = await run.done('import', file, '--hardware', 'L4');
    const [id] = imported.match(/imp_\w+/);
    assert.match(imported, /results\.csv: imp_/);
    assert.match(await run.done('import', file, '--hardware', 'L4'), /already stored/);
    const exported = await run('export', id);
    assert.match(exported.stdout, /^[a-z_,0-9]+\r\n/);
    assert.doesNotMatch(exported.stdout, /whole file/);
    assert.match(exported.stderr, /2 of 2 cells/);
    const { stdout } = await output('sh', ['-c', `${OPSBRAIN} chart ${id} | head -c 8 | od -An -c`], { env: run.env });
    assert.match(stdout, /P +N +G/);
    assert.match(await run.done('report', id), /128/);
    const absent = await run('import', `${file}.none`);
    assert.equal(absent.code, 1);
    assert.match(absent.stderr, /No such file/);
});

sideBySide('on a terminal, tables fit the width, NO_COLOR turns colours off, and the user is asked before a removal', async (t) => {
    const { run } = await withDemo(t);
    for (const columns of [40, 80, 200]) {
        const { stdout } = await run.typed(columns, '', 'deployments');
        assert.match(stdout, /\x1b\[1m/);
        for (const line of stdout.replaceAll(/\x1b\[[0-9;]*m/g, '').split('\r\n')) assert.ok([...line].length <= columns, line);
    }
    for (const args of [['deployments'], ['watch', 'demo', '--count', '1', '--interval', '0.2']]) {
        const { stdout } = await output('script', ['-qefc', `${OPSBRAIN} ${args.join(' ')}`, '/dev/null'], { env: { ...run.env, TERM: 'dumb' } });
        assert.doesNotMatch(stdout, /\x1b/);
    }
    run.env.NO_COLOR = '1';
    assert.doesNotMatch((await run.typed(80, '', 'deployments')).stdout, /\x1b\[[0-9]/);
    assert.doesNotMatch((await run('deployments')).stdout, /\x1b/);

    const no = await run.typed(80, 'n\n', 'remove', 'demo');
    assert.match(no.stdout, /\[y\/N\]/);
    assert.equal(no.code, 1, no.stdout);
    const pipe = await run('remove', 'demo');
    assert.match(pipe.stderr, /--confirm demo/);
    const yes = await run.typed(80, 'y\n', 'remove', 'demo');
    assert.equal(yes.code, 0, yes.stdout);
    assert.match(await run.done('deployments'), /No deployment/);
});

sideBySide('untrusted text cannot send control sequences to the terminal', async (t) => {
    const evil = '\u001b]0;owned\u0007\u001b[2Jred\u009b31m';
    const tool = { name: 'evil_show', title: evil, description: evil, inputSchema: { type: 'object', properties: {} } };
    const reply = { 'tools/list': { tools: [tool] },
        'tools/call': { content: [{ type: 'text', text: `| ${evil} |\n| - |\n| ${evil} |\n${evil}` }], structuredContent: { evil } } };
    const server = http.createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
        const { id, method, params } = JSON.parse(body);
        const result = params.name === undefined || params.arguments.fail === undefined ? reply[method] : undefined;
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32000, message: evil } }) }));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    atEnd(t, () => server.close());
    const run = await commandLine(t, { url: `http://127.0.0.1:${server.address().port}` });
    for (const args of [['evil_show'], ['evil_show', '--json'], ['evil_show', '--fail', '1'], ['tools'], ['help', 'evil_show'], ['deployments']]) {
        for (const { stdout, stderr } of [await run(...args), await run.typed(80, '', ...args)]) {
            const shown = (stdout + stderr).replaceAll(/\x1b\[[0-9;]*m|\r\x1b\[K/g, '');
            assert.doesNotMatch(shown, /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/, args.join(' '));
        }
    }
});

sideBySide('bash completes commands, flags and choices', async (t) => {
    const env = { PATH: `${path.dirname(OPSBRAIN)}:${process.env.PATH}` };
    const complete = async (...words) => {
        const script = `source <(opsbrain completion bash); COMP_WORDS=(opsbrain ${words.map((word) => `'${word}'`).join(' ')}); ` +
            `COMP_CWORD=${words.length}; _opsbrain; printf '%s\\n' "\${COMPREPLY[@]}"`;
        return (await output('bash', ['-c', script], { env })).stdout.split('\n').slice(0, -1);
    };
    assert.deepEqual(await complete('depl'), ['deployments', 'deployment', 'deploy', 'deployment_adopt', 'deployment_apply',
        'deployment_destroy', 'deployment_discover', 'deployment_extend', 'deployment_list', 'deployment_plan', 'deployment_register',
        'deployment_remove', 'deployment_scale', 'deployment_show', 'deployment_start', 'deployment_stop', 'deployment_update']);
    assert.deepEqual(await complete('plan', 'demo', '--concur'), ['--concurrency']);
    assert.deepEqual(await complete('plan', '--arrival', ''), ['closed', 'constant', 'poisson', 'gamma']);
    assert.deepEqual(await complete('call', 'job_'), ['job_cancel', 'job_list', 'job_show']);
    assert.ok((await complete('help', 'aud')).includes('audit'));
    assert.deepEqual(await complete('watch', '--cou'), ['--count']);
    assert.deepEqual(await complete('bench', 'demo', '--use'), ['--users']);
});

// assertZshOffers(t, env, line, words): types the line and two tabs into an interactive zsh, and asserts that it then shows these words.
async function assertZshOffers(t, env, line, words) {
    const setup = 'PS1="> "; autoload -Uz compinit; compinit -u -D; source <(opsbrain completion zsh)';
    const child = spawn('script', ['-qec', 'stty rows 200 cols 80; exec zsh -f -i', '/dev/null'], { env: { ...process.env, ...env, TERM: 'dumb' } });
    let screen = '', typed = false;
    atEnd(t, () => child.kill('SIGKILL'));
    child.stdin.write(`${setup}; echo re''ady\n`); // the echo of this line does not contain "ready"
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
        screen += chunk;
        if (!typed && /ready\r?\n/.test(screen)) typed = child.stdin.write(`${line}\t\t`) || true;
    });
    await until(`${words} after ${line}`, () => words.every((word) => screen.includes(word))).catch((error) => assert.fail(`${error.message}: ${screen}`));
}

sideBySide('zsh completes commands, flags and choices', async (t) => {
    const env = { PATH: `${path.dirname(OPSBRAIN)}:${process.env.PATH}` };
    if ((await output('sh', ['-c', 'command -v zsh'])).code !== 0) return t.skip('zsh is not installed');
    await Promise.all([['opsbrain depl', 'deployments', 'deployment_list'], ['opsbrain plan demo --concur', '--concurrency'],
        ['opsbrain plan --arrival ', 'poisson', 'gamma'], ['opsbrain bench demo --ou', '--output-length', '--output-tokens'],
    ].map(([line, ...words]) => assertZshOffers(t, env, line, words)));
});

sideBySide('fish completes commands, flags, choices and files', async (t) => {
    const env = { PATH: `${path.dirname(OPSBRAIN)}:${process.env.PATH}`, HOME: await temporaryFolder(t) };
    if ((await output('sh', ['-c', 'command -v fish'])).code !== 0) return t.skip('fish is not installed');
    const complete = async (line) => (await output('fish', ['-c', `opsbrain completion fish | source; complete -C '${line}'`], { env, cwd: env.HOME })).stdout.split('\n').slice(0, -1);
    await writeFile(path.join(env.HOME, 'results.csv'), '');
    assert.ok((await complete('opsbrain depl')).includes('deployments'));
    assert.deepEqual(await complete('opsbrain plan demo --concur'), ['--concurrency']);
    assert.deepEqual((await complete('opsbrain plan --arrival ')).sort(), ['closed', 'constant', 'gamma', 'poisson']);
    assert.deepEqual(await complete('opsbrain import res'), ['results.csv']);
});

sideBySide('help needs no server', async () => {
    const { code, stdout } = await output(OPSBRAIN, ['help', 'plan'], { env: { OPSBRAIN_URL: 'http://127.0.0.1:1' } });
    assert.equal(code, 0);
    assert.match(stdout, /--input-tokens/);
    assert.match(stdout, /--warmup-limit-s/);
    assert.match(stdout, /Exit status: 0 done/);
    assert.equal((await output(OPSBRAIN, ['plan', '--help'])).stdout, stdout);
});

// ---- Slow tests ----

const TWO_LOADS = ['--users', '1,4', '--context', '128', '--output-length', '16', '--window', '1', '--warmup-limit-s', '0'];
const TWO_CONTEXTS = ['--users', '1', '--context', '128,256', '--output-length', '16', '--window', '1', '--warmup-limit-s', '0'];

sideBySide('bench asks before it starts, shows each cell, leaves the sweep running on Ctrl-C, and exits with a status that depends on the outcome', async (t) => {
    const { run } = await withDemo(t);
    const unasked = await run('bench', 'demo', ...TWO_LOADS);
    assert.equal(unasked.code, 1);
    assert.match(unasked.stderr, /Plan for demo .*2 cells[^]*no terminal to ask on: give --yes/);
    const { code, stdout } = await run.typed(80, 'y\n', 'bench', 'demo', ...TWO_LOADS);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /Start it\? \[y\/N\]/);
    assert.match(stdout, /\[[█░]+\] [012] of 2/);
    assert.match(stdout, / {5}1 {6}128 {6}16 +\d{2}/);
    assert.match(stdout, /is completed\.[^]*saturated/);
    assert.equal((await run.typed(80, 'n\n', 'bench', 'demo', ...TWO_LOADS)).code, 130);

    const stopped = await run.with({ during: (child, { stdout }) => /^ +1 +128/m.test(stdout) && child.kill('SIGINT') },
        'bench', 'demo', '--yes', ...TWO_CONTEXTS);
    assert.equal(stopped.code, 130, stopped.stderr);
    const [, again] = stopped.stderr.match(/To see it again: opsbrain (bench swp_\w+);/);
    const shown = await run(...again.split(' '));
    assert.equal(shown.code, 0, shown.stderr);
    assert.equal(shown.stdout.match(/^ +1 +(128|256) /gm).length, 2);

    let cancelled; // with five repetitions, some cells are still left when the cancellation arrives, even on a slow machine
    const ended = await run.with({ during: (child, { stdout }) => {
        if (/^ +1 +128/m.test(stdout)) cancelled ??= run('jobs', '--state', 'running', '--json')
            .then((jobs) => run('cancel', JSON.parse(jobs.stdout).jobs[0].id));
    } }, 'bench', 'demo', '--yes', ...TWO_CONTEXTS, '--repetitions', '5');
    assert.equal((await cancelled).code, 0);
    assert.equal(ended.code, 5, ended.stdout);
    assert.match(ended.stdout, /cancelled/);
});

sideBySide('bench with a URL needs no opsbrain server: one command measures and writes the report', async (t) => {
    const model = await startSimserve(t, QUICK);
    const folder = await temporaryFolder(t);
    const run = await commandLine(t, { url: '' });
    const data = path.join(folder, 'share/opsbrain');
    Object.assign(run.env, databaseSettings(['--data', data]), { XDG_DATA_HOME: path.join(folder, 'share') });
    const first = await run.with({ cwd: folder }, 'bench', model.url, '--yes', ...TWO_LOADS);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stderr, /^Started a server for this benchmark/);
    assert.match(first.stdout, /^## Key takeaways$/m);
    assert.doesNotMatch(first.stdout, /^Page:/m);
    const [, file] = first.stderr.match(/^Report: (.*\.html)$/m);
    assert.ok((await readFile(path.join(folder, file), 'utf8')).includes(sweepOf(first.stdout)));

    const stopped = await run.with({ cwd: folder, during: (child, { stdout }) => /^ +1 +128/m.test(stdout) && child.kill('SIGINT') },
        'bench', `${model.url}/v1/`, '--yes', ...TWO_CONTEXTS);
    assert.equal(stopped.code, 130, stopped.stderr);
    const [, again] = stopped.stderr.match(/To continue: opsbrain (bench swp_\w+ --data .*)/);
    const server = await startServer(t, { data });
    const ended = await run(...again.split(' ')); // calls the server that now uses the folder
    assert.equal(ended.code, 0, ended.stderr);
    assert.doesNotMatch(ended.stderr, /Started a server/);
    run.env.OPSBRAIN_URL = server.url;
    assert.equal(JSON.parse(await run.done('deployments', '--json')).deployments.length, 1);
});

// The addresses are written as users might type them: with IPv6, with a path, without a scheme.
sideBySide('bench measures the model server at an address, or says in one error message why it cannot', async (t) => {
    const model = await startSimserve(t, QUICK);
    const relay = await startRelay(t, model, '::1');
    const locked = http.createServer((request, response) => response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":{"message":"no key"}}'));
    await new Promise((resolve) => locked.listen(0, '127.0.0.1', resolve));
    atEnd(t, () => locked.close());

    const folder = await temporaryFolder(t);
    const run = await commandLine(t, { url: '' });
    const bench = (url) => run.with({ cwd: folder }, 'bench', url, '--data', path.join(folder, 'data'), '--yes', '--users', '1', ...TWO_LOADS.slice(2));
    const overIpv6 = await bench(`http://[::1]:${relay.port}/v1/chat/completions`);
    assert.equal(overIpv6.code, 0, overIpv6.stderr);
    const cases = [
        [`https://[::1]:${relay.port}`, /^opsbrain: nothing was planned: .*tls/m],
        [`http://127.0.0.1:${locked.address().port}`, /^opsbrain: .* requires a token: .*opsbrain update with secret/m],
        ['http://127.0.0.1:1', /^opsbrain: nothing was planned: .*127\.0\.0\.1:1: Failed to connect.*; start the model server, or correct the address$/m],
        ['ftp://127.0.0.1:18778', /^opsbrain: .*http/m],
        ['127.0.0.1:18778', /^opsbrain: .*http/m],
    ];
    for (const [url, sentence] of cases) {
        const { code, stdout, stderr } = await bench(url);
        assert.equal(code, 1, `${url}: ${stderr}`);
        assert.match(stderr, sentence);
        assert.equal(stderr.match(/^opsbrain: /gm).length, 1, stderr);
        assert.equal(stdout, '');
        assert.doesNotMatch(stderr, /Plan for/);
    }
    const nowhere = await run('bench', model.url, '--data', '/dev/null/data', '--yes');
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.stderr, /^opsbrain: .*\/dev\/null.*Not a directory$/m);
    const unwritable = await run('bench', model.url, '--data', path.join(folder, 'data'), '--yes', '--output', path.join(folder, 'none/report.html'));
    assert.equal(unwritable.code, 1);
    assert.match(unwritable.stderr, /^opsbrain: the report cannot be written to .*none\/ \(No such file or directory\): name a file/);
    const server = await startServer(t, { data: path.join(folder, 'data') });
    run.env.OPSBRAIN_URL = server.url;
    const urls = JSON.parse(await run.done('deployments', '--json')).deployments.map(({ url }) => url);
    assert.ok(!urls.includes('http://127.0.0.1:1'), 'an address at which no server answers was registered');
});

sideBySide('watch shows charts on a terminal until q is pressed, and prints lines in a pipe', async (t) => {
    const { run } = await withDemo(t);
    const lines = (await run.done('watch', 'demo', '--interval', '0.2', '--count', '2')).trimEnd().split('\n');
    assert.equal(lines.length, 2);
    for (const line of lines) assert.match(line, /^\d{4}-\S+Z running \d+ waiting \d+ tokens\/s \S+ ttft_ms \S+ itl_ms \S+ kv_% \S+$/);
    assert.equal(JSON.parse(await run.done('watch', '--interval', '0.2', '--count', '1', '--json')).deployment, 'demo');
    for (const columns of [50, 80, 200]) {
        const { code, stdout } = await run.typed(columns, 'q', 'watch', 'demo', '--interval', '0.2');
        assert.equal(code, 0, stdout);
        assert.match(stdout, /^\x1b\[\?1049h\x1b\[\?25l/);
        assert.match(stdout, /\x1b\[\?25h\x1b\[\?1049l$/);
        for (const line of stdout.replaceAll('\x1b[H', '\r\n').replaceAll(/\x1b\[[?0-9]*[a-zA-Z]/g, '').split('\r\n')) assert.ok([...line].length <= columns, line);
    }
    const nobody = await run('watch', 'nobody');
    assert.equal(nobody.code, 1);
    assert.match(nobody.stderr, /nobody/);
});

test('the command line', { concurrency: AT_A_TIME }, (t) => Promise.all(tests.reverse().map(([title, body]) => t.test(title, body))));
