/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/raster.h"

#include <cairo-ft.h>
#include <cairo.h>
#include <ft2build.h>
#include <math.h>
#include FT_FREETYPE_H

#include "analysis/charts/png.h"

#define SCALE (1200.0 / 720)
/* How many times a picture is drawn at most: if its file has more than RASTER_BYTES_MAX bytes, it
 * is drawn again with fewer pixels. */
#define TRIES 4

extern const char font_inter_regular[], font_inter_semibold[];
extern const size_t font_inter_regular_length, font_inter_semibold_length;

struct raster {
    cairo_t *cairo;
    cairo_surface_t *surface;
    enum theme theme;
    FT_Library library;
    FT_Face faces[FONT_WEIGHTS];
    cairo_font_face_t *fonts[FONT_WEIGHTS];
};

/* ---- Fonts ---- */

/* Each picture opens its own FT_Library, because threads cannot share one. */
static bool open_fonts(struct raster *raster)
{
    const struct {
        const char *bytes;
        size_t length;
    } files[FONT_WEIGHTS] = {
        [FONT_REGULAR] = { font_inter_regular, font_inter_regular_length },
        [FONT_SEMIBOLD] = { font_inter_semibold, font_inter_semibold_length },
    };

    if (FT_Init_FreeType(&raster->library) != 0)
        return false;
    for (size_t i = 0; i < FONT_WEIGHTS; i++) {
        if (FT_New_Memory_Face(raster->library, (const FT_Byte *)files[i].bytes,
                               (FT_Long)files[i].length, 0, &raster->faces[i])
            != 0)
            return false;
        raster->fonts[i] =
            cairo_ft_font_face_create_for_ft_face(raster->faces[i], FT_LOAD_NO_HINTING);
    }
    return true;
}

static void raster_finish(struct raster *raster)
{
    cairo_destroy(raster->cairo);
    for (size_t i = 0; i < FONT_WEIGHTS; i++)
        cairo_font_face_destroy(raster->fonts[i]);
    cairo_surface_destroy(raster->surface);
    for (size_t i = 0; i < FONT_WEIGHTS; i++)
        if (raster->faces[i] != NULL)
            FT_Done_Face(raster->faces[i]);
    if (raster->library != NULL)
        FT_Done_FreeType(raster->library);
}

/* ---- Paint ---- */

static void set_colour(const struct raster *raster, enum paint paint)
{
    uint32_t rgb = palette_colour(raster->theme, paint);

    cairo_set_source_rgb(raster->cairo, (rgb >> 16) / 255.0, (rgb >> 8 & 0xFF) / 255.0,
                         (rgb & 0xFF) / 255.0);
}

/* Fills and strokes the current path, then clears it. */
static void paint_path(const struct raster *raster, const struct style *style)
{
    static const double dashes[] = { 4, 3 };

    if (style->fill != PAINT_NONE) {
        set_colour(raster, style->fill);
        cairo_fill_preserve(raster->cairo);
    }
    if (style->stroke != PAINT_NONE) {
        set_colour(raster, style->stroke);
        cairo_set_line_width(raster->cairo, style->width);
        cairo_set_dash(raster->cairo, dashes, style->dashed ? 2 : 0, 0);
        cairo_stroke_preserve(raster->cairo);
    }
    cairo_new_path(raster->cairo);
}

static void draw_rect(const struct raster *raster, const struct shape *shape)
{
    const struct box *box = &shape->box;
    double r = fmin(shape->radius, fmin(box->width, box->height) / 2);
    double right = box->x + box->width - r, below = box->y + box->height - r;

    if (r > 0) {
        cairo_new_sub_path(raster->cairo);
        cairo_arc(raster->cairo, right, box->y + r, r, -M_PI_2, 0);
        cairo_arc(raster->cairo, right, below, r, 0, M_PI_2);
        cairo_arc(raster->cairo, box->x + r, below, r, M_PI_2, M_PI);
        cairo_arc(raster->cairo, box->x + r, box->y + r, r, M_PI, 3 * M_PI_2);
        cairo_close_path(raster->cairo);
    } else {
        cairo_rectangle(raster->cairo, box->x, box->y, box->width, box->height);
    }
    paint_path(raster, &shape->style);
}

static void draw_path(const struct raster *raster, const struct shape *shape)
{
    bool are_segments = shape->kind == SHAPE_SEGMENTS;

    for (size_t i = 0; i < shape->spot_count; i++)
        if (i == 0 || (are_segments && i % 2 == 0))
            cairo_move_to(raster->cairo, shape->spots[i].x, shape->spots[i].y);
        else
            cairo_line_to(raster->cairo, shape->spots[i].x, shape->spots[i].y);
    if (shape->closed)
        cairo_close_path(raster->cairo);
    paint_path(raster, &shape->style);
}

static void draw_circle(const struct raster *raster, const struct shape *shape)
{
    cairo_new_sub_path(raster->cairo);
    cairo_arc(raster->cairo, shape->spots[0].x, shape->spots[0].y, shape->radius, 0, 2 * M_PI);
    paint_path(raster, &shape->style);
}

