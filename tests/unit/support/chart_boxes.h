/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the texts in the SVGs that our charts produce, computes their boxes, and checks the
 * conditions that every chart must meet. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/charts/chart.h"
#include "analysis/charts/scale.h"
#include "analysis/charts/svg.h"
#include "base/core/memory.h"

struct svg_text {
    char kind[16], string[1024];
    struct box box;
};

/* Finds `words` in the element's opening tag; returns NULL if they are not there. strstr would be
 * slow: under AddressSanitizer, each call reads the entire SVG. */
static inline const char *svg_find(const char *element, const char *words)
{
    return memmem(element, (size_t)(strchr(element, '>') - element), words, strlen(words));
}

/* Returns the number in an attribute of the element, or NAN if the element lacks the attribute. */
static inline double svg_number(const char *element, const char *name)
{
    char wanted[32];
    const char *found;

    snprintf(wanted, sizeof wanted, " %s=\"", name);
    found = svg_find(element, wanted);
    return found != NULL ? strtod(found + strlen(wanted), NULL) : NAN;
}

static inline bool svg_has(const char *element, const char *words)
{
    return svg_find(element, words) != NULL;
}

static inline void svg_unescape(const char *from, size_t length, char out[1024])
{
    static const char *const entities[][2] = {
        { "&amp;", "&" }, { "&lt;", "<" }, { "&gt;", ">" }, { "&quot;", "\"" }
    };
    size_t used = 0;

    for (size_t i = 0; i < length && used < 1000; i++) {
        out[used] = from[i];
        for (size_t e = 0; e < 4; e++)
            if (strncmp(from + i, entities[e][0], strlen(entities[e][0])) == 0) {
                out[used] = entities[e][1][0];
                i += strlen(entities[e][0]) - 1;
                break;
            }
        used++;
    }
    out[used] = '\0';
}

/* Reads a text element, and computes its box from the font's character widths. */
static inline void svg_text_read(const char *element, struct svg_text *out)
{
    const char *body = strchr(element, '>') + 1;
    const char *kind = svg_find(element, "class=\"t-") + 9;
    double size = svg_number(element, "font-size"), x = svg_number(element, "x"),
           y = svg_number(element, "y"), width, before;
    enum font_weight weight =
        svg_has(element, "font-weight=\"600\"") ? FONT_SEMIBOLD : FONT_REGULAR;

    snprintf(out->kind, sizeof out->kind, "%.*s", (int)strcspn(kind, " \""), kind);
    svg_unescape(body, (size_t)(strchr(body, '<') - body), out->string);
    width = font_measure(out->string, size, weight);
    before = svg_has(element, "\"middle\"") ? width / 2 : svg_has(element, "\"end\"") ? width : 0;
    out->box = svg_has(element, "rotate(-90")
                   ? (struct box){ x - FONT_ASCENT * size, y - width + before,
                                   (FONT_ASCENT + FONT_DESCENT) * size, width }
                   : (struct box){ x - before, y - FONT_ASCENT * size, width,
                                   (FONT_ASCENT + FONT_DESCENT) * size };
}

static inline size_t svg_texts(const struct text *svg, struct svg_text **out)
{
    size_t count = 0, capacity = 256;

    *out = memory_zeroed(capacity, sizeof **out);
    for (const char *at = strchr(svg->data, '<'); at != NULL; at = strchr(at + 1, '<')) {
        if (strncmp(at, "<text ", 6) != 0)
            continue;
        if (count == capacity)
            *out = memory_resize(*out, capacity *= 2, sizeof **out);
        svg_text_read(at, &(*out)[count++]);
    }
    return count;
}

#define SVG_BYTES_MAX 200000
#define ROUNDING 0.3 /* tolerance, since the SVG's coordinates are rounded to tenths */
#define EDGE 12      /* minimum distance between a text and the left or right edge */

static inline bool boxes_overlap(const struct box *a, const struct box *b)
{
    return a->x + ROUNDING < b->x + b->width && b->x + ROUNDING < a->x + a->width
           && a->y + ROUNDING < b->y + b->height && b->y + ROUNDING < a->y + a->height;
}

static inline void check_no_overlaps(const char *what, const struct svg_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (boxes_overlap(&texts[i].box, &texts[j].box))
                fail_msg("%s: \"%s\" at %.0f, %.0f overlaps \"%s\" at %.0f, %.0f", what,
                         texts[i].string, texts[i].box.x, texts[i].box.y, texts[j].string,
                         texts[j].box.x, texts[j].box.y);
}

/* ---- Lines through texts ---- */

#define CAPITAL 0.74 /* height of a capital letter or a digit, as a share of the font size */

/* Returns the part of a text's box between the baseline and the top of a capital letter. */
static inline struct box ink_of(const struct shape *text)
{
    const struct label label = { .kind = text->text_kind,
                                 .x = text->spots[0].x,
                                 .y = text->spots[0].y,
                                 .string = text->string,
                                 .anchor = text->anchor,
                                 .upwards = text->upwards,
                                 .size = text->size };
    struct box box = drawing_label_box(&label);
    double above = (FONT_ASCENT - CAPITAL) * text->size, below = FONT_DESCENT * text->size;

    return text->upwards
               ? (struct box){ box.x + above, box.y, box.width - above - below, box.height }
               : (struct box){ box.x, box.y + above, box.width, box.height - above - below };
}

