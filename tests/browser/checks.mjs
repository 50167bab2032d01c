// SPDX-License-Identifier: Apache-2.0
// The checks that every page must pass. Each check...() returns a list of sentences that say what is wrong and where.
import axe from 'axe-core';

const WIDTHS = [320, 1280];
const SCHEMES = ['light', 'dark'];
const TRIES = 3;
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

// At both widths, the page is no wider than the window, and axe finds no faults (contrast is not checked there). In both themes,
// all text outside drawings has enough contrast.
export async function checkLooks(page) {
    const wrong = [];
    await page.evaluate(axe.source);
    for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const found = [...(await widerThanWindow(page)), ...(await violations(page, STRUCTURE))];
        wrong.push(...found.map((sentence) => `${width} px: ${sentence}`));
    }
    for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        wrong.push(...(await violations(page, CONTRAST)).map((sentence) => `${colorScheme}: ${sentence}`));
    }
    return wrong;
}

// axe does not know what is behind the text in a drawing; test_palette computes the contrast there.
const CONTRAST = { context: { exclude: ['svg'] }, options: { runOnly: { type: 'rule', values: ['color-contrast'] } } };
const STRUCTURE = {
    context: {},
    options: { runOnly: { type: 'tag', values: STANDARDS }, rules: { 'color-contrast': { enabled: false } } },
};

function widerThanWindow(page) {
    return page.evaluate(() => {
        const { scrollWidth } = document.documentElement;
        if (scrollWidth <= innerWidth) return [];
        const isInScrollArea = (element) => element.closest('.scroll, figure, pre, [class*=scroll]');
        const tooWide = [...document.querySelectorAll('body *')]
            .filter((element) => element.getBoundingClientRect().right > innerWidth && !isInScrollArea(element))
            .map((element) => `<${element.localName} class="${element.getAttribute('class') ?? ''}">`);
        return [`${scrollWidth} px wide: ${tooWide.slice(0, 5).join(' ')}`];
    });
}

async function violations(page, { context, options }) {
    const found = await page.evaluate(
        ([context, options]) => globalThis.axe.run(context, { ...options, resultTypes: ['violations'] }),
        [{ include: [['html']], ...context }, options],
    );
    return found.violations.flatMap(({ id, help, nodes }) =>
        nodes.slice(0, 3).map(({ html, any }) => `axe ${id}: ${help}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
    );
}

// Untrusted text is shown only as text: it has created no elements, and no URLs that run code. Text outside scripts has no control
// characters except tabs and line feeds, and no characters that change the direction of the text around them.
export function checkForeignText(page) {
    return page.evaluate(() => {
        const wrong = [];
        const origin = location.origin;
        for (const element of document.querySelectorAll('*')) {
            for (const { name, value } of element.attributes) {
                if (/^on/i.test(name)) wrong.push(`${element.localName} has ${name}`);
                if (/^(href|src|action|formaction|xlink:href|data)$/i.test(name) && /^\s*(javascript|data|vbscript):/i.test(value))
                    wrong.push(`${element.localName} has ${name}="${value.slice(0, 60)}"`);
            }
            if (element.localName === 'script' && !(element.src.startsWith(`${origin}/assets/`) || element.type === 'application/json'))
                wrong.push(`a script: ${element.outerHTML.slice(0, 80)}`);
            if (['iframe', 'object', 'embed', 'base'].includes(element.localName)) wrong.push(`a ${element.localName}`);
        }
        for (const image of document.querySelectorAll('img'))
            if (!image.src.startsWith(`${origin}/`)) wrong.push(`an image: ${image.outerHTML.slice(0, 80)}`);
        const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
        const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const { data, parentElement } = texts.currentNode;
            const control = parentElement.localName === 'script' ? null : data.match(controls);
            if (control) wrong.push(`U+${control[0].charCodeAt(0).toString(16)} in <${parentElement.localName}>: ${data.slice(0, 80)}`);
        }
        return wrong;
    });
}

// With Tab alone, each control can be reached and shows that it has the focus, and on a page with a navigation bar the first stop
// is the link that skips to the content. If this fails and the content was replaced meanwhile, as can happen during a sweep, the
// page is reloaded and checked again, at most TRIES times in all.
export async function checkKeyboard(page) {
    await page.setViewportSize({ width: 1280, height: 800 });
    for (let tries = 1; ; tries++) {
        await page.evaluate(() => (window.tried = document.getElementById('main')));
        const wrong = await pressThrough(page);
        const isReplaced = await page.evaluate(() => window.tried !== document.getElementById('main'));
        if (wrong.length === 0 || !isReplaced || tries === TRIES) return wrong;
        await page.reload();
    }
}

async function pressThrough(page) {
    const controls = await page.evaluate(listControls, CONTROLS);
    const hasNavigation = (await page.locator('nav').count()) > 0;
    const wrong = [];
    const reached = new Set();
    for (let presses = 0; presses < controls.length + 100; presses++) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate(describeFocus, CONTROLS);
        if (focused === null || reached.has(focused.number)) break;
        if (presses === 0 && hasNavigation && !focused.isSkipLink)
            wrong.push(`the first Tab reaches ${focused.markup}, not the link to the content`);
        if (!focused.isSeen) wrong.push(`focus cannot be seen on ${focused.markup}`);
        reached.add(focused.number);
    }
    for (const { number, markup } of controls) if (!reached.has(number)) wrong.push(`Tab does not reach ${markup}`);
    return wrong;
}

const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';

// Returns the controls at which Tab stops. They are identified by their number on the page, since a page that updates itself
// replaces its elements. Radio buttons with the same name count as one control.
function listControls(selector) {
    const radios = new Set();
    const stops = (element) => {
        if (element.disabled || element.tabIndex < 0 || !element.checkVisibility({ visibilityProperty: true })) return false;
        if (element.type !== 'radio') return true;
        const { name, form } = element;
        const checked = form?.querySelector(`input[type=radio][name="${name}"]:checked`);
        if ((checked && checked !== element) || radios.has(name)) return false;
        return radios.add(name);
    };
    return [...document.querySelectorAll(selector)]
        .map((element, number) => ({ element, number, markup: element.outerHTML.slice(0, 120) }))
        .filter(({ element }) => stops(element))
        .map(({ number, markup }) => ({ number, markup }));
}

function describeFocus(selector) {
    const element = document.activeElement;
    if (element === null || element === document.body) return null;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    const inside = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
    return {
        number: [...document.querySelectorAll(selector)].indexOf(element),
        markup: element.outerHTML.slice(0, 120),
        isSkipLink: element.matches('a[href="#main"]'),
        isSeen: inside && box.width > 0 && (outlined || style.boxShadow !== 'none'),
    };
}

// shownText(page): the text of <main>, with every number replaced with 0, since numbers can change between two calls.
export async function shownText(page) {
    const text = await page.locator('main').innerText();
    return text.replace(/\d+([.,:]\d+)*/g, '0').replace(/\s+/g, ' ').trim();
}
