// SPDX-License-Identifier: Apache-2.0
// Keeps the open page up to date: the server names what changed, and if the page follows one of these names (data-follows),
// it is requested again, and its <main> is replaced. Without this script the page shows new figures only when it is
// reloaded, a file can be dropped only on the file input, and keys do not move through a chart's marks.
import { prepareCharts } from './marks.js';

const policy = window.trustedTypes?.createPolicy('opsbrain', { createHTML: (html) => html }) ?? { createHTML: (html) => html };
const RETRY_MS = 2000; // before the first attempt to reopen the stream
const RETRY_MAX_MS = 60_000;
const PAUSE_MS = 5000; // between two requests for a page that follows everything, and after a request that failed
let source; // the stream of events, if this tab has it
let retryMs = RETRY_MS; // doubled each time the stream fails
let stale = false; // the page must be requested again
let requesting = false;
let requestedMs = -PAUSE_MS;
let timer; // of the next request for the page

const main = () => document.getElementById('main');
const followed = () => (main().dataset.follows ?? '').split(' ').filter(Boolean);

function isChanged(control) {
    if (control.options) return control.selectedIndex !== Math.max(0, [...control.options].findIndex((option) => option.defaultSelected));
    return control.value !== control.defaultValue || Boolean(control.checked) !== Boolean(control.defaultChecked);
}

// Whether an input has the focus, or has been changed but not sent.
const isEdited = () =>
    [...main().querySelectorAll('input, select, textarea')].some((control) => control === document.activeElement || isChanged(control));

// The element's counterpart in the new page, so that the focus stays where it was.
function twin(element, fresh) {
    const all = (root) => [...root.querySelectorAll('a, button, summary, [tabindex]')];
    return all(fresh)[all(main()).indexOf(element)];
}

function replaceMain(fresh) {
    const old = main();
    prepareCharts(fresh);
    const focused = old.contains(document.activeElement) ? twin(document.activeElement, fresh) : undefined;
    const opened = [...old.querySelectorAll('details')].map((details) => details.open);
    const scrolled = [...old.querySelectorAll('.scroll, figure')].map((area) => area.scrollLeft);
    fresh.querySelectorAll('details').forEach((details, i) => (details.open = opened[i] ?? details.open));
    old.replaceWith(fresh);
    fresh.querySelectorAll('.scroll, figure').forEach((area, i) => (area.scrollLeft = scrolled[i] ?? 0));
    focused?.focus({ preventScroll: true });
}

async function replace() {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (answer.redirected) return location.assign(answer.url); // the user has signed out
    if (answer.status === 429 || answer.status >= 500) throw new Error('busy');
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
    document.title = page.title;
    if (isEdited()) stale = true;
    else replaceMain(document.adoptNode(page.getElementById('main')));
}

function refreshIn(ms) {
    timer ??= setTimeout(() => {
        timer = undefined;
        refresh();
    }, ms);
}

async function refresh() {
    stale = true;
    if (requesting || isEdited() || document.hidden) return;
    const wait = followed().includes('*') ? requestedMs + PAUSE_MS - performance.now() : 0;
    if (wait > 0) return refreshIn(wait);
    requesting = true;
    stale = false;
    requestedMs = performance.now();
    try {
        await replace();
    } catch {
        return refreshIn(PAUSE_MS); // the server is busy or does not answer
    } finally {
        requesting = false;
    }
    if (stale) refresh(); // something changed meanwhile
}

// '*load' comes every few seconds, so it does not count as a change for a page that follows '*' but not '*load'.
function handleChanges(names) {
    const follows = followed();
    if (follows.length === 0) return; // for example a page with a form that somebody is filling in
    const changes = names.some((name) => name !== '*load');
    if (names.includes('*') || (changes && follows.includes('*')) || follows.some((name) => names.includes(name))) refresh();
}

// One tab has the stream and passes on what it receives, because a browser opens only a few connections to one server.
const channel = new BroadcastChannel('opsbrain');
channel.onmessage = ({ data }) => handleChanges(data);

function listen(release, again = false) {
    const stream = new EventSource('/events');
    const pass = (names) => {
        channel.postMessage(names);
        handleChanges(names);
    };
    source = stream;
    stream.onmessage = ({ data }) => pass(JSON.parse(data));
    stream.onopen = () => {
        retryMs = RETRY_MS;
        if (again) pass(['*']); // changes may have been missed
    };
    stream.onerror = () => {
        stream.close(); // it would reconnect by itself, without the growing pause
        pass(['*']); // the user may have signed out
        setTimeout(() => source === stream && restart(release), retryMs);
        retryMs = Math.min(2 * retryMs, RETRY_MAX_MS);
    };
}

function restart(release) {
    source = undefined;
    if (document.hidden) return release();
    listen(release, true);
}

let stop = () => {};

// Where navigator.locks is missing (plain HTTP from another machine), each visible tab whose page follows something has its own stream.
function start() {
    if (document.hidden || followed().length === 0) return;
    const waiting = new AbortController();
    const hold = () =>
        new Promise((release) => {
            stop = () => {
                source?.close();
                source = undefined;
                release();
            };
            listen(release);
        });
    stop = () => waiting.abort();
    if (navigator.locks) navigator.locks.request('opsbrain-events', { signal: waiting.signal }, hold).catch(() => {});
    else hold();
}

document.addEventListener('visibilitychange', () => {
    stop();
    stop = () => {};
    if (document.hidden) return;
    start();
    if (followed().length > 0) refresh();
});
document.addEventListener('focusout', () => setTimeout(() => stale && refresh()));
window.addEventListener('pagehide', () => stop());
window.addEventListener('pageshow', ({ persisted }) => persisted && start());
start();
prepareCharts(main());

// A file can be dropped anywhere on a form that takes one.
for (const form of document.querySelectorAll('form.drop')) {
    form.addEventListener('dragover', (event) => event.preventDefault());
    form.addEventListener('drop', (event) => {
        event.preventDefault();
        form.querySelector('input[type=file]').files = event.dataTransfer.files;
    });
}
