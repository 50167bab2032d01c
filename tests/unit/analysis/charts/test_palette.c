/* SPDX-License-Identifier: Apache-2.0 */
/* Every pair of colours that a chart puts on one another can be told apart (WCAG 2.2, 1.4.3 and
 * 1.4.11). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/charts/palette.h"

#define TEXT_CONTRAST 4.5
#define MARK_CONTRAST 3

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
            fail_msg("%s on %s, theme %d: %.2f", palette_name(a, first), palette_name(b, second),
                     (int)theme, contrast(theme, a, b));
    }
}

static void text_can_be_read(void **state)
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

static void marks_can_be_seen(void **state)
{
    (void)state;
    has_contrast(PAINT_FAINT, PAINT_PAPER, MARK_CONTRAST);
}

static void the_style_sheet_has_every_paint_twice(void **state)
{
    TEXT_AUTO css = { 0 };
    size_t classes = 0;

    (void)state;
    palette_write_css(&css);
    for (const char *at = css.data; (at = strstr(at, ".f-")) != NULL; at++)
        classes++;
    assert_int_equal(classes, 2 * (PAINT_COUNT - 1));
    assert_non_null(strstr(css.data, ".f-ink{fill:#1f2933}.s-ink{stroke:#1f2933}"));
    assert_non_null(strstr(css.data, ".f-step0{fill:#0b3a66}")); /* dark */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_can_be_read),
        cmocka_unit_test(marks_can_be_seen),
        cmocka_unit_test(the_style_sheet_has_every_paint_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
