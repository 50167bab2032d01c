// SPDX-License-Identifier: Apache-2.0
// Lets keys move through the marks of a chart (cells, points, moments): Tab stops at one mark in each chart, and the arrow
// keys move from mark to mark. The current mark's sentence, which is also its accessible name, is shown above the chart.

const SVG = 'http://www.w3.org/2000/svg';
const MARK = 'svg g[data-i]';
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const marksOf = (svg) => [...svg.querySelectorAll('g[data-i]')];
const sentenceOf = (mark) => mark.querySelector('title')?.textContent ?? '';

function addSentence(area) {
    const sentence = document.createElement('p');
    sentence.className = 'sentence small';
    sentence.ariaHidden = 'true'; // the focused mark has the same text as its name
    sentence.style.minHeight = '1.5em';
    if (area.previousElementSibling?.matches('.sentence')) area.previousElementSibling.remove();
    area.before(sentence);
}

// Prepares each chart below `root` that has marks. The parent of the chart's <svg> must be an element that scrolls.
export function prepareCharts(root) {
    for (const svg of root.querySelectorAll('svg')) {
        const marks = marksOf(svg);
        if (marks.length === 0) continue;
        svg.setAttribute('role', 'group');
        for (const mark of marks) {
            mark.setAttribute('role', 'img');
            mark.setAttribute('tabindex', mark === marks[0] ? '0' : '-1');
        }
        svg.parentElement.removeAttribute('tabindex'); // no tab stop of its own: a mark that gets the focus is scrolled into view
        addSentence(svg.parentElement);
    }
}

function rectangle(box, style) {
    const drawn = document.createElementNS(SVG, 'rect');
    for (const [name, value] of Object.entries(box)) drawn.setAttribute(name, value);
    drawn.style.cssText = style;
    return drawn;
}

// A ring around a mark, in two colours so that it stands out on any colour; for a moment, a vertical line.
function cursorOf(mark) {
    const { x, y, width, height } = mark.getBBox();
    const cursor = document.createElementNS(SVG, 'g');
    const around = { x: x - 2, y: y - 2, width: width + 4, height: height + 4, rx: 3 };
    cursor.setAttribute('class', 'cursor');
    cursor.setAttribute('pointer-events', 'none');
    if (mark.matches('.moment')) cursor.append(rectangle({ x: x + width / 2, y, width: 1, height }, 'fill:currentColor'));
    else
        cursor.append(
            rectangle(around, 'fill:none;stroke:var(--paper);stroke-width:6'),
            rectangle(around, 'fill:none;stroke:currentColor;stroke-width:2.5'),
        );
    return cursor;
}

function highlight(mark) {
    const svg = mark.ownerSVGElement;
    svg.querySelector('.cursor')?.remove();
    svg.append(cursorOf(mark));
    svg.parentElement.previousElementSibling.textContent = sentenceOf(mark);
}

const centreOf = (mark) => {
    const { x, y, width, height } = mark.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
};

// The nearest mark in this direction, where sideways distance counts four times; the mark itself if there is none.
function nextOf(mark, [dx, dy]) {
    const [x, y] = centreOf(mark);
    let best, least = Infinity;
    for (const other of marksOf(mark.ownerSVGElement)) {
        const [ox, oy] = centreOf(other);
        const ahead = (ox - x) * dx + (oy - y) * dy;
        const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
        if (ahead > 0.5 && ahead + 4 * aside < least) [best, least] = [other, ahead + 4 * aside];
    }
    return best ?? mark;
}

document.addEventListener('keydown', (event) => {
    const mark = event.target.closest?.(MARK);
    const direction = DIRECTIONS[event.key];
    if (!mark || !direction || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    nextOf(mark, direction).focus();
});

// In each chart, Tab returns to the mark that had the focus last.
document.addEventListener('focusin', ({ target }) => {
    const mark = target.closest?.(MARK);
    if (!mark) return;
    for (const other of marksOf(mark.ownerSVGElement)) other.setAttribute('tabindex', other === mark ? '0' : '-1');
    highlight(mark);
});

document.addEventListener('pointermove', ({ target }) => {
    const mark = target.closest?.(MARK);
    if (mark) highlight(mark);
});
