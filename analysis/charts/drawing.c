/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

#define TEXT_LIMIT 600 /* bytes of a text; the rest is omitted */

static const struct {
    const char *name;
    double size;
    enum font_weight weight;
} kinds[TEXT_KINDS] = {
    [TEXT_TITLE] = { "title", 15, FONT_SEMIBOLD },
    [TEXT_SUBTITLE] = { "subtitle", 11, FONT_REGULAR },
    [TEXT_BANNER] = { "banner", 11, FONT_SEMIBOLD },
    [TEXT_HEADING] = { "heading", 10.5, FONT_SEMIBOLD },
    [TEXT_TICK] = { "tick", 10.5, FONT_REGULAR },
    [TEXT_FIGURE] = { "figure", 10.5, FONT_REGULAR },
    [TEXT_WORD] = { "word", 10, FONT_SEMIBOLD },
    [TEXT_NAME] = { "name", 10.5, FONT_SEMIBOLD },
    [TEXT_NOTE] = { "note", 10, FONT_REGULAR },
};

const char *text_kind_name(enum text_kind kind)
{
    return kinds[kind].name;
}

double text_kind_size(enum text_kind kind)
{
    return kinds[kind].size;
}

enum font_weight text_kind_weight(enum text_kind kind)
{
    return kinds[kind].weight;
}

void drawing_init(struct drawing *drawing, double width, double height)
{
    *drawing = (struct drawing){ .width = width, .height = height };
}

void drawing_finish(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->count; i++) {
        free(drawing->shapes[i].spots);
        free(drawing->shapes[i].string);
    }
    free(drawing->shapes);
    free(drawing->taken);
    free(drawing->title);
    *drawing = (struct drawing){ 0 };
}

/* Appends the text, made printable and on one line. */
static void add_line(struct text *out, const char *string)
{
    text_add_printable(out, string, strlen(string), TEXT_LIMIT);
    for (size_t i = 0; i < out->length; i++)
        if (out->data[i] == '\n' || out->data[i] == '\t')
            out->data[i] = ' ';
}

void drawing_set_title(struct drawing *drawing, const char *title)
{
    TEXT_AUTO line = { 0 };

    add_line(&line, title);
    free(drawing->title);
    drawing->title = text_take(&line);
}

static struct shape *add(struct drawing *drawing, const struct shape *shape)
{
    if (drawing->count == drawing->capacity) {
        drawing->capacity = drawing->capacity > 0 ? 2 * drawing->capacity : 256;
        drawing->shapes =
            memory_resize(drawing->shapes, drawing->capacity, sizeof *drawing->shapes);
    }
    drawing->shapes[drawing->count] = *shape;
    return &drawing->shapes[drawing->count++];
}

static bool are_finite(const struct spot *spots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(spots[i].x) || !isfinite(spots[i].y))
            return false;
    return true;
}

static void add_spots(struct drawing *drawing, const struct spot *spots, size_t count,
                      struct shape shape)
{
    if (count == 0 || !are_finite(spots, count))
        return;
    shape.spots = memory_zeroed(count, sizeof *spots);
    memcpy(shape.spots, spots, count * sizeof *spots);
    shape.spot_count = count;
    add(drawing, &shape);
}

void drawing_rect(struct drawing *drawing, struct box box, double radius, struct style style)
{
    const struct shape shape = { .kind = SHAPE_RECT, .style = style, .box = box, .radius = radius };

    if (isfinite(box.x + box.y + box.width + box.height) && box.width > 0 && box.height > 0)
        add(drawing, &shape);
}

void drawing_path(struct drawing *drawing, const struct spot *spots, size_t count, bool closed,
                  struct style style)
{
    add_spots(drawing, spots, count,
              (struct shape){ .kind = SHAPE_PATH, .style = style, .closed = closed });
}

void drawing_segments(struct drawing *drawing, const struct spot *ends, size_t count,
                      struct style style)
{
    add_spots(drawing, ends, count, (struct shape){ .kind = SHAPE_SEGMENTS, .style = style });
}

void drawing_line(struct drawing *drawing, struct spot from, struct spot to, struct style style)
{
    const struct spot ends[] = { from, to };

    drawing_segments(drawing, ends, 2, style);
}

