/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/terminal/display_width.h"
#include "client/terminal/grid.h"
#include "client/terminal/readable.h"

static const struct terminal narrow = { .is_terminal = true, .columns = 40, .rows = 24 };
static const struct terminal wide = { .is_terminal = true, .columns = 200, .rows = 24 };
static const struct terminal a_pipe = { .columns = 80, .rows = 24 };

static int set_up(void **state)
{
    (void)state;
    display_width_begin();
    return 0;
}

/* The width of the widest line. */
static size_t width_of(const char *text)
{
    size_t widest = 0;

    for (; *text != '\0'; text += strcspn(text, "\n") + 1) {
        size_t width = display_width(text, strcspn(text, "\n"));

        widest = width > widest ? width : widest;
        if (strchr(text, '\n') == NULL)
            break;
    }
    return widest;
}

static void assert_shown(const struct terminal *terminal, const char *text, const char *expected)
{
    TEXT_AUTO out = { 0 };

    readable_add_text(terminal, text, &out);
    assert_string_equal(text_string(&out), expected);
}

static void counts_the_columns_of_wide_and_of_combining_characters(void **state)
{
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        { "", 0 },
        { "demo", 4 },
        { "\xe4\xb8\xad\xe6\x96\x87", 4 }, /* two Chinese characters */
        { "e\xcc\x81", 1 },                /* e with a combining accent */
        { "\xf0\x9f\x98\x80", 2 },         /* an emoji */
        { "\xc3\xa4\xc3\xb6", 2 },
        { "\xff\xfe", 2 }, /* invalid bytes */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(display_width(cases[i].text, strlen(cases[i].text)), cases[i].width);
}

static void never_splits_a_character(void **state)
{
    static const char text[] = "a\xe4\xb8\xad\xe6\x96\x87";

    (void)state;
    assert_int_equal(display_width_fit(text, strlen(text), 2), 1);
    assert_int_equal(display_width_fit(text, strlen(text), 3), 4);
    assert_int_equal(display_width_fit(text, strlen(text), 99), 7);
}

