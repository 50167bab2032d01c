// SPDX-License-Identifier: Apache-2.0
// ./run bench first_result    seconds from starting a command to its figures: opsbrain, guidellm and vLLM's bench (7 minutes)
//
// Each tool is run as one command on a terminal, and measures the same closed loop for about ten seconds: on simserve, whose own
// record is the truth, and on llama-server and vLLM if `./run engine` has installed them. guidellm is installed from PyPI the
// first time; vLLM's command is the one that `./run engine` installs. A tool or engine that is not installed is skipped, and a
// line says so.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { OPSBRAIN, startSimserve } from '../e2e/support/harness.mjs';
import { ENGINES, has, MODEL } from '../engine/engines.mjs';
import { install, prepare } from './load_tools.mjs';

const USERS = 8;
const INPUT = 128;
const OUTPUT = 128;
const SECONDS = 10;
const REQUESTS = 32; // vLLM's bench ends after this many requests, which take about SECONDS
const LIMIT_MS = 240_000;
const GUIDELLM = path.resolve('build/loadgens/guidellm');
const VLLM = path.resolve('build/engine/vllm/bin/vllm');
const TINY = path.resolve('build/engine/tiny-hf'); // vLLM's model, with a tokenizer like that of llama-server's model

const number = (text, pattern) => Number(pattern.exec(text)?.[1] ?? NaN);

// For each tool: missing() returns the reason why the tool cannot run here, or undefined; typed() returns its command; `live` matches
// a figure that the tool shows while it measures; `result` matches its result; read() returns the figures in the result.
const TOOLS = {
    opsbrain: {
        missing: () => undefined,
        typed: (url) => [OPSBRAIN, 'bench', url, '--users', USERS, '--context', INPUT, '--output-length', OUTPUT, '--yes'],
        live: /(warming up|measuring): [\d.]+ tokens\/s/,
        result: /^ +8 +128 +128 +[\d.]+/m,
        read: (screen) => {
            const [, ttft, itl, rate] = /^ +8 +128 +128 +(\S+) +\S+ +(\S+) +(\S+)/m.exec(screen) ?? [];
            return { ttft: Number(ttft), itl: Number(itl), rate: Number(rate) };
        },
    },
    guidellm: {
        missing: () => [install('guidellm'), prepare('guidellm') || 'guidellm skipped: no tokenizer could be made'].find((why) => why !== true),
        typed: (url, folder, model, tokenizer) => [`${GUIDELLM}/bin/guidellm`, 'run', '--backend', `kind=openai_http,target=${url}`,
            '--profile', `kind=concurrent,streams=${USERS}`, '--constraint', `kind=max_duration,seconds=${SECONDS}`,
            '--data', `kind=synthetic_text,prompt_tokens=${INPUT},output_tokens=${OUTPUT}`, '--tokenizer', `kind=hf_auto,model=${tokenizer}`,
            '--output', 'kind=console', '--output', `kind=json,path=${folder}/report.json`],
        live: /[1-9][\d.]* gen\/s|output_tokens\/s=[1-9]/,
        result: /Request Latency Statistics/,
        read: (screen, folder) => {
            const { metrics } = JSON.parse(readFileSync(`${folder}/report.json`, 'utf8')).benchmarks[0];
            return {
                ttft: metrics.time_to_first_token_ms.successful.percentiles.p50,
                itl: metrics.inter_token_latency_ms.successful.percentiles.p50,
                rate: metrics.output_tokens_per_second.total?.mean ?? metrics.output_tokens_per_second.successful.mean,
            };
        },
    },
    vllm: {
        missing: () => (existsSync(VLLM) ? undefined : "vllm skipped: './run engine' installs it"),
        typed: (url, folder, model, tokenizer) => [VLLM, 'bench', 'serve', '--backend', 'openai', '--base-url', url, '--endpoint', '/v1/completions',
            '--model', model, '--tokenizer', tokenizer, '--dataset-name', 'random', '--random-input-len', INPUT,
            '--random-output-len', OUTPUT, '--ignore-eos', '--max-concurrency', USERS, '--num-prompts', REQUESTS],
        live: /$^/, // until the end it shows no figure, only how many requests have ended
        result: /Output token throughput/,
        read: (screen) => ({
            ttft: number(screen, /Median TTFT \(ms\): +([\d.]+)/),
            itl: number(screen, /Median ITL \(ms\): +([\d.]+)/),
            rate: number(screen, /Output token throughput \(tok\/s\): +([\d.]+)/),
        }),
    },
};

