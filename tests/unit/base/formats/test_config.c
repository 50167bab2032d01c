/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/formats/config.h"

struct settings {
    char listen[CONFIG_TEXT_SIZE];
    int64_t max_sessions;
    int64_t idle_s;
    bool watch;
    char store[CONFIG_TEXT_SIZE];
};

static const struct setting table[] = {
    { "listen", SETTING_TEXT, "127.0.0.1:8080", 0, 0, offsetof(struct settings, listen),
      "address and port to listen on; without authentication only a loopback address is accepted, "
      "so that nobody opens the server to a network by mistake" },
    { "max_sessions", SETTING_INTEGER, "10000", 1, 100000, offsetof(struct settings, max_sessions),
      "sessions at once" },
    { "idle", SETTING_DURATION_S, "15m", 10, 86400, offsetof(struct settings, idle_s),
      "when an idle session ends" },
    { "watch", SETTING_BOOLEAN, "true", 0, 0, offsetof(struct settings, watch),
      "scrape metrics | or not" },
};
#define COUNT (sizeof table / sizeof *table)

static int clear_environment(void **state)
{
    (void)state;
    unsetenv("OPSBRAIN_LISTEN");
    unsetenv("OPSBRAIN_MAX_SESSIONS");
    unsetenv("OPSBRAIN_IDLE");
    unsetenv("OPSBRAIN_WATCH");
    return 0;
}

/* Reads the settings from up to three command-line arguments; a NULL ends the arguments. */
static bool read_settings(struct settings *out, struct error *error, const char *one,
                          const char *two, const char *three)
{
    const char *arguments[] = { "opsbrain", one, two, three };
    char copies[4][CONFIG_TEXT_SIZE + 1];
    char *argv[4];
    int argc = 0;

    for (; argc < 4 && arguments[argc] != NULL; argc++) {
        text_copy(copies[argc], sizeof copies[argc], arguments[argc]);
        argv[argc] = copies[argc];
    }
    return config_read(table, COUNT, argc, argv, out, error);
}

static struct settings must_read(const char *one, const char *two, const char *three)
{
    struct settings settings = { 0 };
    struct error error = { 0 };

    if (!read_settings(&settings, &error, one, two, three))
        fail_msg("%s", error.message);
    return settings;
}

static void assert_refused(const char *one, const char *two, const char *message)
{
    struct settings settings = { .listen = "untouched", .max_sessions = -5 };
    struct error error = { 0 };

    assert_false(read_settings(&settings, &error, one, two, NULL));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_string_equal(error.message, message);
    assert_string_equal(settings.listen, "untouched");
    assert_int_equal(settings.max_sessions, -5);
}

static void has_defaults(void **state)
{
    struct settings settings = must_read(NULL, NULL, NULL);

    (void)state;
    assert_string_equal(settings.listen, "127.0.0.1:8080");
    assert_int_equal(settings.max_sessions, 10000);
    assert_int_equal(settings.idle_s, 900);
    assert_true(settings.watch);
}

static void a_flag_overrides_the_environment_which_overrides_the_default(void **state)
{
    (void)state;
    setenv("OPSBRAIN_MAX_SESSIONS", "7", 1);
    assert_int_equal(must_read(NULL, NULL, NULL).max_sessions, 7);
    assert_int_equal(must_read("--max-sessions", "8", NULL).max_sessions, 8);
    assert_int_equal(must_read("--max-sessions=9", NULL, NULL).max_sessions, 9);
}

static void an_empty_variable_counts_as_unset_but_a_flag_can_be_empty(void **state)
{
    (void)state;
    setenv("OPSBRAIN_LISTEN", "", 1);
    setenv("OPSBRAIN_IDLE", "", 1);
    assert_string_equal(must_read(NULL, NULL, NULL).listen, "127.0.0.1:8080");
    assert_int_equal(must_read(NULL, NULL, NULL).idle_s, 900);
    assert_string_equal(must_read("--listen=", NULL, NULL).listen, "");
    assert_string_equal(must_read("--listen", "", NULL).listen, "");
}

