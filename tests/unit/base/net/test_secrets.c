/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/net/secrets.h"

/* Creates a folder and makes it the state of the test. */
static int set_up(void **state)
{
    char *folder = memory_copy_text("/tmp/secrets-XXXXXX");

    *state = mkdtemp(folder);
    return *state == NULL;
}

static void path_of(const char *folder, const char *name, char out[512])
{
    snprintf(out, 512, "%s/%s", folder, name);
}

static int tear_down(void **state)
{
    static const char *const names[] = {
        "TOKEN", "REAL", "PIPE", "LINK", "TOKEN.origins", "lower"
    };
    char path[512];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(*state, names[i], path);
        remove(path);
    }
    rmdir(*state);
    free(*state);
    unsetenv("OPSBRAIN_SECRET_TOKEN");
    return 0;
}

static void write_secret(const char *folder, const char *name, const char *value, size_t length)
{
    char path[512];
    FILE *file;

    path_of(folder, name, path);
    file = fopen(path, "w");
    assert_non_null(file);
    fwrite(value, 1, length, file);
    fclose(file);
}

static void assert_refused(const char *folder, const char *name, enum error_kind kind,
                           const char *because)
{
    struct error error = { 0 };
    char value[SECRET_VALUE_SIZE] = "untouched";

    assert_false(secret_read(folder, name, value, &error));
    assert_int_equal(error.kind, kind);
    if (strstr(error.message, because) == NULL)
        fail_msg("the error message \"%s\" does not contain \"%s\"", error.message, because);
    assert_string_equal(value, "untouched");
}

static void reads_the_environment_first(void **state)
{
    struct error error;
    char value[SECRET_VALUE_SIZE];

    write_secret(*state, "TOKEN", "from-file", 9);
    setenv("OPSBRAIN_SECRET_TOKEN", "from-environment", 1);
    assert_true(secret_read(*state, "TOKEN", value, &error));
    assert_string_equal(value, "from-environment");
    unsetenv("OPSBRAIN_SECRET_TOKEN");
    assert_true(secret_read(*state, "TOKEN", value, &error));
    assert_string_equal(value, "from-file");
}

static void removes_one_trailing_newline(void **state)
{
    struct error error;
    char value[SECRET_VALUE_SIZE];

    write_secret(*state, "TOKEN", "abc\n", 4);
    assert_true(secret_read(*state, "TOKEN", value, &error));
    assert_string_equal(value, "abc");
    write_secret(*state, "TOKEN", "abc\r\n", 5);
    assert_true(secret_read(*state, "TOKEN", value, &error));
    assert_string_equal(value, "abc");
    write_secret(*state, "TOKEN", "abc\n\n", 5);
    assert_refused(*state, "TOKEN", ERROR_INVALID, "control character at byte 3");
}

static void names_both_places_where_a_missing_secret_could_be(void **state)
{
    char path[512];

    path_of(*state, "TOKEN", path);
    assert_refused(*state, "TOKEN", ERROR_NOT_FOUND, "OPSBRAIN_SECRET_TOKEN");
    assert_refused(*state, "TOKEN", ERROR_NOT_FOUND, path);
    assert_refused("", "TOKEN", ERROR_NOT_FOUND, "secrets folder");
    assert_refused("/nowhere", "TOKEN", ERROR_NOT_FOUND, "/nowhere/TOKEN");
}

static void invalid_and_overlong_names_are_refused(void **state)
{
    static const char *const bad[] = { "",   "token", "../TOKEN", "A/B", "A.B",
                                       "1A", "_A",    "A B",      "A\n", "\xc3\x84" };
    char longest[SECRET_NAME_SIZE + 1];
    struct error error;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(*state, bad[i], ERROR_INVALID, "a secret's name is");
    memset(longest, 'A', sizeof longest);
    longest[63] = '\0';
    assert_true(secret_name_check(longest, &error));
    longest[63] = 'A';
    longest[64] = '\0';
    assert_false(secret_name_check(longest, &error));
}

static void a_value_given_as_the_name_is_not_repeated(void **state)
{
    struct error error = { 0 };

    (void)state;
    assert_false(secret_name_check("hf_SomeTokenPastedByMistake", &error));
    assert_null(strstr(error.message, "hf_"));
}

static void refuses_values_that_would_break_a_header(void **state)
{
    struct error error = { 0 };
    char value[SECRET_VALUE_SIZE];

    write_secret(*state, "TOKEN", "abc\r\nX: y", 9);
    assert_refused(*state, "TOKEN", ERROR_INVALID, "at byte 3");
    write_secret(*state, "TOKEN", "a b", 3);
    assert_refused(*state, "TOKEN", ERROR_INVALID, "at byte 1");
    write_secret(*state, "TOKEN", "a\0b", 3);
    assert_refused(*state, "TOKEN", ERROR_INVALID, "at byte 1");
    setenv("OPSBRAIN_SECRET_TOKEN", "secret\x7f", 1);
    assert_false(secret_read(*state, "TOKEN", value, &error));
    assert_null(strstr(error.message, "secret\x7f"));
}