/* Draws the characters side by side, with the same widths that font_measure() adds up. */
static void show_characters(const struct raster *raster, const struct shape *shape)
{
    enum font_weight weight = text_kind_weight(shape->text_kind);
    const char *at = shape->string;
    double x = 0;

    while (*at != '\0') {
        const char *before = at;
        uint32_t character = font_next(&at);
        cairo_glyph_t glyph = { .x = x };

        if (character == FONT_INVISIBLE)
            continue;
        glyph.index = FT_Get_Char_Index(raster->faces[weight],
                                        font_has(character) ? character : FONT_FALLBACK);
        cairo_show_glyphs(raster->cairo, &glyph, 1);
        x += font_measure_character(before, shape->size, weight);
    }
}

/* Moves the origin to the nearest whole pixel, so that text is sharper, and equal texts have equal
 * pixels, which compress better. */
static void move_to_pixel(const struct raster *raster)
{
    double x = 0, y = 0;

    cairo_user_to_device(raster->cairo, &x, &y);
    x = round(x);
    y = round(y);
    cairo_device_to_user(raster->cairo, &x, &y);
    cairo_translate(raster->cairo, x, y);
}

static void draw_text(const struct raster *raster, const struct shape *shape)
{
    enum font_weight weight = text_kind_weight(shape->text_kind);
    double width = font_measure(shape->string, shape->size, weight);
    double before = shape->anchor == ANCHOR_START    ? 0
                    : shape->anchor == ANCHOR_MIDDLE ? width / 2
                                                     : width;

    cairo_save(raster->cairo);
    cairo_translate(raster->cairo, shape->spots[0].x, shape->spots[0].y);
    if (shape->upwards)
        cairo_rotate(raster->cairo, -M_PI_2);
    cairo_translate(raster->cairo, -before, 0);
    move_to_pixel(raster);
    set_colour(raster, shape->style.fill);
    cairo_set_font_face(raster->cairo, raster->fonts[weight]);
    cairo_set_font_size(raster->cairo, shape->size);
    show_characters(raster, shape);
    cairo_restore(raster->cairo);
}

static void draw_nothing(const struct raster *raster, const struct shape *shape)
{
    (void)raster;
    (void)shape;
}

static void (*const painters[])(const struct raster *raster, const struct shape *shape) = {
    [SHAPE_RECT] = draw_rect,         [SHAPE_PATH] = draw_path, [SHAPE_SEGMENTS] = draw_path,
    [SHAPE_CIRCLE] = draw_circle,     [SHAPE_TEXT] = draw_text, [SHAPE_GROUP] = draw_nothing,
    [SHAPE_GROUP_END] = draw_nothing,
};

/* ---- The picture ---- */

static CHECKED bool begin(struct raster *raster, const struct drawing *drawing, double scale,
                          struct error *error)
{
    cairo_font_options_t *options = cairo_font_options_create();

    raster->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(drawing->width * scale),
                                   (int)lround(drawing->height * scale));
    raster->cairo = cairo_create(raster->surface);
    cairo_scale(raster->cairo, scale, scale);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(raster->cairo, options);
    cairo_font_options_destroy(options);
    set_colour(raster, PAINT_PAPER);
    cairo_paint(raster->cairo);
    if (!open_fonts(raster))
        return error_set(error, ERROR_INTERNAL,
                         "the chart could not be drawn: FreeType cannot open the embedded fonts");
    return true;
}

static CHECKED bool draw(const struct drawing *drawing, enum theme theme, double scale,
                         struct text *out, struct error *error)
{
    struct raster raster = { .theme = theme };
    bool drawn = begin(&raster, drawing, scale, error);

    for (size_t i = 0; drawn && i < drawing->count; i++)
        painters[drawing->shapes[i].kind](&raster, &drawing->shapes[i]);
    cairo_surface_flush(raster.surface);
    if (drawn && cairo_status(raster.cairo) != CAIRO_STATUS_SUCCESS)
        drawn = error_set(error, ERROR_INTERNAL, "the chart could not be drawn: %s",
                          cairo_status_to_string(cairo_status(raster.cairo)));
    if (drawn)
        png_write((const uint32_t *)(const void *)cairo_image_surface_get_data(raster.surface),
                  (size_t)cairo_image_surface_get_width(raster.surface),
                  (size_t)cairo_image_surface_get_height(raster.surface),
                  (size_t)cairo_image_surface_get_stride(raster.surface) / sizeof(uint32_t), out);
    raster_finish(&raster);
    return drawn;
}

bool raster_write(const struct drawing *drawing, enum theme theme, struct text *out,
                  struct error *error)
{
    double scale = fmin(SCALE, RASTER_PIXELS_MAX / fmax(drawing->width, drawing->height));
    TEXT_AUTO png = { 0 };

    for (int tries = 0; tries < TRIES; tries++) {
        text_clear(&png);
        if (!draw(drawing, theme, scale, &png, error))
            return false;
        if (png.length <= RASTER_BYTES_MAX)
            break;
        scale *= 0.95 * sqrt((double)RASTER_BYTES_MAX / (double)png.length);
    }
    text_add_bytes(out, png.data, png.length);
    return true;
}
