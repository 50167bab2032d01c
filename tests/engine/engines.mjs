// SPDX-License-Identifier: Apache-2.0
// Starts real inference engines, each with a tiny model, and the proxies in front of them. `./run engine`
// installs them: nginx as a package, all others below build/engine. The logs are in build/log.
import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { atEnd, freePort, temporaryFolder, until } from '../e2e/support/harness.mjs';

const HOME = path.resolve('build/engine');
const HERE = import.meta.dirname;
const START_MS = 300_000; // vLLM's imports take a minute even on an idle machine
export const MODEL = 'tiny';

const python = (environment) => path.join(HOME, environment, 'bin/python');

// has(name): whether the engine or proxy is installed.
export const has = (name) => existsSync(path.join(HOME, name, 'complete')) || existsSync(`/usr/sbin/${name}`);

async function answers(url) {
    return (await fetch(url).catch(() => ({}))).ok;
}

// Starts a program in a process group of its own, which is terminated when the test ends; waits until the program is ready.
async function start(t, name, file, args, { env = {}, url, ready }) {
    await mkdir('build/log', { recursive: true });
    const log = openSync(`build/log/engine-${name}.log`, 'a');
    const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', log, log], detached: true });
    const ended = new Promise((resolve) => child.on('close', resolve));
    let over = false;
    ended.then(() => (over = true));
    atEnd(t, async () => {
        if (!over) process.kill(-child.pid, 'SIGTERM');
        const killer = setTimeout(() => over || process.kill(-child.pid, 'SIGKILL'), 5000);
        await ended;
        clearTimeout(killer);
    });
    await until(
        `${name} to be ready (see build/log/engine-${name}.log)`,
        () => {
            if (over) throw new Error(`${name} ended: see build/log/engine-${name}.log`);
            return answers(url + ready);
        },
        START_MS,
    );
    return { name, url, port: Number(new URL(url).port), pid: child.pid };
}

async function startLlama(t) {
    const port = await freePort();
    const args = [path.join(HERE, 'llama_server.py'), path.join(HOME, 'tiny.gguf'), String(port)];
    return start(t, 'llama', python('llama'), args, { url: `http://127.0.0.1:${port}`, ready: '/health' });
}

async function startVllm(t) {
    const port = await freePort();
    const args = ['serve', path.join(HOME, 'tiny-hf'), '--served-model-name', MODEL, '--host', '127.0.0.1'];
    args.push('--port', String(port), '--max-model-len', '4096', '--dtype', 'bfloat16', '--enforce-eager');
    args.push('--max-num-seqs', '16');
    const env = {
        VLLM_CPU_KVCACHE_SPACE: '1',
        VLLM_CPU_OMP_THREADS_BIND: 'nobind',
        OMP_NUM_THREADS: '1',
        VLLM_NO_USAGE_STATS: '1',
        HF_HUB_OFFLINE: '1',
    };
    return start(t, 'vllm', path.join(HOME, 'vllm/bin/vllm'), args, {
        env,
        url: `http://127.0.0.1:${port}`,
        ready: '/health',
    });
}

// For each engine: its title, how it is started, and the name of its counter of output tokens.
export const ENGINES = {
    llama: { title: 'llama-server', start: startLlama, counter: 'llamacpp:tokens_predicted_total' },
    vllm: { title: 'vLLM on CPU', start: startVllm, counter: 'vllm:generation_tokens_total' },
};

// startNginx(t, engines): starts nginx, which forwards requests to the engines in turn. nginx opens a new connection for each
// request (its default): if it reused a connection that llama-server had just closed, it would answer a POST with status 502.
export async function startNginx(t, engines) {
    const folder = await temporaryFolder(t);
    const port = await freePort();
    const servers = engines.map((engine) => `server 127.0.0.1:${engine.port};`).join(' ');
    const file = path.join(folder, 'nginx.conf');
    await writeFile(
        file,
        `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
    uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
    upstream engines { ${servers}}
    server {
        listen 127.0.0.1:${port};
        location / {
            proxy_pass http://engines; proxy_http_version 1.1;
            proxy_buffering off; proxy_read_timeout 300s;
        }
    }
}
`,
    );
    return start(t, 'nginx', '/usr/sbin/nginx', ['-c', file, '-e', 'stderr'], {
        url: `http://127.0.0.1:${port}`,
        ready: '/health',
    });
}

// startLitellm(t, engine): starts LiteLLM's proxy in front of one engine, whose metrics it passes on.
export async function startLitellm(t, engine) {
    const folder = await temporaryFolder(t);
    const port = await freePort();
    const file = path.join(folder, 'litellm.yaml');
    await writeFile(
        file,
        `model_list:
  - model_name: ${MODEL}
    litellm_params: {model: hosted_vllm/${MODEL}, api_base: "${engine.url}/v1", api_key: none}
general_settings:
  dangerously_permit_weak_or_unset_master_key: true
  pass_through_endpoints:
    - {path: /metrics, target: "${engine.url}/metrics"}
`,
    );
    const args = ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'];
    return start(t, 'litellm', path.join(HOME, 'litellm/bin/litellm'), args, {
        env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', NO_DOCS: 'True' },
        url: `http://127.0.0.1:${port}`,
        ready: '/health/liveliness',
    });
}
