/* SPDX-License-Identifier: Apache-2.0 */
/* The pages' POSTs over HTTP: what is received of them, and whether they still run. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/support/http_client.h"
#include "tests/unit/support/served.h"

#define ORIGIN "Origin: http://localhost\r\n"
#define FILE_FORM ORIGIN "Content-Type: multipart/form-data; boundary=B\r\n"
#define FILES_AT_ONCE 8

static struct served served;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--workers=1", NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* One request on a connection of its own: its status. `words` are in the answer. */
static int post(const char *path, const char *headers, const char *body, const char *words)
{
    TEXT_AUTO reply = { 0 };
    int status = http_request(server_port(served.server), "POST", path, headers, body, &reply);

    if (strstr(text_string(&reply), words) == NULL)
        fail_msg("%d \"%s\" does not say \"%s\"", status, text_string(&reply), words);
    return status;
}

/* The head of a form with a file, and the first of it. */
static void begin_file(struct http_client *client)
{
    static const char bytes[] =
        "POST /imports HTTP/1.1\r\nHost: localhost\r\n" FILE_FORM "Content-Length: 100\r\n\r\n--B";

    http_open(client, server_port(served.server));
    http_send_bytes(client, bytes, sizeof bytes - 1);
}

static void a_refused_file_closes_no_descriptor_of_others(void **state)
{
    struct http_client clients[FILES_AT_ONCE];
    atomic_int *files = &served.server->pages.files;

    (void)state;
    for (int i = 0; i < FILES_AT_ONCE; i++)
        begin_file(&clients[i]);
    assert_true(served_reaches(files, FILES_AT_ONCE));
    for (int i = 0; i < 2; i++)
        assert_int_equal(post("/imports", FILE_FORM, "--B--", "8 files are being received"), 503);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    for (int i = 0; i < FILES_AT_ONCE; i++)
        http_close(&clients[i]);
    assert_true(served_falls(files, 0));
}

/* Nothing is stored of it. */
static void a_file_comes_as_multipart(void **state)
{
    static const char *const types[] = {
        ORIGIN "Content-Type: application/x-www-form-urlencoded\r\n",
        ORIGIN "Content-Type: multipart/form-data\r\n",
        ORIGIN,
    };

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_int_equal(post("/imports", types[i], "token=x", "multipart/form-data"), 415);
    assert_int_equal(atomic_load(&served.server->pages.files), 0);
}

/* Nobody has signed in yet. */
static void a_form_without_a_file_is_short(void **state)
{
    TEXT_AUTO body = { 0 };

    (void)state;
    for (int i = 0; i < 20000; i++)
        text_add_char(&body, 'x');
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(post(i == 0 ? "/sign-in" : "/sign-out", ORIGIN, text_string(&body),
                              "longer than 16384 bytes"),
                         413);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_refused_file_closes_no_descriptor_of_others),
        TEST(a_file_comes_as_multipart),
        TEST(a_form_without_a_file_is_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
