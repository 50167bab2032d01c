// SPDX-License-Identifier: Apache-2.0
// Runs other load generators against a model server. TOOLS has each tool's runs by name: how to start them, and the result
// files to expect.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const MODEL = 'simserve/toy';
export const INPUT_TOKENS = 64;
export const OUTPUT_TOKENS = 32;
const RUN_LIMIT_MS = 240_000;
const PYTHON_SETTINGS = { HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false' };

// A length distribution for inference-perf in which every length is `tokens`.
const always = (tokens) => ({ min: tokens, max: tokens, mean: tokens, std_dev: 0, total_count: 500 });

// Each of the following functions takes the options that differ between a tool's runs, and returns a function that makes a run's
// plan: {command, args, files}, and also `env` and `config` if the tool needs them. `files` matches the names of the result files
// in the folder.
const aiperf = (...options) => ({ url, tokenizer, folder }) => ({
    command: 'aiperf',
    env: { HF_HUB_OFFLINE: undefined }, // with HF_HUB_OFFLINE, aiperf does not accept a tokenizer from a folder
    args: ['profile', '--model', MODEL, '--url', url, '--streaming', '--tokenizer', tokenizer, '--ui', 'none',
        '--output-artifact-dir', folder, '--isl', INPUT_TOKENS, '--osl', OUTPUT_TOKENS, '--extra-inputs', 'ignore_eos:true', ...options],
    files: /^profile_export(_aiperf)?\.(jsonl?|csv)$/,
});

const guidellm = (...options) => ({ url, tokenizer, folder }) => ({
    command: 'guidellm',
    args: ['run', '--backend', `kind=openai_http,target=${url},model=${MODEL}`, '--tokenizer', `kind=huggingface_auto,model=${tokenizer}`,
        '--data', `kind=synthetic_text,prompt_tokens=${INPUT_TOKENS},output_tokens=${OUTPUT_TOKENS}`,
        '--output', `kind=json,path=${folder}/benchmarks.json`, '--disable-console', ...options],
    files: /\.json$/,
});

const inferencePerf = (stages) => ({ url, tokenizer, folder }) => ({
    command: 'inference-perf',
    config: {
        api: { type: 'completion', streaming: true },
        server: { type: 'vllm', model_name: MODEL, base_url: url, ignore_eos: true },
        tokenizer: { pretrained_model_name_or_path: tokenizer },
        data: { type: 'random', input_distribution: always(INPUT_TOKENS), output_distribution: always(OUTPUT_TOKENS) },
        load: { type: 'constant', interval: 1, num_workers: 1, stages },
        storage: { local_storage: { path: folder } },
        report: { request_lifecycle: { summary: true, per_stage: true, per_request: false } },
    },
    args: ['-c', `${folder}/config.yml`],
    files: /^stage_\d+_lifecycle_metrics\.json$/,
});

const sglang = (...options) => ({ url, tokenizer, folder, bin }) => ({
    command: 'python',
    args: [`${bin}/bench_serving.py`, '--backend', 'sglang-oai', '--base-url', url, '--model', MODEL, '--tokenizer', tokenizer,
        '--dataset-name', 'random-ids', '--random-input-len', INPUT_TOKENS, '--random-output-len', OUTPUT_TOKENS,
        '--random-range-ratio', '1.0', '--output-file', `${folder}/result.jsonl`, '--disable-tqdm', ...options],
    files: /^(result\.jsonl|console\.txt)$/,
});

const vllm = (...options) => ({ url, tokenizer, folder }) => ({
    command: 'vllm',
    args: ['bench', 'serve', '--backend', 'openai', '--base-url', url, '--endpoint', '/v1/completions', '--model', MODEL,
        '--tokenizer', tokenizer, '--dataset-name', 'random', '--random-input-len', INPUT_TOKENS, '--random-output-len', OUTPUT_TOKENS,
        '--ignore-eos', '--percentile-metrics', 'ttft,tpot,itl,e2el', '--metric-percentiles', '50,90,95,99',
        '--save-result', '--result-dir', folder, '--result-filename', 'result.json', '--disable-tqdm', ...options],
    files: /^(result\.json|console\.txt)$/,
});

export const TOOLS = {
    aiperf: {
        'one user': aiperf('--endpoint-type', 'completions', '--concurrency', 1, '--request-count', 100),
        '4 users': aiperf('--endpoint-type', 'completions', '--concurrency', 4, '--request-count', 120),
        'an open loop': aiperf('--endpoint-type', 'completions', '--request-rate', 20, '--request-count', 120),
        'even arrivals': aiperf('--endpoint-type', 'completions', '--request-rate', 15, '--arrival-pattern', 'constant', '--request-count', 100),
        'chat': aiperf('--endpoint-type', 'chat', '--concurrency', 2, '--request-count', 100),
    },
    guidellm: {
        '4 users': guidellm('--profile', 'kind=concurrent,streams=4', '--constraint', 'kind=max_requests,count=120'),
        'an open loop': guidellm('--profile', 'kind=constant,rate=20', '--constraint', 'kind=max_requests,count=120'),
        'one user': guidellm('--profile', 'kind=synchronous', '--constraint', 'kind=max_requests,count=100'),
    },
    'inference-perf': {
        'two stages': inferencePerf([{ rate: 10, duration: 11 }, { rate: 20, duration: 6 }]),
        'three stages': inferencePerf([{ rate: 12, duration: 10 }, { rate: 18, duration: 7 }, { rate: 24, duration: 5 }]),
    },
    sglang: {
        'one user': sglang('--num-prompts', 100, '--max-concurrency', 1),
        '4 users': sglang('--num-prompts', 120, '--max-concurrency', 4, '--output-details'),
        'an open loop': sglang('--num-prompts', 120, '--request-rate', 20),
        '16 users': sglang('--num-prompts', 320, '--max-concurrency', 16),
    },
    vllm: {
        'one user': vllm('--num-prompts', 100, '--max-concurrency', 1),
        '4 users': vllm('--num-prompts', 120, '--max-concurrency', 4),
        'an open loop': vllm('--num-prompts', 120, '--request-rate', 20),
        '16 users, with per-request details': vllm('--num-prompts', 320, '--max-concurrency', 16, '--save-detailed'),
        'goodput': vllm('--num-prompts', 120, '--max-concurrency', 2, '--goodput', 'ttft:500'),
    },
};

// runTool(bin, plan, folder) runs the tool in the folder, and returns its result files: [{name, bytes}].
export async function runTool(bin, { command, args, env, config, files }, folder) {
    await mkdir(folder, { recursive: true });
    if (config) await writeFile(path.join(folder, 'config.yml'), JSON.stringify(config)); // JSON is YAML
    const child = spawn(path.join(bin, command), args.map(String), {
        cwd: folder, env: { ...process.env, ...PYTHON_SETTINGS, ...env, PATH: `${bin}:${process.env.PATH}` },
        stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_LIMIT_MS,
    });
    let printed = '', errors = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => (printed += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk));
    const [code] = await once(child, 'close');
    await writeFile(path.join(folder, 'console.txt'), printed);
    if (code !== 0) throw new Error(`${command} exited with status ${code}: ${`${printed}\n${errors}`.slice(-2000)}`);
    const names = (await readdir(folder)).filter((name) => files.test(name)).sort();
    return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(path.join(folder, name)) })));
}
