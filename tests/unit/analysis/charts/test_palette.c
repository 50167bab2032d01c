/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that text and faint marks have enough contrast with the colours on which they are drawn
 * (WCAG 2.2, 1.4.3 and 1.4.11), that people with colour blindness can tell apart the colours that
 * must differ, and that web/assets/chart.css has the colours of the palette. `test_palette --write`
 * writes that file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/charts/palette.h"
#include "tests/unit/support/published.h"

#define TEXT_CONTRAST 4.5
#define MARK_CONTRAST 3
/* minimum colour differences by CIE76, where 2.3 is just noticeable */
#define SERIES_DIFFERENCE 10
#define STEP_DIFFERENCE 4

#define ASSETS SOURCE_DIR "/web/assets"

static bool is_writing;

static double linear(uint32_t rgb, int shift)
{
    double value = (rgb >> shift & 0xFF) / 255.0;

    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t rgb)
{
    return 0.2126 * linear(rgb, 16) + 0.7152 * linear(rgb, 8) + 0.0722 * linear(rgb, 0);
}

static double contrast(enum theme theme, enum paint a, enum paint b)
{
    double first = luminance(palette_colour(theme, a)),
           second = luminance(palette_colour(theme, b));

    return (fmax(first, second) + 0.05) / (fmin(first, second) + 0.05);
}

static void has_contrast(enum paint a, enum paint b, double least)
{
    for (enum theme theme = THEME_LIGHT; theme < THEMES; theme++) {
        char first[PALETTE_NAME_SIZE], second[PALETTE_NAME_SIZE];

        if (contrast(theme, a, b) < least)
            fail_msg("%s on %s, theme %d: contrast %.2f, expected at least %.2f",
                     palette_name(a, first), palette_name(b, second), (int)theme,
                     contrast(theme, a, b), least);
    }
}

static void text_has_a_contrast_of_at_least_4_5(void **state)
{
    static const enum paint on_paper[] = { PAINT_INK, PAINT_MUTED, PAINT_FAIL, PAINT_MARK };

    (void)state;
    for (size_t i = 0; i < sizeof on_paper / sizeof on_paper[0]; i++)
        has_contrast(on_paper[i], PAINT_PAPER, TEXT_CONTRAST);
    for (enum paint i = 0; i < PALETTE_SERIES; i++)
        has_contrast(PAINT_SERIES + i, PAINT_PAPER, TEXT_CONTRAST);
    for (enum paint i = 0; i < PALETTE_STEPS; i++)
        has_contrast(PAINT_ON_STEP + i, PAINT_STEP + i, TEXT_CONTRAST);
    has_contrast(PAINT_FAIL, PAINT_FAIL_PALE, TEXT_CONTRAST);
    has_contrast(PAINT_MUTED, PAINT_SHADE, TEXT_CONTRAST);
}

static void faint_marks_have_a_contrast_of_at_least_3(void **state)
{
    (void)state;
    has_contrast(PAINT_FAINT, PAINT_PAPER, MARK_CONTRAST);
}

/* ---- Colour vision ---- */

enum vision { PROTANOPIA, DEUTERANOPIA, TRITANOPIA, VISIONS };

/* For each kind of colour blindness, the matrix that turns linear RGB into the linear RGB that is
 * seen (Machado, Oliveira and Fernandes 2009, severity 1). */
static const double seen_as[VISIONS][3][3] = {
    { { 0.152286, 1.052583, -0.204868 },
      { 0.114503, 0.786281, 0.099216 },
      { -0.003882, -0.048116, 1.051998 } },
    { { 0.367322, 0.860646, -0.227968 },
      { 0.280085, 0.672501, 0.047413 },
      { -0.011820, 0.042940, 0.968881 } },
    { { 1.255528, -0.076749, -0.178779 },
      { -0.078411, 0.930809, 0.147602 },
      { 0.004733, 0.691367, 0.303900 } },
};

/* The function f in the definition of CIE L*a*b*: the cube root, but a straight line near 0. */
static double cube_root(double share)
{
    return share > 0.008856 ? cbrt(share) : 7.787 * share + 16.0 / 116;
}

