/* SPDX-License-Identifier: Apache-2.0 */
/* Forms that pages send over HTTP: which are received, and whether a form that waited for a worker
 * still takes effect. Also a HEAD request for the pages' event stream. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/core/workers.h"
#include "server/access/authority.h"
#include "server/access/sign_ins.h"
#include "server/pages/page_caller.h"
#include "store/audit/audit_log.h"
#include "tests/unit/support/http_client.h"
#include "tests/unit/support/served.h"

#define ORIGIN "Origin: http://localhost\r\n"
#define FILE_FORM ORIGIN "Content-Type: multipart/form-data; boundary=B\r\n"
#define FILES_AT_ONCE 8

static struct served served;
/* The test of a waiting form keeps all page workers busy. */
static atomic_int first_released;  /* 1: the worker that will run the form is released */
static atomic_int others_released; /* 1: the other workers are released */

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
    atomic_store(&first_released, 1);
    atomic_store(&others_released, 1);
    served_destroy(&served);
    return 0;
}

/* Sends a request on a new connection, and returns the status. The answer must contain `words`. */
static int post(const char *path, const char *headers, const char *body, const char *words)
{
    TEXT_AUTO reply = { 0 };
    int status = http_request(server_port(served.server), "POST", path, headers, body, &reply);

    if (strstr(text_string(&reply), words) == NULL)
        fail_msg("the answer %d \"%s\" does not contain \"%s\"", status, text_string(&reply),
                 words);
    return status;
}

/* Sends the head of a request with a file, and the first bytes of its body. */
static void begin_file(struct http_client *client)
{
    static const char bytes[] =
        "POST /imports HTTP/1.1\r\nHost: localhost\r\n" FILE_FORM "Content-Length: 100\r\n\r\n--B";

    http_open(client, server_port(served.server));
    http_send_bytes(client, bytes, sizeof bytes - 1);
}

static void a_refused_file_leaves_descriptor_0_open(void **state)
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

/* A body that is not multipart, or has no boundary, is refused, and is not received as a file. */
static void a_file_must_be_sent_as_multipart(void **state)
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

/* Anyone can send these forms without being signed in, so their size is limited. */
static void the_forms_for_signing_in_and_out_are_limited_to_16384_bytes(void **state)
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

static void add_key(const char *key)
{
    struct change change = { .actor = { "root", "admin", "", "" }, .tool = "key" };
    uint8_t digest[DIGEST_BYTES];
    struct api_key row;
    struct error error;

    digest_sha256(key, strlen(key), digest);
    assert_true(api_key_add(served.services.store, "ada", ROLE_OPERATOR, "", digest, 0, &change,
                            &row, &error));
    assert_true(authority_refresh(served.server->authority, &error));
}

static void revoke_keys(void)
{
    struct change change = { .actor = { "root", "admin", "", "" }, .tool = "key" };
    struct error error;
    int64_t revoked;

    assert_true(api_key_revoke(served.services.store, "ada", 1, &change, &revoked, &error));
    assert_true(authority_refresh(served.server->authority, &error));
}

/* Signs in. Writes the browser's headers, and the token for its forms. */
static void sign_in(const char *key, struct text *headers, char token[DIGEST_TEXT_SIZE])
{
    struct change change = { .actor = { .client = "", .request_id = "" },
                             .tool = "sign_in",
                             .arguments = "{}" };
    struct page_caller caller = { 0 };
    struct error error;

    assert_true(sign_in_add(served.server->sign_ins, key, &change, caller.session, &error));
    text_addf(headers, ORIGIN "Cookie: opsbrain_80=%s\r\n", caller.session);
    page_caller_token(&caller, token);
}

static atomic_int holding; /* the number of workers that are held */

static void hold_worker(void *flag)
{
    atomic_fetch_add(&holding, 1);
    while (!atomic_load((atomic_int *)flag))
        served_sleep_ms(2);
}

static void wait_until_queued(void)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(5000000000);

    while (workers_queued(served.server->pages_workers) == 0 && clock_monotonic_ns() < end_ns)
        served_sleep_ms(2);
    assert_int_equal(workers_queued(served.server->pages_workers), 1);
}

static void set_idle(void *idle)
{
    atomic_store((atomic_int *)idle, 1);
}

/* Returns how many calls of a tool are in the audit log. */
static size_t count_calls(const char *tool)
{
    const struct audit_filter filter = { .tool = tool };
    struct audit_row *rows;
    struct error error;
    size_t count;

    assert_true(audit_log_flush(served.services.store, &error));
    assert_true(audit_log_list(served.services.store, &filter, 10, &rows, &count, &error));
    audit_log_rows_free(rows, count);
    return count;
}

/* While the form waits for a worker, the key is revoked, and the server therefore closes the
 * connection. */
static void a_waiting_form_does_nothing_after_its_key_was_revoked(void **state)
{
    static atomic_int idle;
    char token[DIGEST_TEXT_SIZE];
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO body = { 0 };
    struct http_client client;
    struct error error;

    (void)state;
    atomic_store(&first_released, 0);
    atomic_store(&others_released, 0);
    atomic_store(&holding, 0);
    add_key("one");
    sign_in("one", &headers, token);
    text_addf(&body, "token=%s", token);
    /* One worker is busy until `first_released` is set, and then runs the form and set_idle, in
     * this order; the other workers are busy until `others_released` is set. */
    for (unsigned i = 0; i < PAGE_WORKERS; i++)
        assert_true(workers_submit(served.server->pages_workers, hold_worker,
                                   i == 0 ? &first_released : &others_released, &error));
    assert_true(served_reaches(&holding, PAGE_WORKERS));
    http_open(&client, server_port(served.server));
    http_send(&client, "POST", "/jobs/job_x/cancel", text_string(&headers), text_string(&body));
    wait_until_queued();
    assert_true(workers_submit(served.server->pages_workers, set_idle, &idle, &error));
    revoke_keys();
    atomic_store(&first_released, 1);
    assert_true(served_reaches(&idle, 1));
    assert_int_equal(count_calls("job_cancel"), 0);
    atomic_store(&others_released, 1);
    http_close(&client);
}

static void a_head_request_for_the_events_opens_no_stream(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, server_port(served.server));
    assert_int_equal(http_exchange(&client, "HEAD", "/events", NULL, NULL, NULL), 200);
    assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, NULL), 200);
    http_close(&client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_refused_file_leaves_descriptor_0_open),
        TEST(a_file_must_be_sent_as_multipart),
        TEST(the_forms_for_signing_in_and_out_are_limited_to_16384_bytes),
        TEST(a_waiting_form_does_nothing_after_its_key_was_revoked),
        TEST(a_head_request_for_the_events_opens_no_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
