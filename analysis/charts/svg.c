/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/svg.h"

#include <math.h>
#include <string.h>

struct svg {
    enum svg_colours colours;
    struct text *out;
};

/* Writes at most one decimal, since differences below a tenth of a unit cannot be seen. Does not
 * use printf, whose decimal point depends on the locale. */
static void add_number(struct text *out, double value)
{
    int64_t tenths = (int64_t)llround(value * 10);

    if (tenths < 0)
        text_add_char(out, '-');
    tenths = tenths < 0 ? -tenths : tenths;
    text_add_integer(out, tenths / 10);
    if (tenths % 10 != 0) {
        text_add_char(out, '.');
        text_add_integer(out, tenths % 10);
    }
}

static void add_attribute(struct text *out, const char *name, double value)
{
    text_addf(out, " %s=\"", name);
    add_number(out, value);
    text_add_char(out, '"');
}

/* ---- Text ---- */

#define LEFT_TO_RIGHT_MARK "\xe2\x80\x8e"

static bool is_right_to_left(uint32_t character)
{
    return (character >= 0x590 && character <= 0x8FF)
           || (character >= 0xFB1D && character <= 0xFDFF)
           || (character >= 0xFE70 && character <= 0xFEFC)
           || (character >= 0x10800 && character <= 0x10FFF)
           || (character >= 0x1E800 && character <= 0x1EFFF);
}

/* Whether `character` is right-to-left, but the next character (after any spaces) is not. A
 * left-to-right mark must then follow `character`: without it, punctuation and numbers would be
 * drawn from right to left, too. */
static bool ends_right_to_left(uint32_t character, const char *next)
{
    next += strspn(next, " ");
    return is_right_to_left(character) && *next != '\0' && !is_right_to_left(font_next(&next));
}

/* Escapes the string for XML. Omits U+FFFE and U+FFFF: of the characters that a drawing's texts can
 * contain, only these two are not allowed in XML. */
static void add_escaped(struct text *out, const char *string)
{
    while (*string != '\0') {
        const char *before = string;
        uint32_t character = font_next(&string);
        const char *entity = character == '&'   ? "&amp;"
                             : character == '<' ? "&lt;"
                             : character == '>' ? "&gt;"
                             : character == '"' ? "&quot;"
                                                : NULL;

        if (entity != NULL)
            text_add(out, entity);
        else if (character != 0xFFFE && character != 0xFFFF)
            text_add_bytes(out, before, (size_t)(string - before));
        if (ends_right_to_left(character, string))
            text_add(out, LEFT_TO_RIGHT_MARK);
    }
}

/* ---- Colours ---- */

static void add_class(struct text *out, char property, enum paint paint, bool *first)
{
    char name[PALETTE_NAME_SIZE];

    if (paint == PAINT_NONE)
        return;
    text_addf(out, "%s%c-%s", *first ? "" : " ", property, palette_name(paint, name));
    *first = false;
}

static void add_colour(const struct svg *svg, const char *property, enum paint paint)
{
    enum theme theme = svg->colours == SVG_DARK ? THEME_DARK : THEME_LIGHT;

    if (paint == PAINT_NONE)
        text_addf(svg->out, " %s=\"none\"", property);
    else
        text_addf(svg->out, " %s=\"#%06x\"", property, (unsigned)palette_colour(theme, paint));
}

/* `more`: a class to add to the classes for the colours, used only with SVG_CLASSES; NULL: none. */
static void add_paints(const struct svg *svg, const struct style *style, const char *more)
{
    bool first = more == NULL;

    if (svg->colours != SVG_CLASSES) {
        add_colour(svg, "fill", style->fill);
        if (style->stroke != PAINT_NONE)
            add_colour(svg, "stroke", style->stroke);
        return;
    }
    if (style->fill == PAINT_NONE)
        text_add(svg->out, " fill=\"none\"");
    text_addf(svg->out, " class=\"%s", more != NULL ? more : "");
    add_class(svg->out, 'f', style->fill, &first);
    add_class(svg->out, 's', style->stroke, &first);
    text_add_char(svg->out, '"');
}

static void add_style(const struct svg *svg, const struct style *style)
{
    add_paints(svg, style, NULL);
    if (style->stroke != PAINT_NONE && style->width != 1)
        add_attribute(svg->out, "stroke-width", style->width);
    if (style->dashed)
        text_add(svg->out, " stroke-dasharray=\"4 3\"");
}

/* ---- Shapes ---- */

static void write_rect(const struct svg *svg, const struct shape *shape)
{
    text_add(svg->out, "<rect");
    add_attribute(svg->out, "x", shape->box.x);
    add_attribute(svg->out, "y", shape->box.y);
    add_attribute(svg->out, "width", shape->box.width);
    add_attribute(svg->out, "height", shape->box.height);
    if (shape->radius > 0)
        add_attribute(svg->out, "rx", shape->radius);
    add_style(svg, &shape->style);
    text_add(svg->out, "/>\n");
}

static void add_spot(struct text *out, char command, const struct spot *spot)
{
    text_add_char(out, command);
    add_number(out, spot->x);
    text_add_char(out, ' ');
    add_number(out, spot->y);
}

static bool are_same(double a, double b)
{
    return llround(a * 10) == llround(b * 10);
}

