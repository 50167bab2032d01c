// SPDX-License-Identifier: Apache-2.0
// What can happen during a benchmark or a live view: Ctrl-C, an engine or a server that dies, a resized terminal.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { commandLine, QUICK, startRelay, sweepOf, withDemo } from './support/command_line.mjs';
import { startServer, startSimserve, temporaryFolder } from './support/harness.mjs';

const flagsFor = (contexts, window = '1') => ['--users', '1', '--context', contexts, '--output-length', '16', '--window', window, '--warmup-limit-s', '0', '--yes'];
const TWO_CELLS = flagsFor('128,256');
const THREE_CELLS = flagsFor('128,256,512');
const ROW = /^ +1 +128 .*$/m;
const HINT = /To see it again: opsbrain (bench swp_\w+)/g;

// firstTime(step): a function that runs the step only the first time that it is called.
const firstTime = (step) => {
    let done = false;
    return (...args) => !done && (done = true) && step(...args);
};
// atFirstRow(step): a function for the option `during` of run.with() that runs the step when the first cell's row is printed.
const atFirstRow = (step) => {
    const carryOut = firstTime(step);
    return (child, kept) => ROW.test(kept.stdout.replaceAll('\r', '\n')) && carryOut(child, kept);
};

const tests = [];
const sideBySide = (title, body) => tests.push([title, body]);

sideBySide('Ctrl-C, however often it is pressed, leaves the sweep running and restores the terminal', async (t) => {
    const { run } = await withDemo(t);
    const { code, stdout } = await run.onTerminal(80, { during: atFirstRow((child) => child.stdin.write('\x03\x03')) }, 'bench', 'demo', ...TWO_CELLS);
    assert.equal(code, 130, stdout);
    assert.equal(stdout.match(HINT)?.length, 1, stdout);
    assert.match(stdout, / icanon .* echo /s);
    const sweep = sweepOf(stdout);
    assert.equal(JSON.parse(await run.done('sweep', sweep, '--json')).sweep.state, 'running');
    assert.equal((await run.done('bench', sweep)).match(/^ +1 +(128|256) /gm).length, 2);
});

sideBySide('Ctrl-C shuts down the server that the command started, and the measured cells are kept', async (t) => {
    const model = await startSimserve(t, QUICK);
    const folder = await temporaryFolder(t);
    const run = await commandLine(t, { url: '' });
    const data = path.join(folder, 'data');
    const { code, stdout } = await run.onTerminal(80, { cwd: folder, during: atFirstRow((child) => child.stdin.write('\x03\x03')) },
        'bench', model.url, '--data', data, ...TWO_CELLS);
    assert.equal(code, 130, stdout);
    const [, again] = stdout.match(/To continue: opsbrain (bench swp_\w+ --data \S+)/);
    const ended = await run.with({ cwd: folder }, ...again.split(' '));
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stdout.match(/^ +1 +(128|256) /gm).length, 2);
});

