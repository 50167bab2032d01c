// SPDX-License-Identifier: Apache-2.0
// The chart app. resource_chart_app.c puts web/assets/marks.js and this file into one script, in this order.

// The app's side of the MCP Apps protocol (version 2026-01-26): JSON-RPC with the host, over postMessage.
const host = window.parent;
const waiting = new Map();
let lastId = 0;

const send = (message) => host.postMessage({ jsonrpc: '2.0', ...message }, '*');
const notify = (method, params) => send({ method, params });
const request = (method, params) =>
    new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        send({ id: lastId, method, params });
    });

const handlers = {
    ping: () => ({}),
    'ui/resource-teardown': () => ({}),
    'ui/notifications/tool-input': ({ arguments: given }) => begin(given ?? {}),
    'ui/notifications/tool-cancelled': () => say('The call was cancelled.'),
    'ui/notifications/host-context-changed': takeContext,
};

window.addEventListener('message', ({ source, data }) => {
    if (source !== host || data?.jsonrpc !== '2.0') return;
    if (data.method === undefined) {
        const { resolve, reject } = waiting.get(data.id) ?? {};
        waiting.delete(data.id);
        if (data.error) reject?.(new Error(data.error.message));
        else resolve?.(data.result);
        return;
    }
    const handler = handlers[data.method];
    const result = handler?.(data.params ?? {});
    if (data.id === undefined) return;
    if (handler) send({ id: data.id, result: result ?? {} });
    else send({ id: data.id, error: { code: -32601, message: `there is no method ${data.method}` } });
});

// ---- The chart

const RUN_PLOTS = ['heat', 'latency', 'pareto', 'load', 'tail'];
const QUANTITIES = {
    heat: ['requests_per_s', 'output_tokens_per_s', 'total_tokens_per_s', 'goodput', 'ttft_p50_ms', 'ttft_p99_ms', 'itl_p50_ms', 'itl_p99_ms', 'tpot_p50_ms', 'e2e_p50_ms', 'e2e_p99_ms', 'e2e_mean_ms'],
    latency: ['ttft', 'itl', 'tpot', 'e2e'],
    tail: ['ttft', 'itl', 'tpot', 'e2e'],
};
const at = (id) => document.getElementById(id);
const figure = at('figure');
let chosen = null; // the arguments for chart_draw, with the options by name; null: the host has not sent any yet
let chartRequests = 0; // how many charts were requested: only the answer to the last request is shown

const say = (words) => { at('words').textContent = words; };

// Returns the options as an object, by name. Hosts pass either such an object or a list of name=value strings.
function optionsOf(given) {
    const pairs = (given ?? []).map?.((option) => [option.split('=')[0], option.slice(option.indexOf('=') + 1)]);
    return pairs ? Object.fromEntries(pairs) : { ...given };
}

function begin(given) {
    const { options, ...named } = given;
    chosen = { plot: 'heat', ...named, options: optionsOf(options) };
    showChoices();
    draw();
}

function fill(select, values, value) {
    select.replaceChildren(...values.map((name) => new Option(name || 'default', name, false, name === value)));
}

function showChoices() {
    const isOfRun = RUN_PLOTS.includes(chosen.plot);
    const quantities = QUANTITIES[chosen.plot];
    fill(at('plot'), isOfRun ? RUN_PLOTS : [chosen.plot], chosen.plot);
    fill(at('quantity'), ['', ...(quantities ?? [])], chosen.options.quantity ?? '');
    at('of-quantity').hidden = !quantities;
    at('of-minutes').hidden = chosen.plot !== 'history';
    at('minutes').value = String(chosen.options.minutes ?? 60);
    at('choices').hidden = !isOfRun && chosen.plot !== 'history';
}

async function draw() {
    const number = ++chartRequests;
    const { options, ...named } = chosen;
    const given = { ...options, dark: document.documentElement.classList.contains('dark') };
    say('Drawing.');
    try {
        const answer = await request('tools/call', {
            name: 'chart_draw',
            arguments: { ...named, options: Object.entries(given).map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`) },
        });
        if (number !== chartRequests) return;
        if (answer.isError) say(answer.content?.[0]?.text ?? 'The chart could not be drawn.');
        else show(answer.structuredContent.svg);
    } catch (error) {
        if (number === chartRequests) say(error.message);
    }
}

function show(svg) {
    const read = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    figure.replaceChildren(document.importNode(read, true));
    figure.tabIndex = 0;
    prepareCharts(figure);
    say(figure.querySelector('g[data-i]') ? 'Point at a mark, or move with the arrow keys.' : '');
    reportSize();
}

at('plot').addEventListener('change', ({ target }) => {
    chosen.plot = target.value;
    delete chosen.options.quantity;
    showChoices();
    draw();
});
for (const id of ['quantity', 'minutes'])
    at(id).addEventListener('change', ({ target }) => {
        if (target.value === '') delete chosen.options[id];
        else chosen.options[id] = target.value;
        draw();
    });

// ---- The host

function takeContext({ theme }) {
    const isDark = theme === 'dark';
    if (theme === undefined || isDark === document.documentElement.classList.contains('dark')) return;
    document.documentElement.classList.toggle('dark', isDark);
    if (chosen) draw();
}

function reportSize() {
    const { width, height } = document.documentElement.getBoundingClientRect();
    notify('ui/notifications/size-changed', { width: Math.ceil(width), height: Math.ceil(height) });
}

(async () => {
    const { hostContext } = await request('ui/initialize', {
        protocolVersion: '2026-01-26',
        appInfo: { name: 'opsbrain-chart', version: '1' },
        appCapabilities: {},
    });
    takeContext(hostContext ?? {});
    notify('ui/notifications/initialized', {});
    new ResizeObserver(reportSize).observe(document.documentElement);
})();
