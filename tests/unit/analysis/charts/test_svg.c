/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/charts/svg.h"

/* Checks that the SVG of the drawing contains `expected`; empties the drawing. */
static void check_and_clear(struct drawing *drawing, enum svg_colours colours, const char *expected)
{
    TEXT_AUTO svg = { 0 };

    svg_write(drawing, colours, &svg);
    if (strstr(svg.data, expected) == NULL)
        fail_msg("%s\ndoes not contain %s", svg.data, expected);
    drawing_finish(drawing);
    drawing_init(drawing, 100, 50);
}

static void each_shape_is_written(void **state)
{
    static const struct spot spots[] = { { 1, 2 }, { 3.26, 4 }, { 5, -6 }, { 7, 8 } };
    const struct style line = { .stroke = PAINT_INK, .width = 2, .dashed = true };
    DRAWING_AUTO drawing;

    (void)state;
    drawing_init(&drawing, 100, 50);
    drawing_rect(&drawing, (struct box){ 1, 2, 3, 4 }, 2, (struct style){ .fill = PAINT_FAIL });
    check_and_clear(&drawing, SVG_LIGHT,
                    "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" rx=\"2\" fill=\"#9b1c1c\"/>");
    drawing_path(&drawing, spots, 3, true, line);
    check_and_clear(
        &drawing, SVG_DARK,
        "<path d=\"M1 2L3.3 4L5 -6Z\" fill=\"none\" stroke=\"#e6eaee\" stroke-width=\"2\" "
        "stroke-dasharray=\"4 3\"/>");
    drawing_segments(&drawing, spots, 4, line);
    check_and_clear(&drawing, SVG_CLASSES,
                    "<path d=\"M1 2L3.3 4M5 -6L7 8\" fill=\"none\" class=\"s-ink\"");
    drawing_circle(&drawing, spots[0], 5, (struct style){ .fill = PAINT_STEP + 3 });
    check_and_clear(&drawing, SVG_CLASSES, "<circle cx=\"1\" cy=\"2\" r=\"5\" class=\"f-step3\"/>");
    drawing_group(&drawing, "cell", 4, "a < b");
    drawing_group_end(&drawing);
    check_and_clear(&drawing, SVG_CLASSES,
                    "<g class=\"cell\" data-i=\"4\"><title>a &lt; b</title>\n</g>");
    drawing_text(&drawing, &(struct label){ .kind = TEXT_NAME,
                                            .x = 50,
                                            .y = 20,
                                            .string = "<script>\"&\x01",
                                            .paint = PAINT_INK,
                                            .anchor = ANCHOR_MIDDLE });
    check_and_clear(
        &drawing, SVG_CLASSES,
        "<text x=\"50\" y=\"20\" font-size=\"10.5\" text-anchor=\"middle\" "
        "font-weight=\"600\" class=\"t-name f-ink\">&lt;script&gt;&quot;&amp;\xef\xbf\xbd</text>");
}

static void shapes_without_finite_coordinates_are_not_drawn(void **state)
{
    DRAWING_AUTO drawing;

    (void)state;
    drawing_init(&drawing, 100, 50);
    drawing_circle(&drawing, (struct spot){ NAN, 1 }, 5, (struct style){ .fill = PAINT_INK });
    drawing_rect(&drawing, (struct box){ 0, 0, INFINITY, 1 }, 0, (struct style){ 0 });
    drawing_text(&drawing, &(struct label){ .x = NAN, .string = "x" });
    assert_int_equal(drawing.count, 0);
}

/* A right-to-left word does not move the text after it. */
static void a_right_to_left_name_does_not_reverse_what_follows(void **state)
{
    DRAWING_AUTO drawing;

    (void)state;
    drawing_init(&drawing, 400, 50);
    drawing_text(&drawing,
                 &(struct label){ .string = "\xd7\x90\xd7\x91 \xd7\x92 \xc2\xb7 12 cells" });
    check_and_clear(&drawing, SVG_LIGHT,
                    ">\xd7\x90\xd7\x91 \xd7\x92\xe2\x80\x8e \xc2\xb7 12 cells</text>");
}

static void a_long_text_ends_in_an_ellipsis(void **state)
{
    const struct label label = { .string = "a name that is too long", .room = 60 };
    DRAWING_AUTO drawing;

    (void)state;
    drawing_init(&drawing, 400, 50);
    assert_true(drawing_label_box(&label).width <= 60);
    drawing_text(&drawing, &label);
    assert_non_null(strstr(drawing.shapes[0].string, "\xe2\x80\xa6"));
}

/* The viewer's font might be wider than ours. */
static void a_subtitle_states_its_width_to_the_viewer(void **state)
{
    static const char subtitle[] = "a subtitle may be as wide as the picture";
    double width = font_measure(subtitle, text_kind_size(TEXT_SUBTITLE), FONT_REGULAR);
    char attribute[40];
    DRAWING_AUTO drawing;
    TEXT_AUTO svg = { 0 };

    (void)state;
    drawing_init(&drawing, 720, 50);
    drawing_text(&drawing, &(struct label){ .kind = TEXT_SUBTITLE, .string = subtitle });
    drawing_text(&drawing, &(struct label){ .kind = TEXT_TICK, .string = "128" });
    snprintf(attribute, sizeof attribute, "textLength=\"%.1f\"", width);
    svg_write(&drawing, SVG_LIGHT, &svg);
    assert_non_null(strstr(svg.data, attribute));
    assert_null(strstr(strstr(svg.data, attribute) + 1, "textLength"));
}

static void text_is_not_drawn_over_other_text_or_beyond_the_edge(void **state)
{
    DRAWING_AUTO drawing;

    (void)state;
    drawing_init(&drawing, 100, 50);
    assert_true(
        drawing_text_if_free(&drawing, &(struct label){ .x = 5, .y = 20, .string = "one" }));
    assert_false(
        drawing_text_if_free(&drawing, &(struct label){ .x = 9, .y = 24, .string = "two" }));
    assert_false(
        drawing_text_if_free(&drawing, &(struct label){ .x = 90, .y = 45, .string = "three" }));
    assert_true(
        drawing_text_if_free(&drawing, &(struct label){ .x = 5, .y = 45, .string = "four" }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_is_written),
        cmocka_unit_test(shapes_without_finite_coordinates_are_not_drawn),
        cmocka_unit_test(a_right_to_left_name_does_not_reverse_what_follows),
        cmocka_unit_test(a_long_text_ends_in_an_ellipsis),
        cmocka_unit_test(a_subtitle_states_its_width_to_the_viewer),
        cmocka_unit_test(text_is_not_drawn_over_other_text_or_beyond_the_edge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
