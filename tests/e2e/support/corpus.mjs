// SPDX-License-Identifier: Apache-2.0
// A conversation that calls every tool that agents see and that needs no cloud, some in several ways: typical answers.

const RECIPE = {
    name: 'ours', revision: 1, title: 'A model of ours', provider: 'kubernetes', engine: 'vllm', model: 'ours/small', image: 'vllm/vllm-openai:v0.23.0',
    port: 8000, weights: { from: 'hub', repository: 'ours/small' }, licence: { name: 'ours' }, status: 'reported', source: 'our cluster',
    as_of: '2026-11-21',
};

// converse(client, model): the answers, in order, as {name, args, result}. `client` is connected to an empty server; `model`
// is a simserve. Fails on the first call that is refused.
export async function converse(client, model) {
    const answers = [];
    const call = async (name, args = {}) => {
        const result = await client.callTool(name, args);
        if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
        answers.push({ name, args, result });
        return result.structuredContent;
    };
    const grid = { deployment: 'sim', concurrency: [1, 4], input_tokens: [16], output_tokens: [8], window_s: 1, warmup_limit_s: 1 };

    await call('deployment_register', { name: 'sim', url: model.url, hardware: '2xL4', labels: { team: 'search' } });
    await call('deployment_update', { deployment: 'sim', hardware: '4xL4' });
    await call('secret_bind', { secret: 'LAB', origin: model.url });
    await call('deployment_list');
    await call('deployment_show', { deployment: 'sim' });
    await call('model_show', { deployment: 'sim' });
    await call('model_health', { deployment: 'sim' });
    await call('model_query', { deployment: 'sim', prompt: 'Hello', max_tokens: 60 });
    await call('model_query', { deployment: 'sim', prompt: 'Hello', max_tokens: 60, stats: true });
    await call('metrics_show', { deployment: 'sim', interval_s: 0.2 });
    await call('metrics_watch', { deployment: 'sim', interval_s: 1 });
    await call('recipe_list', { provider: 'cloud_run', limit: 5 });
    await call('recipe_show', { recipe: 'run-gemma-4-12b-qat-l4', place: 'us-central1' });
    await call('recipe_import', { text: JSON.stringify(RECIPE) });
    await call('target_list');
    await call('fleet_list');
    await call('dataset_import', { name: 'chats', text: '{"prompt":"Why?","completion":"Because."}' });
    await call('dataset_list');
    await call('sweep_plan', { deployment: 'sim', concurrency: [1, 2], dataset: 'chats' });
    await call('sweep_plan', grid);
    const first = await call('sweep_start', grid);
    await call('job_show', { job: first.job });
    await call('sweep_show', { sweep: first.sweep.id });
    await call('lease_list');
    await call('job_show', { job: first.job, wait_s: 50 });
    await call('sweep_show', { sweep: first.sweep.id });
    const again = await call('sweep_start', { ...grid, seed: 2, repetitions: 2 });
    await call('job_show', { job: again.job, wait_s: 50 });
    await call('sweep_list');
    await call('job_list');
    const { runs } = await call('run_list');
    await call('run_show', { run: runs[0].id });
    await call('run_show', { run: runs[0].id, cell: 0 });
    await call('run_report', { run: runs[0].id });
    await call('run_audit', { run: runs[0].id });
    const sides = { baseline: [first.sweep.id], candidate: [again.sweep.id] };
    const plain = await call('run_compare', sides);
    const factors = (plain.differences ?? []).map((difference) => difference.fact);
    await call('run_compare', { ...sides, factors });
    await call('run_compare', { ...sides, factors, detail: true });
    const { content } = await call('run_export', { run: runs[0].id, format: 'vllm' });
    const { run: imported } = await call('run_import', { text: content, name: 'exported.jsonl' });
    await call('run_list');
    await call('run_show', { run: imported.id });
    await call('run_show', { run: imported.id, cell: 0 });
    await call('run_report', { run: imported.id });
    await call('run_audit', { run: imported.id });
    await call('run_chart', { run: imported.id });
    await call('run_chart', { run: first.sweep.id, plot: 'latency' });
    await call('metrics_history', { deployment: 'sim' });
    await call('metrics_history', { deployment: 'sim', metric: 'output_tokens_per_s', step_s: 1, minutes: 1 });
    const long = await call('sweep_start', { ...grid, window_s: 60 });
    await call('job_cancel', { job: long.job });
    await call('job_show', { job: long.job, wait_s: 20 });
    await call('sweep_resume', { sweep: long.sweep.id });
    await call('sweep_cancel', { sweep: long.sweep.id });
    await call('job_show', { job: long.sweep.id, wait_s: 20 });
    await call('audit_list');
    await call('audit_list', { tool: 'deployment_update' });
    await call('deployment_remove', { deployment: 'sim', confirm: 'sim' });
    return answers;
}