static void refuses_empty_and_oversized_values(void **state)
{
    static char big[SECRET_VALUE_SIZE + 10];
    struct error error;
    char value[SECRET_VALUE_SIZE];

    write_secret(*state, "TOKEN", "\n", 1);
    assert_refused(*state, "TOKEN", ERROR_INVALID, "is empty");
    memset(big, 'x', sizeof big);
    write_secret(*state, "TOKEN", big, SECRET_VALUE_SIZE);
    assert_refused(*state, "TOKEN", ERROR_INVALID, "longer than 4095 bytes");
    write_secret(*state, "TOKEN", big, sizeof big);
    assert_refused(*state, "TOKEN", ERROR_INVALID, "longer than 4095 bytes");
    big[SECRET_VALUE_SIZE - 1] = '\n';
    write_secret(*state, "TOKEN", big, SECRET_VALUE_SIZE);
    assert_true(secret_read(*state, "TOKEN", value, &error));
    assert_int_equal(strlen(value), SECRET_VALUE_SIZE - 1);
}

static void follows_links_but_reads_only_regular_files(void **state)
{
    char link[512], pipe[512];
    struct error error;
    char value[SECRET_VALUE_SIZE];

    write_secret(*state, "REAL", "through-a-link", 14);
    path_of(*state, "LINK", link);
    assert_int_equal(symlink("REAL", link), 0);
    assert_true(secret_read(*state, "LINK", value, &error));
    assert_string_equal(value, "through-a-link");
    path_of(*state, "PIPE", pipe);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_refused(*state, "PIPE", ERROR_INTERNAL, "cannot read");
}

static void reads_where_a_secret_is_allowed_to_be_sent(void **state)
{
    static const char lines[] = "# the lab\n\n  https://Lab.example.com:443/v1 \r\n"
                                "http://[::0001]:8000";
    char(*origins)[ORIGIN_SIZE];
    struct error error;
    size_t count;
    bool found;

    assert_true(secret_origins_read(*state, "TOKEN", &origins, &count, &found, &error));
    assert_false(found);
    assert_true(secret_origins_read("", "TOKEN", &origins, &count, &found, &error));
    assert_false(found);
    write_secret(*state, "TOKEN.origins", lines, sizeof lines - 1);
    assert_true(secret_origins_read(*state, "TOKEN", &origins, &count, &found, &error));
    assert_true(found);
    assert_int_equal(count, 2);
    assert_string_equal(origins[0], "https://lab.example.com");
    assert_string_equal(origins[1], "http://[::1]:8000");
    free(origins);
    write_secret(*state, "TOKEN.origins", "", 0); /* not allowed to be sent anywhere */
    assert_true(secret_origins_read(*state, "TOKEN", &origins, &count, &found, &error));
    assert_true(found);
    assert_int_equal(count, 0);
    free(origins);
}

static void an_invalid_or_unreadable_list_of_origins_is_refused(void **state)
{
    struct error error = { 0 };
    char(*origins)[ORIGIN_SIZE];
    char path[512];
    size_t count;
    bool found;

    write_secret(*state, "TOKEN.origins", "http://a\n*\n", 11);
    assert_false(secret_origins_read(*state, "TOKEN", &origins, &count, &found, &error));
    assert_non_null(strstr(error.message, "TOKEN.origins, line 2, is not an origin"));
    path_of(*state, "TOKEN.origins", path);
    remove(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(secret_origins_read(*state, "TOKEN", &origins, &count, &found, &error));
    assert_non_null(strstr(error.message, "cannot read"));
}

/* Counts how often TOKEN, REAL, and the names of files that are not secrets are listed. */
static void count_name(void *context, const char *name)
{
    int *counts = context;

    counts[0] += strcmp(name, "TOKEN") == 0;
    counts[1] += strcmp(name, "REAL") == 0;
    counts[2] += strstr(name, "origins") != NULL || strcmp(name, "lower") == 0;
}

static void lists_the_names_of_secrets(void **state)
{
    int counts[3] = { 0 };

    write_secret(*state, "TOKEN", "a", 1);
    write_secret(*state, "REAL", "a", 1);
    write_secret(*state, "lower", "a", 1);
    write_secret(*state, "TOKEN.origins", "", 0);
    setenv("OPSBRAIN_SECRET_TOKEN", "b", 1);
    secret_names(*state, count_name, counts);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 0);
    secret_names("", count_name, counts);
    assert_int_equal(counts[0], 3);
    secret_names("/nonexistent", count_name, counts);
    assert_int_equal(counts[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_the_environment_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(removes_one_trailing_newline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_both_places_where_a_missing_secret_could_be, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(invalid_and_overlong_names_are_refused, set_up, tear_down),
        cmocka_unit_test(a_value_given_as_the_name_is_not_repeated),
        cmocka_unit_test_setup_teardown(refuses_values_that_would_break_a_header, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(refuses_empty_and_oversized_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(follows_links_but_reads_only_regular_files, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(reads_where_a_secret_is_allowed_to_be_sent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_invalid_or_unreadable_list_of_origins_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lists_the_names_of_secrets, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