sideBySide('a live view restores the terminal after q, Ctrl-C, SIGTERM and SIGHUP', async (t) => {
    const { run } = await withDemo(t);
    const atFirstFrame = (step) => {
        const carryOut = firstTime(step);
        return (child, { stdout }) => /KV cache in use, %: \d/.test(stdout) && carryOut(child, stdout);
    };
    const signal = (name) => (child, stdout) => process.kill(Number(stdout.match(/^pid (\d+)/m)[1]), name);
    const cases = [[(child) => child.stdin.write('q'), 0], [(child) => child.stdin.write('\x03'), 130], [signal('SIGTERM'), 130], [signal('SIGHUP'), 130]];
    await Promise.all(cases.map(async ([end, status]) => {
        const { code, stdout } = await run.onTerminal(80, { during: atFirstFrame(end) }, 'watch', 'demo', '--interval', '0.2');
        assert.equal(code, status, stdout);
        assert.match(stdout, /\x1b\[\?25h\x1b\[\?1049l[^\x1b]* icanon .* echo /s);
    }));
});

sideBySide('after the engine dies, the measured cells are kept, and the next benchmark is refused with one error message', async (t) => {
    const model = await startRelay(t, await startSimserve(t, QUICK), '127.0.0.1');
    const run = await commandLine(t, await startServer(t));
    await run.done('register', 'demo', `http://127.0.0.1:${model.port}`);
    // If the engine dies while the second cell is being measured, that cell can still have figures. In the third cell, no request succeeds.
    const { code, stdout, stderr } = await run.with({ during: atFirstRow(() => model.die()) }, 'bench', 'demo', ...THREE_CELLS);
    assert.equal(code, 5, stdout + stderr);
    assert.match(stdout, /^ +1 +512 .* failed .*connect/m);
    assert.match(stdout, /^swp_\w+ is completed, but (1 cell has|2 cells have) no figures/m);
    const { cells } = JSON.parse(await run.done('sweep', sweepOf(stdout), '--json'));
    assert.deepEqual([cells.length, cells[0].state, cells[2].state], [3, 'measured', 'failed']);
    assert.match(await run.done('report', sweepOf(stdout)), /[12] of 3 points of the grid were measured, [12] failed/);
    const again = await run('bench', 'demo', ...TWO_CELLS);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^opsbrain: nothing was planned: .*connect.*; start the model server, or correct the address\n$/);
    assert.equal(again.stdout, '');
});

sideBySide('if a model server with metrics stops during a measurement, the progress bar says how long the sweep waits for it', async (t) => {
    const { run, model } = await withDemo(t);
    const end = firstTime(() => model.program.stop());
    const interrupt = firstTime((child) => child.stdin.write('\x03')); // only once, although the message is drawn repeatedly
    const { code, stdout } = await run.onTerminal(80, { during: (child, kept) => {
        if (/128 tokens, measuring/.test(kept.stdout)) end();
        if (/no answer, waiting up to 60 s for/.test(kept.stdout)) interrupt(child);
    } }, 'bench', 'demo', ...flagsFor('128', '4'));
    assert.equal(code, 130, stdout);
    await run.done('cancel', sweepOf(stdout));
});

// killer(server): {kill, restart, restarted}: kill() ends the server with SIGKILL, and restart() starts it again; only the first call
// of each has an effect. restarted() waits until the server has started again.
function killer(server) {
    const kill = firstTime(() => (killed = server.program.kill()));
    const restart = firstTime(() => (started = killed.then(() => server.start())));
    let killed, started;
    return { kill, restart, restarted: () => started };
}

sideBySide('bench waits for an opsbrain server that is killed during the benchmark', async (t) => {
    const { run, server } = await withDemo(t);
    const { kill, restart, restarted } = killer(server);
    const { code, stdout } = await run.onTerminal(80, { during: (child, kept) => {
        if (ROW.test(kept.stdout.replaceAll('\r', '\n'))) kill();
        if (/the server does not answer, or is busy; still trying/.test(kept.stdout)) restart();
    } }, 'bench', 'demo', ...TWO_CELLS);
    await restarted();
    assert.equal(code, 0, stdout);
    assert.equal(stdout.replaceAll(/\r(\x1b\[K)?/g, '\n').match(/^ +1 +(128|256) /gm).length, 2, stdout);
});

sideBySide('a live view continues once its server is back', async (t) => {
    const { run, server } = await withDemo(t);
    const { kill, restart, restarted } = killer(server);
    const lines = (text) => text.split('\n').length;
    let before;
    const { code, stderr } = await run.with({ during: (child, kept) => {
        if (/running/.test(kept.stdout)) kill();
        if (/no server answers/.test(kept.stderr)) restart(), before ??= lines(kept.stdout);
        if (lines(kept.stdout) > before) child.kill('SIGINT');
    } }, 'watch', 'demo', '--interval', '0.2');
    await restarted();
    assert.equal(code, 130, stderr);
    for (const line of stderr.trimEnd().split('\n'))
        assert.match(line, /^opsbrain: (no server answers at http|http\S+ ended the (connection|answer))/);
});

sideBySide('a live view and the progress bar adapt when the terminal is resized', async (t) => {
    const { run } = await withDemo(t);
    const resize = (stdout, columns) => execFileSync('stty', ['-F', stdout.match(/^\/dev\/\S+/)[0], 'cols', String(columns)]);
    let framesAtResize;
    const quit = firstTime((child) => child.stdin.write('q'));
    const { code, stdout } = await run.onTerminal(120, { during: (child, kept) => {
        const frames = kept.stdout.split('\x1b[H').length;
        if (frames > 2 && framesAtResize === undefined) resize(kept.stdout, 40), framesAtResize = frames;
        if (frames > framesAtResize + 2) quit(child);
    } }, 'watch', 'demo', '--interval', '0.2');
    assert.equal(code, 0, stdout);
    const widths = stdout.split('\x1b[H').slice(1).map((frame) => Math.max(...frame.replaceAll(/\x1b\[[?0-9]*[a-zA-Z]/g, '').split('\r\n').map((line) => [...line].length)));
    assert.equal(widths[0], 120);
    assert.ok(widths.slice(framesAtResize + 1, -1).every((width) => width <= 40), `${widths}`);

    const narrow = firstTime((kept) => resize(kept.stdout, 40));
    const bench = await run.onTerminal(120, { during: (child, kept) => ROW.test(kept.stdout.replaceAll('\r', '\n')) && narrow(kept) }, 'bench', 'demo', ...TWO_CELLS);
    assert.equal(bench.code, 0, bench.stdout);
    const bars = bench.stdout.split('\r\x1b[K').filter((line) => /of 2 /.test(line)).map((line) => [...line.split('\r')[0]].length);
    assert.ok(Math.max(...bars) > 40 && bars.at(-1) < 40, `${bars}`);
});

test('the command line in trouble', { concurrency: tests.length }, (t) => Promise.all(tests.map(([title, body]) => t.test(title, body))));