const ENVIRONMENT = { HF_HUB_OFFLINE: '1', TERM: 'xterm', NO_COLOR: '1', OPSBRAIN_URL: '', VLLM_NO_USAGE_STATS: '1', TOKENIZERS_PARALLELISM: 'false' };

// run(tool, words, folder): runs the command; returns the seconds to the first figure, to the result and to the end, and the text
// that was on the screen.
async function run(tool, words, folder) {
    const command = `stty cols 200 rows 50; exec ${words.map((word) => `'${word}'`).join(' ')}`;
    const environment = { ...process.env, ...ENVIRONMENT, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const begun = performance.now();
    const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'ignore'], timeout: LIMIT_MS });
    const seen = {};
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
        screen += chunk.replaceAll(/\x1b\[[0-9;?]*[a-zA-Z]/g, '').replaceAll('\r', '\n');
        for (const what of ['live', 'result']) if (tool[what].test(screen)) seen[what] ??= (performance.now() - begun) / 1000;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${words[0]} ended with ${code}: ${screen.slice(-1500)}`);
    return { first: seen.live ?? seen.result, result: seen.result, end: (performance.now() - begun) / 1000, screen };
}

// Returns the true figures, from simserve's record. The rate of a closed loop follows from the number of users and the time that the
// server took for each request.
async function truthOf(url) {
    const text = await (await fetch(`${url}/sim/truth?limit=1000000`)).text();
    const rows = text.split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter((row) => row.outcome === 'ok' && row.running === USERS);
    const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
    return {
        ttft: median(rows.map((row) => (row.first_write_ns - row.read_ns) / 1e6)),
        itl: median(rows.map((row) => (row.last_write_ns - row.first_write_ns) / 1e6 / (OUTPUT - 1))),
        rate: (USERS * OUTPUT) / median(rows.map((row) => (row.last_write_ns - row.read_ns) / 1e9)),
    };
}

const cell = (value, digits = 1) => (Number.isFinite(value) ? value.toFixed(digits) : '-').padStart(9);
const row = (name, times, { ttft, itl, rate }) => console.log([`  ${name.padEnd(22)}`, ...times.map((time) => cell(time)), cell(ttft), cell(itl, 2), cell(rate)].join(' '));

// Runs the tools one after another on one server. With `truth`, the server is simserve, whose record is reset before each tool runs.
async function compare(name, { url, model, tokenizer, truth }) {
    console.log(`${name}: ${USERS} users, ${INPUT} tokens in, ${OUTPUT} out`);
    console.log('                         first s  result s     end s  TTFT p50   ITL p50  tokens/s');
    for (const [title, tool] of Object.entries(TOOLS)) {
        const why = tool.missing();
        if (why) {
            console.log(`  ${why}`);
            continue;
        }
        const folder = mkdtempSync(path.join(tmpdir(), 'opsbrain-first-'));
        if (truth) await fetch(`${url}/sim/reset`, { method: 'POST' });
        try {
            const { first, result, end, screen } = await run(tool, tool.typed(url, folder, model, tokenizer), folder);
            row(title, [first, result, end], tool.read(screen, folder));
            if (truth) row(`  truth for ${title}`, [], await truthOf(url));
        } catch (error) {
            console.log(`  ${title}: ${error.message}`);
        } finally {
            rmSync(folder, { recursive: true, force: true });
        }
    }
}

// Takes the place of a test: startSimserve and the engines register here the steps that stop their servers.
const endings = [];
const bench = { after: (end) => endings.push(end) };
try {
    for (const [title, tool] of Object.entries(TOOLS)) console.log(`${title}: ${tool.typed('URL', '.', 'MODEL', 'TOKENIZER').map((word) => path.basename(String(word)) === title ? title : word).join(' ')}`);
    const { url } = await startSimserve(bench, ['--max-running', String(USERS)]);
    await compare('simserve', { url, model: 'simserve/toy', tokenizer: `${GUIDELLM}/tokenizer`, truth: true });
    for (const [name, { title, start }] of Object.entries(ENGINES))
        if (has(name) && existsSync(TINY)) await compare(title, { url: (await start(bench)).url, model: MODEL, tokenizer: TINY });
        else console.log(`${title} skipped: './run engine' installs it`);
} finally {
    for (const end of endings) await end();
}