void drawing_circle(struct drawing *drawing, struct spot centre, double radius, struct style style)
{
    add_spots(drawing, &centre, 1,
              (struct shape){ .kind = SHAPE_CIRCLE, .style = style, .radius = radius });
}

/* ---- Texts ---- */

static double size_of(const struct label *label)
{
    return label->size > 0 ? label->size : kinds[label->kind].size;
}

/* Writes the label's text as it is shown: printable, and shortened to the label's `room`. */
static void write_shown(const struct label *label, struct text *out)
{
    TEXT_AUTO printable = { 0 };

    add_line(&printable, label->string);
    font_fit(text_string(&printable), size_of(label), kinds[label->kind].weight,
             label->room > 0 ? label->room : INFINITY, out);
}

static struct box box_of(const struct label *label, const char *shown)
{
    double size = size_of(label);
    double width = font_measure(shown, size, kinds[label->kind].weight);
    double before = label->anchor == ANCHOR_START    ? 0
                    : label->anchor == ANCHOR_MIDDLE ? width / 2
                                                     : width;

    if (label->upwards)
        return (struct box){ label->x - FONT_ASCENT * size, label->y - width + before,
                             (FONT_ASCENT + FONT_DESCENT) * size, width };
    return (struct box){ label->x - before, label->y - FONT_ASCENT * size, width,
                         (FONT_ASCENT + FONT_DESCENT) * size };
}

struct box drawing_label_box(const struct label *label)
{
    TEXT_AUTO shown = { 0 };

    write_shown(label, &shown);
    return box_of(label, text_string(&shown));
}

void drawing_keep_free(struct drawing *drawing, struct box box)
{
    if (drawing->taken_count == drawing->taken_capacity) {
        drawing->taken_capacity = drawing->taken_capacity > 0 ? 2 * drawing->taken_capacity : 64;
        drawing->taken =
            memory_resize(drawing->taken, drawing->taken_capacity, sizeof *drawing->taken);
    }
    drawing->taken[drawing->taken_count++] = box;
}

void drawing_text(struct drawing *drawing, const struct label *label)
{
    TEXT_AUTO shown = { 0 };
    const struct spot at = { label->x, label->y };

    write_shown(label, &shown);
    if (shown.length == 0 || !are_finite(&at, 1))
        return;
    drawing_keep_free(drawing, box_of(label, text_string(&shown)));
    add_spots(drawing, &at, 1,
              (struct shape){ .kind = SHAPE_TEXT,
                              .style = { .fill = label->paint },
                              .string = text_take(&shown),
                              .text_kind = label->kind,
                              .anchor = label->anchor,
                              .upwards = label->upwards,
                              .size = size_of(label) });
}

#define WORD_GAP 3

static bool overlap(const struct box *a, const struct box *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height
           && b->y < a->y + a->height;
}

static bool is_free(const struct drawing *drawing, const struct box *box)
{
    if (box->x < 0 || box->y < 0 || box->x + box->width > drawing->width
        || box->y + box->height > drawing->height)
        return false;
    for (size_t i = 0; i < drawing->taken_count; i++)
        if (overlap(box, &drawing->taken[i]))
            return false;
    return true;
}

bool drawing_text_if_free(struct drawing *drawing, const struct label *label)
{
    struct box box = drawing_label_box(label);

    if (!label->upwards) { /* words that touch would look like one word */
        box.x -= WORD_GAP;
        box.width += 2 * WORD_GAP;
    }
    if (!is_free(drawing, &box))
        return false;
    drawing_text(drawing, label);
    return true;
}

void drawing_group(struct drawing *drawing, const char *name, int64_t row, const char *words)
{
    TEXT_AUTO printable = { 0 };

    if (words != NULL)
        add_line(&printable, words);
    add(drawing, &(struct shape){ .kind = SHAPE_GROUP,
                                  .name = name,
                                  .row = row,
                                  .string = words != NULL ? text_take(&printable) : NULL });
}

void drawing_group_end(struct drawing *drawing)
{
    add(drawing, &(struct shape){ .kind = SHAPE_GROUP_END });
}
