/* SPDX-License-Identifier: Apache-2.0 */
/* If a caller loses the right to read its streams, their connections end within a second. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/access/authority.h"
#include "server/http/http_loop.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define SECOND_NS INT64_C(1000000000)

static struct served served;
/* Authorization headers of olga, who is an operator, and vera, who is a viewer. */
static char operator[512], viewer[512];

static unsigned port(void)
{
    return server_port(served.server);
}

static void add_key(const char *name, enum role role, int64_t expires_ms, char headers[512])
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE];
    uint8_t digest[DIGEST_BYTES];
    struct api_key added;
    struct error error;

    authority_generate_key(key, hex);
    digest_sha256(key, strlen(key), digest);
    assert_true(api_key_add(served.services.store, name, role, "", digest, expires_ms, NULL, &added,
                            &error));
    assert_true(authority_refresh(served.server->authority, &error));
    snprintf(headers, 512, "Authorization: Bearer %s\r\n", key);
}

static void set_role(const char *name, enum role role)
{
    struct error error;
    enum role before;

    assert_true(principal_set_role(served.services.store, name, role, NULL, &before, &error));
    assert_true(authority_refresh(served.server->authority, &error));
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--keep-alive=60s", "--http-threads=2", NULL);
    atomic_store(&served_cancelled, 0);
    add_key("olga", ROLE_OPERATOR, 0, operator);
    add_key("vera", ROLE_VIEWER, 0, viewer);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

#define LISTEN                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\"," MODERN_PARAMS(            \
        "\"notifications\":{\"toolsListChanged\":true},") "}"
#define SLOW                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," MODERN_PARAMS(                      \
        "\"name\":\"slow\",\"arguments\":{\"steps\":2000,\"step_ms\":5},") "}"

enum stream_kind {
    SESSION_STREAM, /* a session's long-lived stream */
    LISTENING,      /* a stream that subscriptions/listen opened */
    CALLING,        /* the stream that answers a call */
    STREAM_KINDS    /* the number of kinds */
};

static void open_stream(struct http_client *client, enum stream_kind kind, const char *key)
{
    TEXT_AUTO headers = { 0 };
    char *session = kind == SESSION_STREAM ? mcp_initialize(port(), key) : NULL;

    text_add(&headers, key);
    if (kind == SESSION_STREAM)
        text_addf(&headers, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n", session);
    else
        text_add(&headers, kind == LISTENING ? MODERN_HEADERS("subscriptions/listen")
                                             : MODERN_HEADERS("tools/call") "Mcp-Name: slow\r\n");
    http_open(client, port());
    http_send(client, kind == SESSION_STREAM ? "GET" : "POST", "/mcp", text_string(&headers),
              kind == SESSION_STREAM ? NULL
              : kind == LISTENING    ? LISTEN
                                     : SLOW);
    /* the head of a call's answer is sent only with the first event */
    if (kind == CALLING)
        assert_true(served_reaches(&served_running, 1));
    else
        assert_int_equal(http_read_head(client), 200);
    free(session);
}

static void open_streams(struct http_client clients[STREAM_KINDS], const char *key)
{
    for (enum stream_kind kind = 0; kind < STREAM_KINDS; kind++)
        open_stream(&clients[kind], kind, key);
}

static void must_end_within_a_second(struct http_client clients[STREAM_KINDS])
{
    int64_t begun_ns = clock_monotonic_ns();

    for (enum stream_kind kind = 0; kind < STREAM_KINDS; kind++) {
        assert_true(http_is_closed(&clients[kind]));
        http_close(&clients[kind]);
    }
    assert_true(clock_monotonic_ns() - begun_ns < SECOND_NS);
    assert_true(served_reaches(&served_cancelled, 1));
    assert_true(served_falls(&served_running, 0));
}

/* Checks that the connection is open, whether or not an event is waiting to be read. */
static void must_be_open(const struct http_client *client)
{
    ssize_t got = recv(client->fd, (char[1]){ 0 }, 1, MSG_DONTWAIT | MSG_PEEK);

    assert_true(got > 0 || (got < 0 && errno == EAGAIN));
}

static void execute(const char *script)
{
    backdoor_run(served.folder, script);
}

static void refresh(void)
{
    struct error error;

    assert_true(authority_refresh(served.server->authority, &error));
}

static void streams_of_a_revoked_key_end_and_others_continue(void **state)
{
    struct http_client clients[STREAM_KINDS], other;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    struct error error;
    int64_t revoked;

    (void)state;
    open_stream(&other, LISTENING, viewer);
    assert_true(http_event(&other, &pending, &event));
    open_streams(clients, operator);
    assert_true(
        api_key_revoke(served.services.store, "olga", clock_utc_ms(), NULL, &revoked, &error));
    refresh();
    must_end_within_a_second(clients);
    must_be_open(&other);
    http_close(&other);
}

static void streams_of_an_expired_key_end(void **state)
{
    struct http_client clients[STREAM_KINDS];
    int64_t expires_ms = clock_utc_ms() + 2000;
    char headers[512];

    (void)state;
    add_key("eric", ROLE_OPERATOR, expires_ms, headers);
    open_streams(clients, headers);
    while (clock_utc_ms() < expires_ms - 100)
        served_sleep_ms(20);
    assert_int_equal(atomic_load(&served.server->http->open_streams), 2);
    must_end_within_a_second(clients);
}

static void streams_of_a_principal_whose_role_was_lowered_end(void **state)
{
    struct http_client clients[STREAM_KINDS];

    (void)state;
    open_streams(clients, operator);
    set_role("olga", ROLE_VIEWER);
    must_end_within_a_second(clients);
}

static void streams_of_a_principal_whose_role_was_raised_continue(void **state)
{
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };

    (void)state;
    open_stream(&client, LISTENING, viewer);
    assert_true(http_event(&client, &pending, &event));
    set_role("vera", ROLE_ADMIN);
    served_sleep_ms(100);
    must_be_open(&client);
    http_close(&client);
}

