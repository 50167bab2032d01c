/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include "analysis/charts/raster.h"

extern const char font_inter_regular[], font_inter_semibold[];
extern const size_t font_inter_regular_length, font_inter_semibold_length;

static void draw(struct drawing *drawing)
{
    drawing_init(drawing, 720, 480);
    drawing_rect(drawing, (struct box){ 20, 20, 100, 50 }, 4, (struct style){ .fill = PAINT_FAIL });
    drawing_text(drawing, &(struct label){ .kind = TEXT_TITLE,
                                           .x = 20,
                                           .y = 120,
                                           .string = "22.7 requests/s \xe6\xa8\xa1",
                                           .paint = PAINT_INK });
}

static uint32_t word_at(const struct text *png, size_t at)
{
    const uint8_t *bytes = (const uint8_t *)png->data + at;

    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void a_png_has_a_palette_of_8_bits(void **state)
{
    DRAWING_AUTO drawing;
    TEXT_AUTO png = { 0 };
    struct error error;

    (void)state;
    draw(&drawing);
    assert_true(raster_write(&drawing, THEME_LIGHT, &png, &error));
    assert_memory_equal(png.data, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(word_at(&png, 16), 1200);
    assert_int_equal(word_at(&png, 20), 800);
    assert_int_equal(png.data[24], 8); /* bits */
    assert_int_equal(png.data[25], 3); /* colour type */
    /* the palette begins with the paper's colour, which has the most pixels; the box's is next */
    assert_memory_equal(png.data + 41, "\xff\xff\xff\x9b\x1c\x1c", 6);
    assert_true(png.length < 10000);
}

/* The bytes are the same if fontconfig finds none of the machine's fonts. */
static void the_machines_fonts_do_not_matter(void **state)
{
    DRAWING_AUTO drawing;
    TEXT_AUTO with = { 0 };
    TEXT_AUTO without = { 0 };
    struct error error;

    (void)state;
    draw(&drawing);
    assert_true(raster_write(&drawing, THEME_DARK, &with, &error));
    setenv("FONTCONFIG_FILE", "/dev/null", 1);
    assert_true(raster_write(&drawing, THEME_DARK, &without, &error));
    unsetenv("FONTCONFIG_FILE");
    assert_int_equal(with.length, without.length);
    assert_memory_equal(with.data, without.data, with.length);
}

static void a_large_drawing_is_scaled_down_to_the_limit_on_pixels(void **state)
{
    DRAWING_AUTO drawing;
    TEXT_AUTO png = { 0 };
    struct error error;

    (void)state;
    drawing_init(&drawing, 1500, 3000);
    assert_true(raster_write(&drawing, THEME_LIGHT, &png, &error));
    assert_int_equal(word_at(&png, 16), RASTER_PIXELS_MAX / 2);
    assert_int_equal(word_at(&png, 20), RASTER_PIXELS_MAX);
}

static void widths_equal(enum font_weight weight, const char *bytes, size_t length)
{
    FT_Library library;
    FT_Face face;

    assert_int_equal(FT_Init_FreeType(&library), 0);
    assert_int_equal(FT_New_Memory_Face(library, (const FT_Byte *)bytes, (FT_Long)length, 0, &face),
                     0);
    for (size_t i = 0; i < font_width_count; i++) {
        FT_Fixed advance;

        assert_int_not_equal(FT_Get_Char_Index(face, font_widths[i].character), 0);
        assert_int_equal(FT_Load_Char(face, font_widths[i].character, FT_LOAD_NO_SCALE), 0);
        advance = face->glyph->metrics.horiAdvance;
        assert_true(labs(advance * 1000 / face->units_per_EM - font_widths[i].widths[weight]) <= 1);
    }
    FT_Done_Face(face);
    FT_Done_FreeType(library);
}

static void the_table_of_widths_matches_the_fonts(void **state)
{
    (void)state;
    widths_equal(FONT_REGULAR, font_inter_regular, font_inter_regular_length);
    widths_equal(FONT_SEMIBOLD, font_inter_semibold, font_inter_semibold_length);
}

static void all_digits_have_the_same_width(void **state)
{
    (void)state;
    for (char digit[] = "0"; digit[0] <= '9'; digit[0]++)
        assert_true(font_measure(digit, 10, FONT_REGULAR) == font_measure("0", 10, FONT_REGULAR));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_png_has_a_palette_of_8_bits),
        cmocka_unit_test(the_machines_fonts_do_not_matter),
        cmocka_unit_test(a_large_drawing_is_scaled_down_to_the_limit_on_pixels),
        cmocka_unit_test(the_table_of_widths_matches_the_fonts),
        cmocka_unit_test(all_digits_have_the_same_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
