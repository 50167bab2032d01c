/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/log.h"
#include "base/core/text.h"

#define STAMP_LENGTH 24                /* 2026-11-21T03:11:26.123Z */
#define HEAD_LENGTH (STAMP_LENGTH + 6) /* stamp and " info " */

/* Standard error goes to a temporary file from capture_start to capture_end. */
struct capture {
    FILE *file;
    int original;
};

static void capture_start(struct capture *capture)
{
    capture->file = tmpfile();
    assert_non_null(capture->file);
    capture->original = dup(STDERR_FILENO);
    dup2(fileno(capture->file), STDERR_FILENO);
}

static char *capture_end(struct capture *capture)
{
    struct text text = { 0 };
    char piece[4096];
    size_t length;

    dup2(capture->original, STDERR_FILENO);
    close(capture->original);
    rewind(capture->file);
    while ((length = fread(piece, 1, sizeof piece, capture->file)) > 0)
        text_add_bytes(&text, piece, length);
    fclose(capture->file);
    return text_take(&text);
}

static void assert_stamp(const char *line)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";

    for (size_t i = 0; i < STAMP_LENGTH; i++) {
        if (form[i] == '0')
            assert_in_range(line[i], '0', '9');
        else
            assert_int_equal(line[i], form[i]);
    }
}

static void a_line_is_time_level_and_message(void **state)
{
    struct capture capture;
    char *text;

    (void)state;
    capture_start(&capture);
    log_info("listening on port %d", 8080);
    text = capture_end(&capture);
    assert_stamp(text);
    assert_string_equal(text + STAMP_LENGTH, " info listening on port 8080\n");
    free(text);
}

static void levels_are_named(void **state)
{
    struct capture capture;
    char *text;

    (void)state;
    capture_start(&capture);
    log_warning("a");
    log_error("b");
    text = capture_end(&capture);
    assert_non_null(strstr(text, "Z warning a\n"));
    assert_non_null(strstr(text, "Z error b\n"));
    free(text);
}

static void control_characters_cannot_forge_lines_or_control_a_terminal(void **state)
{
    struct capture capture;
    char *text;

    (void)state;
    capture_start(&capture);
    log_info("%s", "a\nb\r\x1b[2J\x7f\xc2\x9bz \xc3\xa9");
    text = capture_end(&capture);
    assert_string_equal(text + STAMP_LENGTH, " info a?b??[2J???z \xc3\xa9\n");
    free(text);
}

static void a_long_line_is_truncated_between_characters(void **state)
{
    struct capture capture;
    TEXT_AUTO message = { 0 };
    char *text;

    (void)state;
    for (int i = 0; i < 3000; i++)
        text_add(&message, "\xe2\x82\xac");
    capture_start(&capture);
    log_info("%s", message.data);
    log_info("x%s", message.data);
    log_info("xx%s", message.data);
    text = capture_end(&capture);
    for (char *line = text, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end);
        assert_in_range(end - line, 2000, 2048);
        assert_true(text_is_utf8(line, (size_t)(end - line)));
    }
    free(text);
}

static void *log_many(void *context)
{
    for (int i = 0; i < 200; i++)
        log_info("%s", (const char *)context);
    return NULL;
}

static void lines_of_several_threads_do_not_interleave(void **state)
{
    static char messages[4][200];
    struct capture capture;
    pthread_t threads[4];
    int lines = 0;
    char *text;

    (void)state;
    capture_start(&capture);
    for (int i = 0; i < 4; i++) {
        memset(messages[i], 'a' + i, sizeof messages[i] - 1);
        pthread_create(&threads[i], NULL, log_many, messages[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    text = capture_end(&capture);
    for (char *line = text, *end; *line != '\0'; line = end + 1, lines++) {
        size_t letters = strspn(line + HEAD_LENGTH, "abcd");

        end = strchr(line, '\n');
        assert_stamp(line);
        assert_int_equal(letters, sizeof messages[0] - 1);
        assert_int_equal(end - line, HEAD_LENGTH + letters);
    }
    assert_int_equal(lines, 800);
    free(text);
}

/* Several lines are written together, but never more bytes than a pipe accepts without splitting
 * them. */
static void collected_lines_are_written_completely(void **state)
{
    struct log_lines lines = { 0 };
    struct capture capture;
    int count = 0;
    char *text;

    (void)state;
    capture_start(&capture);
    for (int i = 0; i < 1000; i++) {
        log_lines_begin(&lines);
        text_addf(&lines.text, "line %d \x1b[2J", i);
        log_lines_end(&lines);
        assert_in_range(lines.text.length, 1, 4096);
    }
    log_lines_finish(&lines);
    text = capture_end(&capture);
    for (char *line = text, *end; *line != '\0'; line = end + 1, count++) {
        char expected[64];

        end = strchr(line, '\n');
        snprintf(expected, sizeof expected, " info line %d ?[2J\n", count);
        assert_stamp(line);
        assert_memory_equal(line + STAMP_LENGTH, expected, strlen(expected));
    }
    assert_int_equal(count, 1000);
    free(text);
}

static void a_collected_line_is_truncated_between_characters(void **state)
{
    struct log_lines lines = { 0 };
    struct capture capture;
    char *text;

    (void)state;
    capture_start(&capture);
    log_lines_begin(&lines);
    for (int i = 0; i < 3000; i++)
        text_add(&lines.text, "\xe2\x82\xac");
    log_lines_end(&lines);
    log_lines_begin(&lines);
    text_add(&lines.text, "the next");
    log_lines_end(&lines);
    log_lines_finish(&lines);
    text = capture_end(&capture);
    assert_in_range(strchr(text, '\n') - text, 2000, 2048);
    assert_true(text_is_utf8(text, strlen(text)));
    assert_non_null(strstr(text, "\xac\n2")); /* a complete character, then the next line */
    assert_non_null(strstr(text, " info the next\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_time_level_and_message),
        cmocka_unit_test(levels_are_named),
        cmocka_unit_test(control_characters_cannot_forge_lines_or_control_a_terminal),
        cmocka_unit_test(a_long_line_is_truncated_between_characters),
        cmocka_unit_test(lines_of_several_threads_do_not_interleave),
        cmocka_unit_test(collected_lines_are_written_completely),
        cmocka_unit_test(a_collected_line_is_truncated_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