/* While keys that have changed cannot be read, no key gives access. */
static void streams_of_a_key_end_if_changed_keys_cannot_be_read(void **state)
{
    struct http_client clients[STREAM_KINDS];
    struct error error;
    int64_t revoked;

    (void)state;
    open_streams(clients, operator);
    assert_true(
        api_key_revoke(served.services.store, "olga", clock_utc_ms(), NULL, &revoked, &error));
    execute("ALTER TABLE api_keys RENAME TO mislaid");
    assert_false(authority_refresh(served.server->authority, &error));
    must_end_within_a_second(clients);
}

static int64_t loops_cpu_ns(void)
{
    const struct http *http = served.server->http;
    int64_t sum_ns = 0;

    for (unsigned i = 0; i < http->loop_count; i++) {
        struct timespec used;
        clockid_t id;

        assert_int_equal(pthread_getcpuclockid(http->loops[i]->thread, &id), 0);
        assert_int_equal(clock_gettime(id, &used), 0);
        sum_ns += used.tv_sec * SECOND_NS + used.tv_nsec;
    }
    return sum_ns;
}

/* A key added with `opsbrain key add --expires 9999-12-31` expires at a time that, in nanoseconds,
 * does not fit into 64 bits. */
static void a_key_that_expires_in_thousands_of_years_keeps_no_thread_busy(void **state)
{
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    char headers[512];
    int64_t before_ns;

    (void)state;
    add_key("eva", ROLE_OPERATOR, INT64_C(253402214400000), headers);
    open_stream(&client, LISTENING, headers);
    assert_true(http_event(&client, &pending, &event));
    before_ns = loops_cpu_ns();
    served_sleep_ms(400);
    assert_true(loops_cpu_ns() - before_ns < SECOND_NS / 20);
    must_be_open(&client);
    http_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams_of_a_revoked_key_end_and_others_continue, start,
                                        stop),
        cmocka_unit_test_setup_teardown(streams_of_an_expired_key_end, start, stop),
        cmocka_unit_test_setup_teardown(streams_of_a_principal_whose_role_was_lowered_end, start,
                                        stop),
        cmocka_unit_test_setup_teardown(streams_of_a_principal_whose_role_was_raised_continue,
                                        start, stop),
        cmocka_unit_test_setup_teardown(streams_of_a_key_end_if_changed_keys_cannot_be_read, start,
                                        stop),
        cmocka_unit_test_setup_teardown(
            a_key_that_expires_in_thousands_of_years_keeps_no_thread_busy, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
