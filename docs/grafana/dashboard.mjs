// SPDX-License-Identifier: Apache-2.0
// Writes the Grafana dashboard for opsbrain itself, from the tables below:
//     node docs/grafana/dashboard.mjs >docs/grafana/opsbrain.json
// tests/e2e/grafana.test.mjs compares the metrics and labels in the dashboard with those that /metrics serves.

const GRID_WIDTH = 24;
const STAT_HEIGHT = 4;
const LINES_HEIGHT = 7;

// Each row has a heading and its panels. A panel has a title, a unit, and a query and a name for each line.
const ROWS = [
    ['State', [
        stat('Version', 'short', 'opsbrain_info', '{{version}}'),
        stat('Data folder intact', 'bool', 'opsbrain_data_folder_intact'),
        stat('Audit log intact', 'bool', 'opsbrain_audit_whole'),
        stat('Clock ahead', 's', 'opsbrain_clock_ahead_seconds'),
    ]],
    ['Work', [
        lines('Jobs running here', 'short', ['opsbrain_jobs_running', 'running']),
        lines('Jobs by state', 'short', ['opsbrain_jobs', '{{state}}']),
        lines('Waiting, by queue', 'short', ['opsbrain_queue_depth', '{{queue}}']),
    ]],
    ['Calls', [
        lines('Requests by status', 'reqps', ['sum by (status) (rate(opsbrain_requests_total[$__rate_interval]))', '{{status}}']),
        lines('Busiest tools', 'reqps', ['topk(8, sum by (tool) (rate(opsbrain_requests_total{tool!=""}[$__rate_interval])))', '{{tool}}']),
        lines('Tool errors', 'reqps', ['sum by (tool) (rate(opsbrain_tool_errors_total[$__rate_interval]))', '{{tool}}']),
        lines('Request duration', 's', ...[0.5, 0.99].map((share) => [
            `histogram_quantile(${share}, sum by (le) (rate(opsbrain_request_seconds_bucket[$__rate_interval])))`,
            `p${share * 100}`,
        ])),
        lines('Charts as PNG', 'reqps', ['rate(opsbrain_pictures_total[$__rate_interval])', '{{source}}']),
    ]],
    ['Connections', [
        lines('Requests in flight', 'short', ['opsbrain_requests_in_flight', 'in flight']),
        lines('Connections and streams', 'short', ['opsbrain_connections_open', 'connections'], ['opsbrain_streams_open', 'event streams']),
        lines('Sessions', 'short', ['opsbrain_sessions', 'sessions']),
    ]],
    ['Resources', [
        lines('Data folder disk', 'bytes', ['opsbrain_disk_free_bytes', 'free'], ['opsbrain_disk_reserve_bytes', 'reserve']),
        lines('Database', 'bytes', ['opsbrain_database_bytes', 'files']),
        lines('Memory', 'bytes', ['process_resident_memory_bytes', 'resident'], ['opsbrain_pictures_bytes', 'charts kept']),
        lines('Processor', 'percentunit', ['rate(process_cpu_seconds_total[$__rate_interval])', 'cores']),
        lines('Open files', 'short', ['process_open_fds', 'descriptors']),
    ]],
];

// Marks on every panel: when jobs were running, and when a deployment was changed.
const ANNOTATIONS = [
    ['Jobs', 'opsbrain_jobs_running > 0', 'blue', 'a job is running'],
    ['Deployments', 'sum by (tool) (increase(opsbrain_requests_total{tool=~"deployment_(register|update|remove)",status="2xx"}[$__interval])) > 0', 'orange', '{{tool}}'],
];

function lines(title, unit, ...queries) {
    return { type: 'timeseries', title, unit, queries };
}

function stat(title, unit, query, name = '') {
    return { type: 'stat', title, unit, queries: [[query, name]] };
}

const source = { type: 'prometheus', uid: '${datasource}' };

const panelOf = ({ type, title, unit, queries }, gridPos, id) => ({
    id,
    type,
    title,
    datasource: source,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: type === 'stat' ? { textMode: unit === 'short' ? 'name' : 'value', reduceOptions: { calcs: ['lastNotNull'] } } : { tooltip: { mode: 'multi' } },
    targets: queries.map(([expr, legendFormat], i) => ({
        refId: String.fromCharCode(65 + i),
        datasource: source,
        expr: scoped(expr),
        legendFormat,
    })),
});

// Limits a query to the instances that are chosen at the top of the dashboard.
function scoped(expr) {
    return expr.replace(/\b((?:opsbrain|process)_[a-z_]+)(?:\{([^}]*)\})?/g, (_, name, labels) => `${name}{instance=~"$instance"${labels ? `,${labels}` : ''}}`);
}

function panelsOf(rows) {
    const panels = [];
    let y = 0;
    for (const [title, row] of rows) {
        panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos: { x: 0, y: y++, w: GRID_WIDTH, h: 1 }, panels: [] });
        const height = row[0].type === 'stat' ? STAT_HEIGHT : LINES_HEIGHT;
        const width = Math.floor(GRID_WIDTH / row.length);
        row.forEach((panel, i) => panels.push(panelOf(panel, { x: i * width, y, w: width, h: height }, panels.length + 1)));
        y += height;
    }
    return panels;
}

const annotationOf = ([name, expr, iconColor, titleFormat]) => ({
    name,
    datasource: source,
    enable: true,
    iconColor,
    expr: scoped(expr),
    titleFormat,
    step: '60s',
    useValueForTime: false,
});

export const dashboard = {
    uid: 'opsbrain',
    title: 'opsbrain',
    description: 'The opsbrain server itself, from its own /metrics. For the model servers, see its tools and pages.',
    tags: ['opsbrain'],
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'utc',
    templating: {
        list: [
            { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
            {
                name: 'instance',
                label: 'Server',
                type: 'query',
                datasource: source,
                query: { query: 'label_values(opsbrain_info, instance)', refId: 'instance' },
                refresh: 2,
                includeAll: true,
                multi: true,
                current: { text: 'All', value: '$__all' },
            },
        ],
    },
    annotations: { list: ANNOTATIONS.map(annotationOf) },
    panels: panelsOf(ROWS),
};

if (process.argv[1] === import.meta.filename) console.log(JSON.stringify(dashboard, null, 2));
