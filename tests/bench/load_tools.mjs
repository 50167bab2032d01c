// SPDX-License-Identifier: Apache-2.0
// The official load generators in Python (tools), for load.mjs and first_result.mjs. They are installed from PyPI in build/loadgens.
// measure() runs a tool against simserve, and measures the tool from outside: simserve counts the events, and the CPU time is that of
// all of the tool's processes. Only TTFT is what the tool itself reports.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const HOME = path.resolve('build/loadgens');
const PROMPTS = path.join(HOME, 'prompts.jsonl');
const PROMPT_WORDS = 128;
const INSTALL_MS = 1_800_000; // guidellm and vllm need several gigabytes of deep learning libraries
const BEGIN_MS = 120_000; // limit on the time until a tool has received its first tokens
const TOKENS_PER_USER = 4; // more than a tool receives while it only checks whether the server is up
const SETTLE_MS = 5000;
const TICKS_PER_S = 100; // in /proc/PID/stat

mkdirSync('build/log', { recursive: true });
mkdirSync(HOME, { recursive: true });

const figures = (file) => JSON.parse(readFileSync(file, 'utf8'));
const program = (name, file) => path.join(HOME, name, 'bin', file);
const tokenizerOf = (name) => path.join(HOME, name, 'tokenizer'); // in the format of the tool's own library

// The command line of this vLLM requires an accelerator; the script behind `vllm bench serve` does not.
const VLLM_SCRIPT =
    'import argparse\n' +
    'from vllm.benchmarks.serve import add_cli_args, main\n' +
    'parser = argparse.ArgumentParser()\n' +
    'add_cli_args(parser)\n' +
    'main(parser.parse_args())';

// For each tool: its packages, its command and environment, its arguments for a load (a closed loop of `users` for `seconds`, with
// `tokens` output tokens per request), and a function that reads the TTFT that it reported, in ms.
export const TOOLS = {
    guidellm: {
        packages: ['guidellm==0.8.1'],
        command: [program('guidellm', 'guidellm')],
        environment: { HF_HUB_OFFLINE: '1' }, // the tokenizer is a folder, and nothing else is needed
        arguments: ({ url, users, tokens, seconds }, out) => [
            ...['run', '--backend', `kind=openai_http,target=${url},model=simserve/toy,request_format=/v1/completions`],
            ...['--profile', `kind=concurrent,streams=${users}`, '--constraint', `kind=max_duration,seconds=${seconds}`],
            ...['--data', `kind=json_file,path=${PROMPTS}`, '--tokenizer', `kind=hf_auto,model=${tokenizerOf('guidellm')}`],
            ...['--output', `kind=json,path=${out}/report.json`, '--disable-console'],
        ],
        ttft: (out) => figures(`${out}/report.json`).benchmarks[0].metrics.time_to_first_token_ms.successful.percentiles,
    },
    aiperf: {
        packages: ['aiperf==0.13.0'],
        command: [program('aiperf', 'aiperf')],
        environment: {},
        arguments: ({ url, users, tokens, seconds }, out) => [
            ...['profile', '-m', 'simserve/toy', '--url', url, '--endpoint-type', 'completions', '--streaming', '--ui', 'none'],
            ...['--concurrency', users, '--benchmark-duration', seconds, '--benchmark-grace-period', '5'],
            ...['--synthetic-input-tokens-mean', PROMPT_WORDS, '--output-tokens-mean', tokens],
            ...['--extra-inputs', 'ignore_eos:true', '--tokenizer', tokenizerOf('aiperf'), '--output-artifact-dir', out],
        ],
        ttft: (out) => figures(`${out}/profile_export_aiperf.json`).time_to_first_token,
    },
    vllm: {
        packages: ['vllm==0.11.0', 'transformers<5'],
        command: [program('vllm', 'python'), '-c', VLLM_SCRIPT],
        environment: {},
        // vLLM's bench ends after a number of requests: as many as the server answers in `seconds` if nothing is late.
        arguments: ({ url, users, tokens, seconds, stepMs }, out) => [
            ...['--backend', 'openai', '--base-url', url, '--endpoint', '/v1/completions', '--model', 'simserve/toy'],
            ...['--max-concurrency', users, '--num-prompts', Math.ceil((users * seconds * 1000) / (tokens * stepMs))],
            ...['--dataset-name', 'random', '--random-input-len', PROMPT_WORDS, '--random-output-len', tokens, '--ignore-eos'],
            ...['--tokenizer', tokenizerOf('vllm'), '--percentile-metrics', 'ttft', '--metric-percentiles', '50,99'],
            ...['--disable-tqdm', '--save-result', '--result-dir', out, '--result-filename', 'result.json'],
        ],
        ttft: (out) => {
            const { p50_ttft_ms: p50, p99_ttft_ms: p99 } = figures(`${out}/result.json`);
            return { p50, p99 };
        },
    },
};

function call(log, command, args, limitMs) {
    const stdio = ['ignore', openSync(log, 'a'), openSync(log, 'a')];
    return spawnSync(command, args, { stdio, timeout: limitMs }).status === 0;
}

