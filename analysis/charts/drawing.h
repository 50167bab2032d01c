/* SPDX-License-Identifier: Apache-2.0 */
/* A picture as a list of six kinds of shapes: rect, path, segments, circle, text, group. Charts add
 * shapes; svg.h and raster.h write the list. Coordinates are from the top left, in units of 1/96
 * inch. A shape with a coordinate that is not finite is not added, nor is a rect without area, an
 * empty text, or a path or segments without spots. */
#pragma once

#include "analysis/charts/font.h"
#include "analysis/charts/palette.h"

struct spot {
    double x, y;
};
struct box {
    double x, y, width, height;
};

struct style {
    enum paint fill, stroke; /* PAINT_NONE: none */
    double width;            /* of the stroke */
    bool dashed;
};

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* The kind of a text decides its weight, its class in an SVG and, unless the label states a size,
 * its size. */
enum text_kind {
    TEXT_TITLE,
    TEXT_SUBTITLE,
    TEXT_BANNER,  /* warnings that many cells have */
    TEXT_HEADING, /* of an axis, a column, a panel */
    TEXT_TICK,    /* a value of an axis */
    TEXT_FIGURE,  /* a figure of the data */
    TEXT_WORD,    /* text in place of a figure */
    TEXT_NAME,    /* of a series */
    TEXT_NOTE,
    TEXT_KINDS,
};
const char *text_kind_name(enum text_kind kind);
double text_kind_size(enum text_kind kind);
enum font_weight text_kind_weight(enum text_kind kind);

struct label {
    enum text_kind kind;
    double x, y; /* of the anchor, on the baseline */
    const char *string;
    enum paint paint;
    enum anchor anchor;
    bool upwards; /* the line of text runs from bottom to top */
    double room;  /* a wider text is shortened to this width; 0: it is not shortened */
    double size;  /* 0: the size of its kind */
};

enum shape_kind {
    SHAPE_RECT,
    SHAPE_PATH,
    SHAPE_SEGMENTS,
    SHAPE_CIRCLE,
    SHAPE_TEXT,
    SHAPE_GROUP,
    SHAPE_GROUP_END,
};

struct shape {
    enum shape_kind kind;
    struct style style;
    struct box box; /* of a rect */
    double radius;  /* of a circle, or a rect's corners */
    /* The corners of a path, both ends of each segment, or the place of a circle or text; heap. */
    struct spot *spots;
    size_t spot_count;
    bool closed; /* of a path */
    /* of a text */
    char *string; /* heap; of a group: what it shows, in words, or NULL */
    enum text_kind text_kind;
    enum anchor anchor;
    bool upwards;
    double size;
    /* of a group */
    const char *name; /* static */
    /* The index of the row of the chart's table that the group shows; in a history, the Unix time
     * in milliseconds; -1: none. */
    int64_t row;
};

struct drawing {
    double width, height;
    char *title; /* heap; what the picture shows */
    struct shape *shapes;
    size_t count, capacity;
    /* The boxes that drawing_text_if_free leaves free: those of all texts, and those of
     * drawing_keep_free; heap. */
    struct box *taken;
    size_t taken_count, taken_capacity;
};
#define DRAWING_AUTO __attribute__((cleanup(drawing_finish))) struct drawing

void drawing_init(struct drawing *drawing, double width, double height);
void drawing_finish(struct drawing *drawing);
/* Sets the text that tells people who cannot see the picture what it shows. All texts of a drawing
 * are made printable, and put on one line each. */
void drawing_set_title(struct drawing *drawing, const char *title);

void drawing_rect(struct drawing *drawing, struct box box, double radius, struct style style);
/* Copies the spots. */
void drawing_path(struct drawing *drawing, const struct spot *spots, size_t count, bool closed,
                  struct style style);
/* `ends`: `count` spots, two for each segment. */
void drawing_segments(struct drawing *drawing, const struct spot *ends, size_t count,
                      struct style style);
void drawing_line(struct drawing *drawing, struct spot from, struct spot to, struct style style);
void drawing_circle(struct drawing *drawing, struct spot centre, double radius, struct style style);
void drawing_text(struct drawing *drawing, const struct label *label);
/* Adds the label if its box is entirely inside the picture and overlaps neither an earlier text nor
 * a box that is kept free; otherwise, returns false. For this check, the box includes a small gap
 * before and after the text, unless the text runs upwards. */
bool drawing_text_if_free(struct drawing *drawing, const struct label *label);
/* Later calls of drawing_text_if_free leave this box free. */
void drawing_keep_free(struct drawing *drawing, struct box box);
/* Groups what is added until drawing_group_end(). `words`: what the group shows; can be NULL. */
void drawing_group(struct drawing *drawing, const char *name, int64_t row, const char *words);
void drawing_group_end(struct drawing *drawing);

/* The box of the label's text, as it is shown: shortened to the label's `room`. */
struct box drawing_label_box(const struct label *label);
