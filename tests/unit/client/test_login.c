/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/remote/event_stream.h"
#include "client/remote/login.h"

#define KEY "obk_test"

static char folder[] = "/tmp/opsbrain-login-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("OPSBRAIN_URL");
    unsetenv("OPSBRAIN_KEY");
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void store(const char *url, const char *key)
{
    struct login login = { 0 };
    struct error error;

    assert_true(login_url(url, login.url, &error));
    text_copy(login.key, sizeof login.key, key);
    assert_true(login_store(&login, &error));
}

static void without_a_login_the_default_server_is_called(void **state)
{
    struct login login;
    struct error error;

    (void)state;
    assert_true(login_read(&login, &error));
    assert_string_equal(login.url, LOGIN_URL_USUAL);
    assert_string_equal(login.key, "");
}

static void a_stored_key_can_be_read_only_by_its_owner(void **state)
{
    char path[128];
    struct stat status;
    struct login login;
    struct error error;

    (void)state;
    store("https://one.example.com/mcp", KEY);
    assert_true(login_read(&login, &error));
    assert_string_equal(login.url, "https://one.example.com");
    assert_string_equal(login.key, KEY);
    snprintf(path, sizeof path, "%s/opsbrain/login.json", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
}

static void a_stored_key_is_not_used_for_another_server(void **state)
{
    static const char *const others[] = { "http://one.example.com", "https://one.example.com:8443",
                                          "https://one.example.com.evil.net",
                                          "https://two.example.com" };
    struct login login;
    struct error error;

    (void)state;
    store("https://one.example.com", KEY);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        setenv("OPSBRAIN_URL", others[i], 1);
        assert_true(login_read(&login, &error));
        assert_string_equal(login.key, "");
    }
    setenv("OPSBRAIN_URL", "https://ONE.example.com:443/mcp", 1);
    assert_true(login_read(&login, &error));
    assert_string_equal(login.key, KEY);
    unsetenv("OPSBRAIN_URL");
}

static void a_file_that_others_can_read_is_refused(void **state)
{
    char path[128];
    struct login login;
    struct error error;

    (void)state;
    store("https://one.example.com", KEY);
    snprintf(path, sizeof path, "%s/opsbrain/login.json", folder);
    assert_int_equal(chmod(path, 0640), 0);
    assert_false(login_read(&login, &error));
    assert_non_null(strstr(error.message, "chmod 600"));
    assert_int_equal(chmod(path, 0600), 0);
}

static void a_file_that_is_not_a_json_object_is_refused(void **state)
{
    static const char *const contents[] = { "", "[]", "\"text\"", "{", "1", "{}{}" };
    char path[128];
    struct login login;
    struct error error;

    (void)state;
    store("https://one.example.com", KEY);
    snprintf(path, sizeof path, "%s/opsbrain/login.json", folder);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        FILE *file = fopen(path, "w");

        fputs(contents[i], file);
        fclose(file);
        assert_false(login_read(&login, &error));
        assert_non_null(
            strstr(error.message, "is not in the format that opsbrain login writes: delete it"));
    }
    assert_int_equal(unlink(path), 0);
}

static void a_stored_key_can_be_deleted(void **state)
{
    struct login login;
    struct error error;
    bool found;

    (void)state;
    store("https://one.example.com", KEY);
    assert_true(login_forget("https://one.example.com", &found, &error));
    assert_true(found);
    assert_true(login_read(&login, &error));
    assert_string_equal(login.key, "");
    assert_true(login_forget("https://one.example.com", &found, &error));
    assert_false(found);
}

static void an_empty_key_replaces_a_stored_one(void **state)
{
    struct login login;
    struct error error;
    bool found;

    (void)state;
    store("https://one.example.com", KEY);
    store("https://two.example.com", KEY);
    store("https://one.example.com", "");
    assert_true(login_read(&login, &error));
    assert_string_equal(login.url, "https://one.example.com");
    assert_string_equal(login.key, "");
    assert_true(login_forget("https://two.example.com", &found, &error));
    assert_true(found);
}

static void addresses_that_cannot_be_called_are_refused(void **state)
{
    static const char *const wrong[] = { "", "one.example.com", "ftp://one.example.com",
                                         "https://user:word@one.example.com",
                                         "http://169.254.169.254" };
    char url[LOGIN_URL_SIZE];
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(login_url(wrong[i], url, &error));
        assert_non_null(strstr(error.message, LOGIN_URL_USUAL));
    }
}

/* ---- Event streams ---- */

static bool collect(void *context, const char *data, size_t length)
{
    text_add_bytes(context, data, length);
    text_add_char(context, ';');
    return true;
}

static void events_do_not_depend_on_how_the_stream_is_split(void **state)
{
    static const char stream[] =
        ": keep\r\nevent: message\r\nid: 1\r\ndata: one\r\ndata:two\r\n\r\n\n"
        "data: three\n\ndata: four\r\rdata: unfinished";

    (void)state;
    for (size_t piece = 1; piece < sizeof stream; piece++) {
        struct event_stream events = { 0 };
        TEXT_AUTO out = { 0 };

        for (size_t at = 0; at < sizeof stream - 1; at += piece) {
            size_t left = sizeof stream - 1 - at;

            assert_true(event_stream_feed(&events, stream + at, left < piece ? left : piece,
                                          collect, &out));
        }
        assert_string_equal(text_string(&out), "one\ntwo;three;four;");
        event_stream_finish(&events);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_login_the_default_server_is_called),
        cmocka_unit_test(a_stored_key_can_be_read_only_by_its_owner),
        cmocka_unit_test(a_stored_key_is_not_used_for_another_server),
        cmocka_unit_test(a_file_that_others_can_read_is_refused),
        cmocka_unit_test(a_file_that_is_not_a_json_object_is_refused),
        cmocka_unit_test(a_stored_key_can_be_deleted),
        cmocka_unit_test(an_empty_key_replaces_a_stored_one),
        cmocka_unit_test(addresses_that_cannot_be_called_are_refused),
        cmocka_unit_test(events_do_not_depend_on_how_the_stream_is_split),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