/* Writes a line. A horizontal or vertical line gets the command H or V, which is shorter than L. */
static void add_line_to(struct text *out, const struct spot *from, const struct spot *to)
{
    bool is_flat = are_same(from->y, to->y);

    if (!is_flat && !are_same(from->x, to->x)) {
        add_spot(out, 'L', to);
        return;
    }
    text_add_char(out, is_flat ? 'H' : 'V');
    add_number(out, is_flat ? to->x : to->y);
}

static void write_path(const struct svg *svg, const struct shape *shape)
{
    bool are_segments = shape->kind == SHAPE_SEGMENTS;

    text_add(svg->out, "<path d=\"");
    for (size_t i = 0; i < shape->spot_count; i++)
        if (i == 0 || (are_segments && i % 2 == 0))
            add_spot(svg->out, 'M', &shape->spots[i]);
        else
            add_line_to(svg->out, &shape->spots[i - 1], &shape->spots[i]);
    text_add(svg->out, shape->closed ? "Z\"" : "\"");
    add_style(svg, &shape->style);
    text_add(svg->out, "/>\n");
}

static void write_circle(const struct svg *svg, const struct shape *shape)
{
    text_add(svg->out, "<circle");
    add_attribute(svg->out, "cx", shape->spots[0].x);
    add_attribute(svg->out, "cy", shape->spots[0].y);
    add_attribute(svg->out, "r", shape->radius);
    add_style(svg, &shape->style);
    text_add(svg->out, "/>\n");
}

static void add_place(const struct svg *svg, const struct shape *shape)
{
    add_attribute(svg->out, "x", shape->spots[0].x);
    add_attribute(svg->out, "y", shape->spots[0].y);
    if (!shape->upwards)
        return;
    text_add(svg->out, " transform=\"rotate(-90 ");
    add_number(svg->out, shape->spots[0].x);
    text_add_char(svg->out, ' ');
    add_number(svg->out, shape->spots[0].y);
    text_add(svg->out, ")\"");
}

/* The viewer's font might be wider than ours. The title, subtitle and banner get a fixed width,
 * because they can be as wide as the picture. */
static void add_width(const struct svg *svg, const struct shape *shape)
{
    if (shape->text_kind > TEXT_BANNER)
        return;
    add_attribute(svg->out, "textLength",
                  font_measure(shape->string, shape->size, text_kind_weight(shape->text_kind)));
    text_add(svg->out, " lengthAdjust=\"spacingAndGlyphs\"");
}

static void write_text(const struct svg *svg, const struct shape *shape)
{
    static const char *const anchors[] = { NULL, "middle", "end" };
    TEXT_AUTO class = { 0 };

    text_add(svg->out, "<text");
    add_place(svg, shape);
    add_attribute(svg->out, "font-size", shape->size);
    if (anchors[shape->anchor] != NULL)
        text_addf(svg->out, " text-anchor=\"%s\"", anchors[shape->anchor]);
    if (text_kind_weight(shape->text_kind) == FONT_SEMIBOLD)
        text_add(svg->out, " font-weight=\"600\"");
    add_width(svg, shape);
    text_addf(&class, "t-%s", text_kind_name(shape->text_kind));
    add_paints(svg, &shape->style, text_string(&class));
    text_add_char(svg->out, '>');
    add_escaped(svg->out, shape->string);
    text_add(svg->out, "</text>\n");
}

static void write_group(const struct svg *svg, const struct shape *shape)
{
    text_addf(svg->out, "<g class=\"%s\"", shape->name);
    if (shape->row >= 0)
        text_addf(svg->out, " data-i=\"%lld\"", (long long)shape->row);
    text_add_char(svg->out, '>');
    if (shape->string != NULL) {
        text_add(svg->out, "<title>");
        add_escaped(svg->out, shape->string);
        text_add(svg->out, "</title>");
    }
    text_add_char(svg->out, '\n');
}

static void write_group_end(const struct svg *svg, const struct shape *shape)
{
    (void)shape;
    text_add(svg->out, "</g>\n");
}

static void (*const writers[])(const struct svg *svg, const struct shape *shape) = {
    [SHAPE_RECT] = write_rect,           [SHAPE_PATH] = write_path, [SHAPE_SEGMENTS] = write_path,
    [SHAPE_CIRCLE] = write_circle,       [SHAPE_TEXT] = write_text, [SHAPE_GROUP] = write_group,
    [SHAPE_GROUP_END] = write_group_end,
};

static void write_head(const struct svg *svg, const struct drawing *drawing)
{
    text_add(svg->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    add_number(svg->out, drawing->width);
    text_add_char(svg->out, ' ');
    add_number(svg->out, drawing->height);
    text_add_char(svg->out, '"');
    add_attribute(svg->out, "width", drawing->width);
    add_attribute(svg->out, "height", drawing->height);
    text_add(svg->out, " font-family=\"Inter, system-ui, sans-serif\" role=\"img\"");
    if (drawing->title != NULL) {
        text_add(svg->out, " aria-label=\"");
        add_escaped(svg->out, drawing->title);
        text_add_char(svg->out, '"');
    }
    text_add(svg->out, ">\n");
}

void svg_write(const struct drawing *drawing, enum svg_colours colours, struct text *out)
{
    const struct svg svg = { colours, out };
    const struct shape paper = { .style = { .fill = PAINT_PAPER },
                                 .box = { 0, 0, drawing->width, drawing->height } };

    write_head(&svg, drawing);
    write_rect(&svg, &paper);
    for (size_t i = 0; i < drawing->count; i++)
        writers[drawing->shapes[i].kind](&svg, &drawing->shapes[i]);
    text_add(out, "</svg>\n");
}