static void booleans_need_no_value(void **state)
{
    (void)state;
    setenv("OPSBRAIN_WATCH", "no", 1);
    assert_false(must_read(NULL, NULL, NULL).watch);
    assert_true(must_read("--watch", NULL, NULL).watch);
    assert_false(must_read("--watch=false", NULL, NULL).watch);
    assert_false(must_read("--watch", "--watch=OFF", NULL).watch);
    assert_false(must_read("--watch", "false", NULL).watch);
    assert_true(must_read("--watch=no", "--watch", "true").watch);
    assert_refused("--watch", "perhaps", "--watch is \"perhaps\", but must be true or false");
    assert_int_equal(must_read("--watch", "--max-sessions", "3").max_sessions, 3);
}

static void times_can_have_units(void **state)
{
    (void)state;
    assert_int_equal(must_read("--idle", "90", NULL).idle_s, 90);
    assert_int_equal(must_read("--idle", "90s", NULL).idle_s, 90);
    assert_int_equal(must_read("--idle", "5m", NULL).idle_s, 300);
    assert_int_equal(must_read("--idle", "2h", NULL).idle_s, 7200);
    assert_int_equal(must_read("--idle", "1d", NULL).idle_s, 86400);
}

static void assert_changes(const struct settings *settings, const char *expected)
{
    TEXT_AUTO changes = { 0 };

    config_changes(table, COUNT, settings, &changes);
    assert_string_equal(text_string(&changes), expected);
}

static void lists_settings_that_differ_from_the_default(void **state)
{
    struct settings settings = must_read(NULL, NULL, NULL);

    (void)state;
    assert_changes(&settings, "{}");
    settings = must_read("--idle=900s", "--max-sessions=10000", NULL);
    assert_changes(&settings, "{}");
    settings = must_read("--listen=\"a\"", "--watch=no", "--idle=2h");
    assert_changes(&settings, "{\"listen\":\"\\\"a\\\"\",\"idle\":7200,\"watch\":false}");
}

static void says_which_setting_is_wrong_and_what_is_allowed(void **state)
{
    (void)state;
    assert_refused("--max-sessions", "0",
                   "--max-sessions is \"0\", but must be a whole number from 1 to 100000");
    assert_refused("--max-sessions", "many",
                   "--max-sessions is \"many\", but must be a whole number from 1 to 100000");
    assert_refused(
        "--idle", "2d",
        "--idle is \"2d\", but must be a time from 10s to 86400s, such as 90, 90s, 15m, 2h "
        "or 7d");
    assert_refused(
        "--idle", "m",
        "--idle is \"m\", but must be a time from 10s to 86400s, such as 90, 90s, 15m, 2h "
        "or 7d");
    assert_refused("--watch=maybe", NULL, "--watch is \"maybe\", but must be true or false");
    setenv("OPSBRAIN_WATCH", "2", 1);
    assert_refused(NULL, NULL, "OPSBRAIN_WATCH is \"2\", but must be true or false");
}

static void an_overflowing_time_is_refused(void **state)
{
    struct settings settings;
    struct error error;

    (void)state;
    assert_false(read_settings(&settings, &error, "--idle", "9223372036854775807d", NULL));
    assert_false(
        read_settings(&settings, &error, "--idle", "99999999999999999999999999999999d", NULL));
}

static void refuses_unknown_flags_and_arguments(void **state)
{
    (void)state;
    assert_refused("--max-session", "1",
                   "there is no flag \"--max-session\"; --help lists the flags");
    assert_refused("--token=abc", NULL, "there is no flag \"--token\"; --help lists the flags");
    assert_refused("serve", NULL, "there is no argument \"serve\"; --help lists the flags");
    assert_refused("--listen", NULL, "--listen needs a value");
}