// Installs the tool if needed. Returns true, or a line that says why it cannot be installed.
export function install(name) {
    const { packages } = TOOLS[name];
    const marker = path.join(HOME, name, `complete-${packages[0]}`);
    const log = `build/log/bench-load-${name}.log`;

    if (existsSync(marker)) return true;
    console.log(`installing ${packages[0]} from PyPI, once`);
    rmSync(path.join(HOME, name), { recursive: true, force: true });
    const installed =
        call(log, 'python3', ['-m', 'venv', path.join(HOME, name)], INSTALL_MS) &&
        call(log, program(name, 'pip'), ['install', '--retries', '1', ...packages], INSTALL_MS);
    if (!installed) return `${name} skipped: it cannot be installed from PyPI (see ${log})`;
    writeFileSync(marker, '');
    return true;
}

// Makes what the tool needs: a tokenizer with one token for each word, and prompts that consist of these words. Returns false if the
// tokenizer cannot be made.
export function prepare(name) {
    const words = Array.from({ length: 1000 }, (_, i) => `w${i}`);
    const code =
        'import sys\n' +
        'from tokenizers import Tokenizer, models, pre_tokenizers\n' +
        'from transformers import PreTrainedTokenizerFast\n' +
        "vocabulary = {'<unk>': 0, '</s>': 1, **{f'w{i}': i + 2 for i in range(1000)}}\n" +
        "tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token='<unk>'))\n" +
        'tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()\n' +
        "PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token='<unk>', eos_token='</s>').save_pretrained(sys.argv[1])";
    const row = () => {
        const prompt = Array.from({ length: PROMPT_WORDS }, () => words[Math.floor(Math.random() * words.length)]).join(' ');
        return JSON.stringify({ prompt, output_tokens_count: 128 });
    };

    if (!existsSync(PROMPTS)) writeFileSync(PROMPTS, Array.from({ length: 5000 }, row).join('\n') + '\n');
    const folder = tokenizerOf(name);
    return existsSync(folder) || call('build/log/bench-load-tokenizer.log', program(name, 'python'), ['-c', code, folder], 120_000);
}

// ---- Measuring from outside ----

const nowNs = () => process.hrtime.bigint(); // simserve uses the same clock

// Returns the CPU seconds of a process and its descendants.
function cpuSeconds(root) {
    const ticks = new Map();
    const parents = new Map();
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
            const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
            parents.set(Number(pid), Number(fields[1]));
            ticks.set(Number(pid), fields.slice(11, 15).reduce((sum, value) => sum + Number(value), 0));
        } catch {
            continue; // the process has ended meanwhile
        }
    }
    const isBelow = (pid) => pid === root || (parents.has(pid) && isBelow(parents.get(pid)));
    return [...ticks].filter(([pid]) => isBelow(pid)).reduce((sum, [, value]) => sum + value, 0) / TICKS_PER_S;
}

const get = async (url) => (await fetch(url)).json();

async function hasBegun(url, users, child) {
    const deadline = Date.now() + BEGIN_MS;
    while (child.exitCode === null && Date.now() < deadline) {
        if ((await get(`${url}/sim/lag`)).count > TOKENS_PER_USER * users) return true;
        await sleep(200);
    }
    return false;
}

// trueTtfts(url): reads the TTFTs from simserve's record. Returns a function that returns a quantile of them, in ms.
async function trueTtfts(url) {
    const text = await (await fetch(`${url}/sim/truth?limit=1000000`)).text();
    const rows = text.split('\n').filter(Boolean).map(JSON.parse);
    const ttfts = rows.filter((row) => row.outcome === 'ok').map((row) => (row.first_write_ns - row.read_ns) / 1e6);
    ttfts.sort((a, b) => a - b);
    return (q) => ttfts[Math.max(0, Math.ceil(q * ttfts.length) - 1)] ?? NaN;
}

// measure(name, load, pin): returns {events, cpu, cost, p50, p99, truth50, truth99}: events per second, CPU in percent of a core, CPU
// microseconds per event, and TTFTs in ms; or a line that says why there are no figures.
export async function measure(name, load, pin) {
    const out = path.join(HOME, `${name}-out`);
    const log = openSync(`build/log/bench-load-${name}.log`, 'a');
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const [command, ...args] = [...pin, ...TOOLS[name].command, ...TOOLS[name].arguments(load, out).map(String)];
    const environment = { ...process.env, ...TOOLS[name].environment };
    const child = spawn(command, args, { stdio: ['ignore', log, log], env: environment, detached: true });
    const closed = new Promise((resolve) => child.once('close', resolve));
    const limit = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), BEGIN_MS + 10_000 * load.seconds);
    try {
        if (!(await hasBegun(load.url, load.users, child))) return `${name}: too few tokens came (see build/log/bench-load-${name}.log)`;
        await sleep(SETTLE_MS);
        const begun = nowNs();
        const used = cpuSeconds(child.pid);
        await sleep(1000 * (load.seconds - SETTLE_MS / 1000 - 2));
        const ended = nowNs();
        const cpu = cpuSeconds(child.pid) - used;
        const window = await get(`${load.url}/sim/summary?from_ns=${begun}&to_ns=${ended}`);
        if ((await closed) !== 0) return `${name}: failed (see build/log/bench-load-${name}.log)`;
        const seconds = Number(ended - begun) / 1e9;
        const truth = await trueTtfts(load.url);
        const { p50, p99 } = TOOLS[name].ttft(out);
        return {
            events: window.chunks_in_window / seconds,
            cpu: (100 * cpu) / seconds,
            cost: (1e6 * cpu) / window.chunks_in_window,
            ...{ p50, p99, truth50: truth(0.5), truth99: truth(0.99) },
        };
    } finally {
        clearTimeout(limit);
        if (child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    }
}