/* Computes the CIE L*a*b* values of the colour as somebody with this vision sees it. */
static void lab_of(uint32_t rgb, enum vision vision, double out[3])
{
    double seen[3], xyz[3];
    static const double to_xyz[3][3] = { { 0.4124, 0.3576, 0.1805 },
                                         { 0.2126, 0.7152, 0.0722 },
                                         { 0.0193, 0.1192, 0.9505 } };
    static const double white[3] = { 0.9505, 1, 1.089 };

    for (int i = 0; i < 3; i++)
        seen[i] = fmin(1, fmax(0, seen_as[vision][i][0] * linear(rgb, 16)
                                      + seen_as[vision][i][1] * linear(rgb, 8)
                                      + seen_as[vision][i][2] * linear(rgb, 0)));
    for (int i = 0; i < 3; i++)
        xyz[i] = cube_root(
            (to_xyz[i][0] * seen[0] + to_xyz[i][1] * seen[1] + to_xyz[i][2] * seen[2]) / white[i]);
    out[0] = 116 * xyz[1] - 16;
    out[1] = 500 * (xyz[0] - xyz[1]);
    out[2] = 200 * (xyz[1] - xyz[2]);
}

static double difference(enum theme theme, enum paint a, enum paint b, enum vision vision)
{
    double first[3], second[3];

    lab_of(palette_colour(theme, a), vision, first);
    lab_of(palette_colour(theme, b), vision, second);
    return sqrt(pow(first[0] - second[0], 2) + pow(first[1] - second[1], 2)
                + pow(first[2] - second[2], 2));
}

static void differ(enum paint a, enum paint b, double least)
{
    for (enum theme theme = THEME_LIGHT; theme < THEMES; theme++)
        for (enum vision vision = 0; vision < VISIONS; vision++) {
            char first[PALETTE_NAME_SIZE], second[PALETTE_NAME_SIZE];

            if (difference(theme, a, b, vision) < least)
                fail_msg("%s and %s, theme %d, vision %d: difference %.1f, expected at least %.1f",
                         palette_name(a, first), palette_name(b, second), (int)theme, (int)vision,
                         difference(theme, a, b, vision), least);
        }
}

/* Charts do not rely on colour alone: series also differ in shape, and failed cells have a hatch
 * and a word. */
static void colours_differ_without_full_colour_vision(void **state)
{
    (void)state;
    for (enum paint a = 0; a < PALETTE_SERIES; a++)
        for (enum paint b = 0; b < a; b++)
            differ(PAINT_SERIES + a, PAINT_SERIES + b, SERIES_DIFFERENCE);
    for (enum paint i = 0; i + 1 < PALETTE_STEPS; i++)
        differ(PAINT_STEP + i, PAINT_STEP + i + 1, STEP_DIFFERENCE);
    for (enum paint i = 0; i < PALETTE_STEPS; i++)
        differ(PAINT_FAIL_PALE, PAINT_STEP + i, STEP_DIFFERENCE);
}

/* ---- The style sheet ---- */

static void write_classes(enum theme theme, struct text *out)
{
    char name[PALETTE_NAME_SIZE];

    for (enum paint paint = PAINT_PAPER; paint < PAINT_COUNT; paint++) {
        unsigned colour = palette_colour(theme, paint);

        palette_name(paint, name);
        text_addf(out, ".f-%s{fill:#%06x}.s-%s{stroke:#%06x}\n", name, colour, name, colour);
    }
}

static void the_style_sheet_has_the_colours_of_the_palette(void **state)
{
    TEXT_AUTO expected = { 0 };
    TEXT_AUTO css = { 0 };

    (void)state;
    text_add(&expected, "/* SPDX-License-Identifier: Apache-2.0 */\n"
                        "/* The charts' colours, written by test_palette --write. */\n");
    write_classes(THEME_LIGHT, &expected);
    text_add(&expected, "@media screen and (prefers-color-scheme:dark){\n");
    write_classes(THEME_DARK, &expected);
    text_add(&expected, "}\n");
    if (is_writing)
        file_write(ASSETS, "chart.css", &expected);
    file_read(ASSETS, "chart.css", &css);
    assert_string_equal(text_string(&css), text_string(&expected));
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_a_contrast_of_at_least_4_5),
        cmocka_unit_test(faint_marks_have_a_contrast_of_at_least_3),
        cmocka_unit_test(colours_differ_without_full_colour_vision),
        cmocka_unit_test(the_style_sheet_has_the_colours_of_the_palette),
    };

    is_writing = count > 1 && strcmp(arguments[1], "--write") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
