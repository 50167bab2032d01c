/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of uploads: POST /v1/imports turns a file into a run, and POST /v1/datasets turns one into
 * a dataset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/evidence/evidence.h"
#include "base/core/digest.h"
#include "base/json/json.h"
#include "server/access/authority.h"
#include "tests/unit/support/http_client.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define GRID "concurrency,req_per_sec\n1,2\n4,6\n"

static struct served served;

static int start_with(const char *first_flag, const char *second_flag)
{
    char data[128];

    served_create(&served);
    snprintf(data, sizeof data, "--data=%s", served.folder);
    served_start(&served, data, first_flag, second_flag, NULL);
    return 0;
}

static int start(void **state)
{
    (void)state;
    return start_with("--body-timeout=60s", NULL);
}

static int start_with_short_timeout(void **state)
{
    (void)state;
    return start_with("--body-timeout=1s", NULL);
}

static int start_with_rate_limit(void **state)
{
    (void)state;
    return start_with("--rate-per-principal=1", "--burst-per-principal=1");
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* Sends a request on its own connection, and fails unless the answer has this status. Returns the
 * answer as JSON, or NULL if it is not JSON. */
static json_t *post(const char *path, const char *headers, const char *body, int status)
{
    /* under ThreadSanitizer, a body of 9 MiB takes a long time to answer */
    const struct timeval long_patience = { .tv_sec = 30 };
    struct http_client client;
    TEXT_AUTO reply = { 0 };
    int actual;

    http_open(&client, server_port(served.server));
    setsockopt(client.fd, SOL_SOCKET, SO_RCVTIMEO, &long_patience, sizeof long_patience);
    actual = http_exchange(&client, "POST", path, headers, body, &reply);
    http_close(&client);
    if (actual != status)
        fail_msg("got %d, expected %d: %s", actual, status, text_string(&reply));
    return json_loads(text_string(&reply), 0, NULL);
}

static void must_be_refused(const char *path, const char *headers, const char *body, int status,
                            const char *words)
{
    json_auto_t *reply = post(path, headers, body, status);
    const char *message = json_get_text(json_object_get(reply, "error"), "message", "");

    if (strstr(message, words) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", message, words);
}

static const char *run_id(const json_t *reply)
{
    return json_get_text(json_object_get(reply, "run"), "id", "");
}

static void a_file_becomes_a_run(void **state)
{
    json_auto_t *reply =
        post("/v1/imports?name=my%20grid.csv&hardware=L4&chips=2", NULL, GRID, 201);
    EVIDENCE_AUTO evidence;
    struct error error;

    (void)state;
    if (!evidence_find(served.services.store, run_id(reply), &evidence, &error))
        fail_msg("%s", error.message);
    assert_string_equal(evidence.name, "my grid.csv");
    assert_string_equal(evidence.principal, "local");
    assert_string_equal(evidence.facts.hardware, "L4");
    assert_true(evidence.facts.chips == 2);
    assert_int_equal(evidence.cell_count, 2);
    assert_true(evidence.cells[1].request_throughput == 6);
}

static void the_query_can_say_what_the_columns_are(void **state)
{
    json_auto_t *reply = post("/v1/imports?columns=u=concurrency&columns=speed%3Drequests_per_s",
                              NULL, "u,speed\n1,2\n4,6\n", 201);
    EVIDENCE_AUTO evidence;
    struct error error;

    (void)state;
    if (!evidence_find(served.services.store, run_id(reply), &evidence, &error))
        fail_msg("%s", error.message);
    assert_true(evidence.cells[1].concurrency == 4);
    assert_true(evidence.cells[1].request_throughput == 6);
    must_be_refused("/v1/imports?columns=speed", NULL, "u,speed\n1,2\n", 400,
                    "names no column known here");
}

static void a_file_becomes_a_dataset(void **state)
{
    json_auto_t *reply = post("/v1/datasets?name=chats", NULL, "{\"prompt\":\"one\"}\n", 201);
    json_auto_t *again = post("/v1/datasets?name=chats", NULL, "{\"prompt\":\"one\"}\n", 200);

    (void)state;
    assert_int_equal(json_get_integer(json_object_get(reply, "dataset"), "count", 0), 1);
    assert_true(json_get_boolean(again, "already_known", false));
    must_be_refused("/v1/datasets", NULL, "{\"prompt\":\"one\"}", 400, "\"name\"");
    must_be_refused("/v1/datasets?name=chats", NULL, "{\"prompt\":\"two\"}", 409, "another name");
    must_be_refused("/v1/datasets?name=bad", NULL, "{\"prompt\":", 400, "cannot be read");
}

static void importing_a_file_again_returns_the_same_run(void **state)
{
    json_auto_t *first = post("/v1/imports", NULL, GRID, 201);
    json_auto_t *second = post("/v1/imports/", NULL, GRID, 200);

    (void)state;
    assert_string_equal(run_id(first), run_id(second));
    assert_true(json_get_boolean(second, "already_known", false));
}

static void an_upload_notifies_clients_that_the_resource_list_changed(void **state)
{
    struct http_client client;
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    char *session = mcp_initialize(server_port(served.server), NULL);

    (void)state;
    text_addf(&headers, MCP_HEADERS "Mcp-Session-Id: %s\r\n", session);
    http_open(&client, server_port(served.server));
    http_send(&client, "GET", "/mcp", text_string(&headers), NULL);
    assert_int_equal(http_read_head(&client), 200);
    json_decref(post("/v1/imports", NULL, GRID, 201));
    assert_true(http_message(&client, &pending, &event));
    assert_non_null(strstr(text_string(&event), "notifications/resources/list_changed"));
    http_close(&client);
    free(session);
}

static void a_refusal_says_what_is_wrong_with_the_file_or_the_query(void **state)
{
    (void)state;
    must_be_refused("/v1/imports", NULL, "hello", 400, "none of the known formats");
    must_be_refused("/v1/imports", NULL, "", 400, "no body");
    must_be_refused("/v1/imports?format=vllm", NULL, "{\"a\":", 400, "begins at line 1");
    must_be_refused("/v1/imports?colour=red", NULL, GRID, 400, "colour");
    must_be_refused("/v1/imports?chips=many", NULL, GRID, 400, "\"chips\"");
    must_be_refused("/v1/imports?run=imp_x", NULL, GRID, 400, "not both");
    must_be_refused("/v1/imports?text=x", NULL, GRID, 400, "omit \"text\"");
    must_be_refused("/v1/imports?%ff=1", NULL, GRID, 400, "");
}

static void viewers_cannot_upload(void **state)
{
    struct change change = { .actor = { "root", "admin", "", "" }, .tool = "key" };
    char key[KEY_SIZE], digest_text[DIGEST_TEXT_SIZE];
    uint8_t digest[DIGEST_BYTES];
    TEXT_AUTO header = { 0 };
    struct api_key row;
    struct error error;

    (void)state;
    authority_generate_key(key, digest_text);
    digest_sha256(key, strlen(key), digest);
    assert_true(api_key_add(served.services.store, "vera", ROLE_VIEWER, "", digest, 0, &change,
                            &row, &error));
    assert_true(authority_refresh(served.server->authority, &error));
    text_addf(&header, "Authorization: Bearer %s\r\n", key);
    must_be_refused("/v1/imports", text_string(&header), GRID, 403,
                    "/v1/imports needs the role operator; vera has the role viewer");
}

/* Makes a table of about `length` bytes. It has only 1000 rows, which are long, because a run can
 * have at most 20,000 cells. */
static char *long_grid(size_t length)
{
    struct text grid = { 0 };

    text_add(&grid, "concurrency,req_per_sec,note\n");
    for (int row = 1; row <= 1000; row++) {
        text_addf(&grid, "%d,2,", row);
        for (size_t i = 0; i < length / 1000; i += 10)
            text_add(&grid, "0123456789");
        text_add(&grid, "\n");
    }
    return text_take(&grid);
}

static void an_uploaded_file_can_be_larger_than_other_request_bodies(void **state)
{
    char *grid = long_grid(9 << 20);
    json_auto_t *reply = post("/v1/imports", NULL, grid, 201);

    (void)state;
    assert_int_equal(json_get_integer(json_object_get(reply, "run"), "cells_total", 0), 1000);
    free(grid);
}

/* Sends the head of a request whose body has `length` bytes, then `bytes`, the beginning of the
 * body. */
static void begin_upload(struct http_client *client, size_t length, const char *bytes)
{
    TEXT_AUTO request = { 0 };

    text_addf(&request,
              "POST /v1/imports HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
              length, bytes);
    http_open(client, server_port(served.server));
    http_send_bytes(client, request.data, request.length);
}

static void a_file_far_over_the_limit_is_refused_before_it_is_sent(void **state)
{
    struct http_client client;

    (void)state;
    begin_upload(&client, ((size_t)256 << 20) + 1, "");
    assert_int_equal(http_read_head(&client), 413);
    http_close(&client);
}

/* Like Python's urllib, the client reads only after it has sent everything. */
static void a_client_that_sends_a_whole_oversized_file_can_read_the_refusal(void **state)
{
    static const char bytes[1 << 20] = { 0 };
    struct http_client client;
    TEXT_AUTO body = { 0 };

    (void)state;
    begin_upload(&client, ((size_t)64 << 20) + sizeof bytes, "");
    for (int i = 0; i < 65; i++)
        http_send_bytes(&client, bytes, sizeof bytes);
    assert_int_equal(http_read_head(&client), 413);
    while (http_read_part(&client, &body))
        continue;
    assert_non_null(strstr(text_string(&body), "longer than 67108864 bytes"));
    http_close(&client);
}

/* Waits until exactly `count` uploads are in progress. Returns false after 20 seconds. */
static bool uploads_become(int count)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(20000000000);

    while (atomic_load(&served.server->uploads.count) != count && clock_monotonic_ns() < end_ns)
        served_sleep_ms(2);
    return atomic_load(&served.server->uploads.count) == count;
}

static void a_client_that_disconnects_during_an_upload_leaves_no_upload_behind(void **state)
{
    struct http_client client;

    (void)state;
    begin_upload(&client, 100, "abc");
    assert_true(uploads_become(1));
    http_close(&client);
    assert_true(uploads_become(0));
}

static void stalled_uploads_are_disconnected(void **state)
{
    struct http_client client;

    (void)state;
    begin_upload(&client, 100, "abc");
    for (int i = 0; i < 4 && !http_is_closed(&client); i++)
        continue; /* each check waits for up to five seconds */
    assert_true(http_is_closed(&client));
    assert_true(uploads_become(0));
    http_close(&client);
}

static void concurrent_uploads_are_limited(void **state)
{
    struct http_client clients[8];

    (void)state;
    for (int i = 0; i < 8; i++) {
        begin_upload(&clients[i], 9, "abc");
    }
    assert_true(uploads_become(8));
    must_be_refused("/v1/imports", NULL, GRID, 503, "try again");
    for (int i = 0; i < 8; i++)
        http_close(&clients[i]);
    assert_true(uploads_become(0));
}

/* Repeats the upload until it is refused: on a slow machine, the rate limit allows several. */
static void uploads_count_towards_the_rate_limit_of_their_principal(void **state)
{
    struct http_client client;
    TEXT_AUTO reply = { 0 };
    int status = 0;

    (void)state;
    http_open(&client, server_port(served.server));
    for (int i = 0; i < 200 && status != 429; i++) {
        text_clear(&reply);
        status = http_exchange(&client, "POST", "/v1/imports", NULL, GRID, &reply);
        assert_true(status == (i == 0 ? 201 : 200) || (i > 0 && status == 429));
    }
    http_close(&client);
    assert_int_equal(status, 429);
    assert_non_null(strstr(text_string(&reply), "local may send 1 per second"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_file_becomes_a_run),
        TEST(the_query_can_say_what_the_columns_are),
        TEST(a_file_becomes_a_dataset),
        TEST(importing_a_file_again_returns_the_same_run),
        TEST(an_upload_notifies_clients_that_the_resource_list_changed),
        TEST(a_refusal_says_what_is_wrong_with_the_file_or_the_query),
        TEST(viewers_cannot_upload),
        TEST(an_uploaded_file_can_be_larger_than_other_request_bodies),
        TEST(a_file_far_over_the_limit_is_refused_before_it_is_sent),
        TEST(a_client_that_sends_a_whole_oversized_file_can_read_the_refusal),
        TEST(a_client_that_disconnects_during_an_upload_leaves_no_upload_behind),
        cmocka_unit_test_setup_teardown(stalled_uploads_are_disconnected, start_with_short_timeout,
                                        stop),
        TEST(concurrent_uploads_are_limited),
        cmocka_unit_test_setup_teardown(uploads_count_towards_the_rate_limit_of_their_principal,
                                        start_with_rate_limit, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