/* Clips a segment along one axis (Liang-Barsky algorithm). *low and *high delimit a part of the
 * segment (0: the segment's start, 1: its end). Narrows this part to what lies between the edges
 * `least` and `most`. If nothing lies between them, *low >= *high afterwards. */
static inline void clip(double from, double step, double least, double most, double *low,
                        double *high)
{
    double enters = (least - from) / step, leaves = (most - from) / step;

    if (step == 0) {
        *high = from > least && from < most ? *high : -1;
        return;
    }
    *low = fmax(*low, fmin(enters, leaves));
    *high = fmin(*high, fmax(enters, leaves));
}

static inline bool segment_meets(struct spot a, struct spot b, const struct box *box)
{
    double low = 0, high = 1;

    clip(a.x, b.x - a.x, box->x + ROUNDING, box->x + box->width - ROUNDING, &low, &high);
    clip(a.y, b.y - a.y, box->y + ROUNDING, box->y + box->height - ROUNDING, &low, &high);
    return low < high;
}

static inline bool line_meets(const struct shape *line, const struct box *box)
{
    bool are_segments = line->kind == SHAPE_SEGMENTS;

    for (size_t i = 1; i < line->spot_count; i += are_segments ? 2 : 1)
        if (segment_meets(line->spots[i - 1], line->spots[i], box))
            return true;
    return line->closed && segment_meets(line->spots[line->spot_count - 1], line->spots[0], box);
}

static inline bool holds(const struct box *outer, const struct box *inner)
{
    return outer->x <= inner->x && outer->y <= inner->y
           && outer->x + outer->width >= inner->x + inner->width
           && outer->y + outer->height >= inner->y + inner->height;
}

/* Returns whether a circle touches the text that has this box. A ring (a circle without fill) is
 * allowed to surround a text, but must keep a distance of 2 units from all other texts. */
static inline bool circle_meets(const struct shape *circle, const struct box *box)
{
    bool is_ring = circle->style.fill == PAINT_NONE;
    double reach = circle->radius + (is_ring ? 2 : 0);
    const struct box outline = { circle->spots[0].x - reach, circle->spots[0].y - reach, 2 * reach,
                                 2 * reach };

    return !(is_ring && holds(&outline, box)) && boxes_overlap(&outline, box);
}

static inline bool is_line(const struct shape *shape)
{
    return (shape->kind == SHAPE_PATH || shape->kind == SHAPE_SEGMENTS)
           && shape->style.stroke != PAINT_NONE;
}

/* Returns whether a filled rectangle, drawn after the line and before the text, hides the line
 * where the text is. */
static inline bool is_covered(const struct drawing *drawing, size_t line, size_t text,
                              const struct box *ink)
{
    for (size_t i = line + 1; i < text; i++)
        if (drawing->shapes[i].kind == SHAPE_RECT && drawing->shapes[i].style.fill != PAINT_NONE
            && holds(&drawing->shapes[i].box, ink))
            return true;
    return false;
}

/* Returns whether the line is allowed to run through the text: the text is a figure, and the line
 * is a grid line, which is pale. */
static inline bool may_meet(const struct shape *text, const struct shape *line)
{
    return text->text_kind == TEXT_FIGURE && line->style.stroke == PAINT_RULE;
}

static inline void check_no_line_through_text(const char *what, const struct drawing *drawing)
{
    for (size_t t = 0; t < drawing->count; t++) {
        const struct shape *text = &drawing->shapes[t];
        struct box ink;

        if (text->kind != SHAPE_TEXT)
            continue;
        ink = ink_of(text);
        for (size_t i = 0; i < drawing->count; i++) {
            const struct shape *other = &drawing->shapes[i];

            if (other->kind == SHAPE_CIRCLE && circle_meets(other, &ink))
                fail_msg("%s: a circle touches \"%s\" at %.0f, %.0f", what, text->string, ink.x,
                         ink.y);
            if (is_line(other) && !may_meet(text, other) && line_meets(other, &ink)
                && !is_covered(drawing, i, t, &ink))
                fail_msg("%s: a line with paint %d runs through \"%s\" at %.0f, %.0f", what,
                         (int)other->style.stroke, text->string, ink.x, ink.y);
        }
    }
}

/* ---- The crosses that mark failures ---- */

static inline struct box box_of_lines(const struct shape *lines)
{
    double left = INFINITY, right = 0, top = INFINITY, bottom = 0;

    for (size_t i = 0; i < lines->spot_count; i++) {
        left = fmin(left, lines->spots[i].x);
        right = fmax(right, lines->spots[i].x);
        top = fmin(top, lines->spots[i].y);
        bottom = fmax(bottom, lines->spots[i].y);
    }
    return (struct box){ left, top, right - left, bottom - top };
}

/* Checks that the crosses that mark failures touch neither each other nor any other line, except
 * grid lines. */