static void a_terminal_rejoins_sentences_that_were_wrapped_for_another_width(void **state)
{
    static const char start[] =
        "Saturated at: the smallest load that gives 95 % of what the server";
    static const char *const parts[][2] = {
        { "\ncan give.\n", " can give.\n" },    { "\nAnother one\n", "\nAnother one\n" },
        { "\n- an entry\n", "\n- an entry\n" }, { "\n  indented\n", "\n  indented\n" },
        { "\n\nlower\n", "\n\nlower\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        TEXT_AUTO given = { 0 }, expected = { 0 };

        text_addf(&given, "%s%s", start, parts[i][0]);
        text_addf(&expected, "%s%s", start, parts[i][1]);
        assert_shown(&wide, text_string(&given), text_string(&expected));
        assert_shown(&a_pipe, text_string(&given), text_string(&given));
    }
    assert_shown(
        &wide,
        "- a list entry that is wider than sixty columns, and continues on the\n  next line\n",
        "- a list entry that is wider than sixty columns, and continues on the next line\n");
    assert_shown(&wide, "short\nlines stay\n", "short\nlines stay\n");
    assert_shown(
        &wide,
        "  opsbrain bench DEPLOYMENT|URL [--users 1,4,16] [--context 128,1024]\n  opsbrain bench "
        "SWEEP\n",
        "  opsbrain bench DEPLOYMENT|URL [--users 1,4,16] [--context 128,1024]\n  opsbrain bench "
        "SWEEP\n");
}

static void nothing_that_a_terminal_interprets_is_shown(void **state)
{
    static const char untrusted[] = "model \033]0;owned\007\033[2J \xc2\x9b"
                                    "31m \x7f \xe2\x80\xae back\r";

    (void)state;
    for (int i = 0; i < 2; i++) {
        TEXT_AUTO out = { 0 };

        readable_add_text(i == 0 ? &a_pipe : &wide, untrusted, &out);
        assert_null(strpbrk(text_string(&out), "\033\007\r\x7f"));
        assert_null(strstr(text_string(&out), "\xc2\x9b"));
        assert_null(strstr(text_string(&out), "\xe2\x80\xae"));
        assert_non_null(strstr(text_string(&out), "owned"));
    }
}

static void json_escapes_what_a_terminal_interprets(void **state)
{
    json_auto_t *value =
        json_pack("{s:s}", "name", "\033[2J\xc2\x9b\x7f\xe2\x80\xae\xf3\xa0\x81\x81\xc3\xa4");
    TEXT_AUTO out = { 0 };

    (void)state;
    readable_add_json(value, 2, &out);
    assert_string_equal(
        text_string(&out),
        "{\n  \"name\": \"\\u001B[2J\\u009b\\u007f\\u202e\\udb40\\udc41\xc3\xa4\"\n}\n");
    text_clear(&out);
    readable_add_json(value, 0, &out);
    assert_string_equal(text_string(&out),
                        "{\"name\":\"\\u001B[2J\\u009b\\u007f\\u202e\\udb40\\udc41\xc3\xa4\"}\n");
}

static void a_pipe_gets_headings_and_tables_as_markdown(void **state)
{
    (void)state;
    assert_shown(&a_pipe, "# Report\n\n| a | b |\n| - | -: |\n| x | 1 |",
                 "# Report\n\n| a | b |\n| - | -: |\n| x | 1 |\n");
}

static void a_terminal_gets_aligned_columns(void **state)
{
    (void)state;
    assert_shown(&wide,
                 "| Name | tok/s |\n| ---- | ----: |\n| a\\|b | 12 |\n| \xe4\xb8\xad | 3 |\nend\n",
                 "Name  tok/s\n"
                 "────  ─────\n"
                 "a|b      12\n"
                 "\xe4\xb8\xad        3\n"
                 "end\n");
}

static void columns_of_words_are_wrapped_to_the_width(void **state)
{
    TEXT_AUTO out = { 0 };

    (void)state;
    readable_add_text(
        &narrow,
        "| Id | Why | n |\n| - | - | -: |\n"
        "| swp_2851ek9tvgrkhqzm0mrse1zk8a | the server refused all of its requests | 7 |\n",
        &out);
    assert_true(width_of(text_string(&out)) <= 40);
    assert_non_null(strstr(text_string(&out), "refused"));
}

static void a_table_of_numbers_is_split_into_blocks_that_repeat_the_first_column(void **state)
{
    struct grid *grid = grid_create();
    TEXT_AUTO out = { 0 };
    size_t blocks = 0;

    (void)state;
    grid_column(grid, "context", 7, true);
    for (int i = 0; i < 12; i++)
        grid_column(grid, "100000", 6, true);
    grid_cellf(grid, "%d", 128);
    for (int i = 0; i < 12; i++)
        grid_cellf(grid, "%d", 1000 + i);
    grid_render(grid, &narrow, &out);
    grid_destroy(grid);
    assert_true(width_of(text_string(&out)) <= 40);
    for (const char *at = text_string(&out); (at = strstr(at, "context")) != NULL; at++)
        blocks++;
    assert_int_equal(blocks, 3);
    assert_non_null(strstr(text_string(&out), "1011"));
}

static void headings_above_numbers_are_wrapped_where_the_table_is_too_wide(void **state)
{
    static const char table[] = "| users | TTFT p50 | TTFT p99 | ITL p50 | E2E p99 |\n"
                                "| ----: | -------: | -------: | ------: | ------: |\n"
                                "|     1 |     25.1 |     31.0 |     8.1 |    1063 |\n";

    (void)state;
    assert_shown(&narrow, table,
                 "users  TTFT  TTFT  ITL   E2E\n"
                 "        p50   p99  p50   p99\n"
                 "─────  ────  ────  ───  ────\n"
                 "    1  25.1  31.0  8.1  1063\n");
    assert_shown(&wide, table,
                 "users  TTFT p50  TTFT p99  ITL p50  E2E p99\n"
                 "─────  ────────  ────────  ───────  ───────\n"
                 "    1      25.1      31.0      8.1     1063\n");
}

static void missing_cells_in_a_row_are_empty_and_extra_cells_are_dropped(void **state)
{
    (void)state;
    assert_shown(&wide, "| a | b |\n| - | - |\n| 1 |\n| 1 | 2 | 3 |\n||\n",
                 "a  b\n─  ─\n1\n1  2\n\n");
}

static void ids_stay_whole_and_a_column_of_words_gets_the_remaining_width(void **state)
{
    static const struct terminal usual = { .is_terminal = true, .columns = 80, .rows = 24 };
    static const char sentence[] = "measured, contaminated by two other clients";
    TEXT_AUTO table = { 0 }, out = { 0 };

    (void)state;
    text_addf(&table,
              "| Job | Sweep | n | State |\n| - | - | -: | - |\n"
              "| job_2851ek9tvgrkhqzm0mrse1zk8a | swp_2851ek9tvgrkhqzm0mrse1zk8a | 1234567890 | "
              "%s |\n",
              sentence);
    readable_add_text(&usual, text_string(&table), &out);
    assert_true(width_of(text_string(&out)) <= 80);
    assert_non_null(strstr(text_string(&out), "job_2851ek9tvgrkhqzm0mrse1zk8a"));
    assert_non_null(strstr(text_string(&out), "swp_2851ek9tvgrkhqzm0mrse1zk8a"));
    assert_non_null(strstr(text_string(&out), sentence));
}

static void long_lines_wrap_between_words_and_list_items_have_a_hanging_indent(void **state)
{
    (void)state;
    assert_shown(&narrow, "Page: http://127.0.0.1/compare?a=run_4bk0kp4magt871tjzk9qhvtvcp end\n",
                 "Page:\nhttp://127.0.0.1/compare?a=run_4bk0kp4magt871tjzk9qhvtvcp\nend\n");
    assert_shown(&narrow, "- one two three four five six seven eight nine\n",
                 "- one two three four five six seven\n  eight nine\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_columns_of_wide_and_of_combining_characters),
        cmocka_unit_test(never_splits_a_character),
        cmocka_unit_test(a_terminal_rejoins_sentences_that_were_wrapped_for_another_width),
        cmocka_unit_test(nothing_that_a_terminal_interprets_is_shown),
        cmocka_unit_test(json_escapes_what_a_terminal_interprets),
        cmocka_unit_test(a_pipe_gets_headings_and_tables_as_markdown),
        cmocka_unit_test(a_terminal_gets_aligned_columns),
        cmocka_unit_test(columns_of_words_are_wrapped_to_the_width),
        cmocka_unit_test(a_table_of_numbers_is_split_into_blocks_that_repeat_the_first_column),
        cmocka_unit_test(headings_above_numbers_are_wrapped_where_the_table_is_too_wide),
        cmocka_unit_test(missing_cells_in_a_row_are_empty_and_extra_cells_are_dropped),
        cmocka_unit_test(ids_stay_whole_and_a_column_of_words_gets_the_remaining_width),
        cmocka_unit_test(long_lines_wrap_between_words_and_list_items_have_a_hanging_indent),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
