// SPDX-License-Identifier: Apache-2.0
// Keeps the page that is shown up to date: the server names what changed, and <main> is asked for again.
// Without this script everything works but that, dropping files, and moving through a chart.
import { prepareCharts } from './marks.js';

const policy = window.trustedTypes?.createPolicy('opsbrain', { createHTML: (html) => html }) ?? { createHTML: (html) => html };
const RETRY_MS = 2000;
let source; // the stream of events, of the one tab that has it
let stale = false; // something changed while the page could not be replaced
let asking = false;

const main = () => document.getElementById('main');
const followed = () => (main().dataset.follows ?? '').split(' ').filter(Boolean);

// Somebody types into a form, or has chosen something in it.
const isEdited = () => main().contains(document.activeElement) && document.activeElement.matches('input, select, textarea');

// The same element of the new page, so that the keyboard stays where it was.
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

async function refresh() {
    if (asking || isEdited() || document.hidden) {
        stale = true;
        return;
    }
    asking = true;
    stale = false;
    try {
        const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
        if (answer.redirected) return location.assign(answer.url); // signed out
        if (!answer.ok) return;
        const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
        document.title = page.title;
        if (!isEdited()) replaceMain(document.adoptNode(page.getElementById('main')));
    } catch {
        stale = true; // the server is away: the stream says when it is back
    } finally {
        asking = false;
    }
}

// '*load' is not among the changes that '*' follows: it comes all the time.
function hear(names) {
    const follows = followed();
    if (follows.length === 0) return; // a form, say, that somebody fills in
    const changes = names.some((name) => name !== '*load');
    if (names.includes('*') || (changes && follows.includes('*')) || follows.some((name) => names.includes(name))) refresh();
}

// One tab of a browser has the stream and passes on what it hears: a browser opens few connections to one server.
const channel = new BroadcastChannel('opsbrain');
channel.onmessage = ({ data }) => hear(data);

function listen(release, again = false) {
    const mine = new EventSource('/events');
    const pass = (names) => {
        channel.postMessage(names);
        hear(names);
    };
    source = mine;
    mine.onmessage = ({ data }) => pass(JSON.parse(data));
    mine.onopen = () => again && pass(['*']); // what happened meanwhile is not known
    mine.onerror = () => {
        mine.close(); // by itself it would also ask the page where one signs in
        pass(['*']); // its person may have signed out
        setTimeout(() => source === mine && restart(release), RETRY_MS);
    };
}

function restart(release) {
    source = undefined;
    if (document.hidden) return release();
    listen(release, true);
}

let stop = () => {};

// Where locks do not exist (plain HTTP from another machine) each tab that is seen has a stream of its own.
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

// A file may be dropped anywhere on the form that takes one.
for (const form of document.querySelectorAll('form.drop')) {
    form.addEventListener('dragover', (event) => event.preventDefault());
    form.addEventListener('drop', (event) => {
        event.preventDefault();
        form.querySelector('input[type=file]').files = event.dataTransfer.files;
    });
}