static inline void check_failures_are_clear(const char *what, const struct drawing *drawing)
{
    for (size_t i = 0; i + 1 < drawing->count; i++) {
        const struct shape *group = &drawing->shapes[i], *cross = group + 1;
        struct box box;

        if (group->kind != SHAPE_GROUP || strcmp(group->name, "failure") != 0)
            continue;
        box = box_of_lines(cross);
        for (size_t s = 0; s < drawing->count; s++) {
            const struct shape *shape = &drawing->shapes[s];

            if (shape != cross && is_line(shape) && shape->style.stroke != PAINT_RULE
                && line_meets(shape, &box))
                fail_msg("%s: a line with paint %d touches a failure's cross at %.0f, %.0f", what,
                         (int)shape->style.stroke, box.x, box.y);
        }
    }
}

/* ---- Edges, figures and markup ---- */

static inline void check_no_clipped_text(const char *what, const struct chart *chart,
                                         const struct svg_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct box *box = &texts[i].box;

        if (box->x < EDGE - ROUNDING || box->y < -ROUNDING
            || box->x + box->width > chart->drawing.width - EDGE + ROUNDING
            || box->y + box->height > chart->drawing.height + ROUNDING)
            fail_msg("%s: \"%s\" at %.0f, %.0f is too near the edge of the %.0f x %.0f chart", what,
                     texts[i].string, box->x, box->y, chart->drawing.width, chart->drawing.height);
    }
}

/* The numbers in the chart's table, each in both forms in which a chart can show it. */
struct drawn_numbers {
    char (*at)[SCALE_NUMBER_SIZE]; /* sorted */
    size_t count;
};

static inline int drawn_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static inline struct drawn_numbers drawn_numbers_of(const struct chart_table *table)
{
    struct drawn_numbers drawn = { memory_zeroed(2 * table->count + 1, SCALE_NUMBER_SIZE), 0 };

    for (size_t i = 0; i < table->count; i++) {
        if (table->values[i].string != NULL || !isfinite(table->values[i].number))
            continue;
        scale_number(table->values[i].number, drawn.at[drawn.count++]);
        scale_exact(table->values[i].number, drawn.at[drawn.count++]);
    }
    qsort(drawn.at, drawn.count, SCALE_NUMBER_SIZE, drawn_compare);
    return drawn;
}

static inline bool is_drawn(const struct drawn_numbers *drawn, const char *word)
{
    char wanted[SCALE_NUMBER_SIZE];

    snprintf(wanted, sizeof wanted, "%s", word);
    return strlen(word) < sizeof wanted
           && bsearch(wanted, drawn->at, drawn->count, SCALE_NUMBER_SIZE, drawn_compare) != NULL;
}

/* Checks that texts of the kind "figure" contain only numbers from the chart's table. */
static inline void check_figures_are_known(const char *what, const struct chart *chart,
                                           const struct svg_text *texts, size_t count)
{
    struct drawn_numbers drawn = drawn_numbers_of(&chart->table);

    for (size_t i = 0; i < count; i++) {
        char string[1024], *rest, *word;

        if (strcmp(texts[i].kind, "figure") != 0)
            continue;
        snprintf(string, sizeof string, "%s", texts[i].string);
        for (word = strtok_r(string, " [],;", &rest); word != NULL;
             word = strtok_r(NULL, " [],;", &rest))
            if (!is_drawn(&drawn, word))
                fail_msg("%s: \"%s\" is not in the table", what, texts[i].string);
    }
    free(drawn.at);
}

static inline void check_well_formed(const char *what, const struct text *svg)
{
    int depth = 0;

    assert_true(text_is_utf8(svg->data, svg->length));
    for (size_t i = 0; i < svg->length; i++)
        assert_true((unsigned char)svg->data[i] >= ' ' || svg->data[i] == '\n');
    if (strstr(svg->data, "nan") != NULL && strstr(svg->data, "\"nan") != NULL)
        fail_msg("%s has a coordinate that is not a number", what);
    for (const char *at = strchr(svg->data, '<'); at != NULL; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');

        assert_non_null(end);
        assert_true(memchr(at + 1, '<', (size_t)(end - at - 1)) == NULL);
        depth += at[1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
        assert_true(depth >= 0);
    }
    assert_int_equal(depth, 0);
}

/* Checks all conditions for a chart. `what`: its name in failure messages. */
static inline void chart_is_sound(const char *what, const struct chart *chart)
{
    TEXT_AUTO svg = { 0 };
    struct svg_text *texts;
    size_t count;

    svg_write(&chart->drawing, SVG_CLASSES, &svg);
    if (svg.length > SVG_BYTES_MAX)
        fail_msg("%s has %zu bytes, more than %d", what, svg.length, SVG_BYTES_MAX);
    check_well_formed(what, &svg);
    count = svg_texts(&svg, &texts);
    assert_true(count >= 1);
    check_no_clipped_text(what, chart, texts, count);
    check_no_overlaps(what, texts, count);
    check_no_line_through_text(what, &chart->drawing);
    check_failures_are_clear(what, &chart->drawing);
    check_figures_are_known(what, chart, texts, count);
    free(texts);
}