static void text_has_a_maximum_length_and_must_be_utf8(void **state)
{
    static char text[CONFIG_TEXT_SIZE + 1];
    struct settings settings;
    struct error error;

    (void)state;
    memset(text, 'x', CONFIG_TEXT_SIZE);
    assert_false(read_settings(&settings, &error, "--listen", text, NULL));
    text[CONFIG_TEXT_SIZE - 1] = '\0';
    assert_string_equal(must_read("--listen", text, NULL).listen, text);
    assert_false(read_settings(&settings, &error, "--listen", "\xff", NULL));
}

static void help_fits_100_columns_and_names_flags_and_variables(void **state)
{
    TEXT_AUTO help = { 0 };

    (void)state;
    config_help(table, COUNT, &help);
    for (const char *line = help.data, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end);
        assert_in_range(end - line, 1, 100);
    }
    assert_non_null(strstr(help.data, "  --listen text "));
    assert_non_null(strstr(help.data, "  --max-sessions number "));
    assert_non_null(
        strstr(help.data, "sessions at once (default: 10000; OPSBRAIN_MAX_SESSIONS)\n"));
    assert_non_null(strstr(help.data, "\n                            ")); /* a continued line */
}

static void the_markdown_table_has_a_row_per_setting(void **state)
{
    TEXT_AUTO markdown = { 0 };
    int lines = 0;

    (void)state;
    config_markdown(table, COUNT, &markdown);
    for (const char *c = markdown.data; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 2 + COUNT);
    assert_non_null(
        strstr(markdown.data, "| `--max-sessions` | `OPSBRAIN_MAX_SESSIONS` | `10000` "));
    assert_non_null(strstr(markdown.data, "scrape metrics \\| or not"));
}

static void refuses_a_setting_without_a_type(void **state)
{
    static const struct setting untyped[] = { { "listen", 0, "x", 0, 0, 0, "an address" } };
    struct settings settings;
    struct error error;
    char program[] = "opsbrain";
    char *argv[] = { program };

    (void)state;
    assert_false(config_read(untyped, 1, 1, argv, &settings, &error));
    assert_non_null(strstr(error.message, "--listen is \"x\""));
    assert_non_null(strstr(error.message, "does not state"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clear_environment, clear_environment)

static void a_password_is_read_from_the_environment_only(void **state)
{
    static const struct setting private[] = { { "store", SETTING_PRIVATE, "", 0, 0,
                                                offsetof(struct settings, store), "a URL" } };
    char program[] = "opsbrain", flag[] = "--store=db://user:hunter2@host/name",
         unusual[] = "--store=db://user:hunter#2?@host/name";
    char *argv[] = { program, flag };
    struct settings settings;
    struct error error;

    (void)state;
    assert_false(config_read(private, 1, 2, argv, &settings, &error));
    assert_string_equal(error.message,
                        "--store has a password, which every user of this machine could read on "
                        "the command line: set the environment variable OPSBRAIN_STORE instead");
    argv[1] = unusual; /* libpq reads everything before the @ as the user and the password */
    assert_false(config_read(private, 1, 2, argv, &settings, &error));
    setenv("OPSBRAIN_STORE", "db://user:hunter2@host/name", 1);
    assert_true(config_read(private, 1, 1, argv, &settings, &error));
    assert_string_equal(settings.store, "db://user:hunter2@host/name");
    unsetenv("OPSBRAIN_STORE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(has_defaults),
        TEST(a_flag_overrides_the_environment_which_overrides_the_default),
        TEST(an_empty_variable_counts_as_unset_but_a_flag_can_be_empty),
        TEST(booleans_need_no_value),
        TEST(times_can_have_units),
        TEST(lists_settings_that_differ_from_the_default),
        TEST(says_which_setting_is_wrong_and_what_is_allowed),
        TEST(an_overflowing_time_is_refused),
        TEST(refuses_unknown_flags_and_arguments),
        TEST(text_has_a_maximum_length_and_must_be_utf8),
        TEST(help_fits_100_columns_and_names_flags_and_variables),
        TEST(refuses_a_setting_without_a_type),
        TEST(a_password_is_read_from_the_environment_only),
        TEST(the_markdown_table_has_a_row_per_setting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
