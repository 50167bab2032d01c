/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that a server drops, closes or leaves open, and a limit on file descriptors that is
 * too low. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/net/outbound.h"
#include "bench/cell/cell.h"
#include "tests/unit/support/canned_server.h"
#include "tests/unit/support/cell_trial.h"
#include "tests/unit/support/script_server.h"

static const char complete_answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 131\r\n\r\n"
    "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":64,\"completion_tokens\":8}}\n\n"
    "data: [DONE]          \n\n";

/* A server that answers one request on each connection, and closes the connection when a second
 * request arrives. The first connection gets two answers before it is closed: otherwise the client
 * would conclude that the server never answers more than one request per connection. */
struct dropper {
    int listener;
    bool fails_fresh;   /* every other connection is closed when its first request arrives */
    bool leaves_unread; /* the request that makes the server close a connection is not read */
    pthread_t thread;
    /* How many connections had an answer, were dropped after one, and were dropped before any. */
    int64_t answered, dropped_old, dropped_fresh;
};

static void *drop_connections(void *context)
{
    static char request[CANNED_REQUEST_SIZE];
    struct dropper *dropper = context;
    int connection;

    for (bool fails = false; (connection = accept(dropper->listener, NULL, NULL)) >= 0;
         fails = dropper->fails_fresh && !fails) {
        if (canned_read(connection, request) != NULL) {
            dropper->dropped_fresh += fails;
            if (!fails && canned_send(connection, complete_answer, sizeof complete_answer - 1)) {
                if (dropper->answered++ == 0 && canned_read(connection, request) != NULL)
                    canned_send(connection, complete_answer, sizeof complete_answer - 1);
                dropper->dropped_old += dropper->leaves_unread
                                            ? recv(connection, request, 1, MSG_PEEK) > 0
                                            : canned_read(connection, request) != NULL;
            }
        }
        close(connection);
    }
    return NULL;
}

/* Measures a cell with one user on the dropper. */
static const struct measurement *measure_dropper(struct trial *trial, struct dropper *dropper)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    const struct measurement *m;

    dropper->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(dropper->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(dropper->listener, 8), 0);
    getsockname(dropper->listener, (struct sockaddr *)&address, &length);
    assert_int_equal(pthread_create(&dropper->thread, NULL, drop_connections, dropper), 0);
    set_up(trial, NULL);
    snprintf(trial->endpoint.url, sizeof trial->endpoint.url, "http://127.0.0.1:%d",
             ntohs(address.sin_port));
    trial->order.concurrency = 1;
    trial->order.probe = false;
    m = measure(trial);
    shutdown(dropper->listener, SHUT_RDWR);
    pthread_join(dropper->thread, NULL);
    close(dropper->listener);
    if (trial->result.state != CELL_MEASURED)
        fail_msg("%s", trial->result.reason);
    return m;
}

static void a_stale_connection_is_not_a_failure(void **state)
{
    struct dropper dropper = { 0 };
    struct trial trial;
    const struct measurement *m = measure_dropper(&trial, &dropper);

    (void)state;
    assert_int_equal(m->succeeded, m->attempted);
    assert_true(m->stale_connections > 0);
    assert_int_equal(m->stale_connections, dropper.dropped_old);
    assert_int_equal(m->new_connections, dropper.answered);
    /* The server dropped a connection only after it had read a request, so it may have counted that
     * request, although the client then sent it again. */
    assert_int_equal(trial.result.sent.more_requests, m->stale_connections);
    tear_down(&trial);
}

/* llama-server closes a connection after each streamed answer; some servers do so after several. */
static void the_client_learns_after_how_many_answers_a_server_closes_connections(void **state)
{
    static const char *const after[] = { "1", "3" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *const flags[] = { "--close-after-requests", after[i], NULL };
        struct connection_reuse reuse = { 0 };
        struct trial trial;

        set_up(&trial, flags);
        trial.order.reuse = &reuse;
        measure(&trial);
        assert_int_equal(trial.result.state, CELL_MEASURED);
        assert_int_equal(atomic_load(&reuse.limit), (int)i == 0 ? 1 : 3);
        prepare_again(&trial);
        const struct measurement *m = measure(&trial);
        assert_true(m->succeeded > 20);
        assert_int_equal(m->succeeded, m->attempted);
        assert_int_equal(m->stale_connections, 0);
        assert_int_equal(trial.result.sent.more_requests, 0);
        tear_down(&trial);
    }
}

static void a_request_that_the_server_did_not_read_cannot_have_been_counted(void **state)
{
    struct dropper dropper = { .leaves_unread = true };
    struct trial trial;
    const struct measurement *m = measure_dropper(&trial, &dropper);

    (void)state;
    assert_int_equal(m->succeeded, m->attempted);
    assert_true(m->stale_connections > 0);
    assert_int_equal(m->stale_connections, dropper.dropped_old);
    assert_int_equal(trial.result.sent.more_requests, 0);
    tear_down(&trial);
}

static void a_request_is_sent_at_most_twice(void **state)
{
    struct dropper dropper = { .fails_fresh = true };
    struct trial trial;
    const struct measurement *m = measure_dropper(&trial, &dropper);

    (void)state;
    assert_true(m->failures[FAILURE_RESET] > 0);
    assert_int_equal(m->attempted, m->succeeded + m->failures[FAILURE_RESET]);
    assert_int_equal(m->stale_connections, dropper.dropped_old);
    assert_int_equal(dropper.dropped_fresh, dropper.dropped_old);
    tear_down(&trial);
}

/* Behind some proxies, the body of an answer never ends. */
static void an_answer_with_done_is_complete_even_if_its_body_does_not_end(void **state)
{
    static const struct script_step steps[] = {
        { .bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                   "data: {\"choices\":[{\"text\":\"x\",\"finish_reason\":\"length\"}]}\n\n"
                   "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":64,"
                   "\"completion_tokens\":8}}\n\ndata: [DONE]\n\n" },
        { 0 }
    };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct script_server server;
        struct trial trial;

        script_start(&server, steps);
        set_up(&trial, NULL);
        snprintf(trial.endpoint.url, sizeof trial.endpoint.url, "http://127.0.0.1:%d", server.port);
        trial.order.only_libcurl = by_libcurl == 1;
        trial.order.concurrency = 1;
        trial.plan.idle_timeout_s = 20;
        trial.plan.requests = 3;
        const struct measurement *m = measure(&trial);
        assert_int_equal(trial.result.state, CELL_MEASURED);
        assert_int_equal(m->succeeded, m->attempted);
        assert_true(m->left_open >= m->attempted);
        assert_true(m->new_connections >= m->left_open);
        /* E2E ends with the last byte that arrives. */
        assert_true(m->latency[METRIC_E2E].p50_ms < 200);
        tear_down(&trial);
        script_stop(&server);
    }
}

/* This test runs last, because the limit that it lowers cannot be raised again. */
static void reports_that_the_limit_on_descriptors_is_too_low(void **state)
{
    const struct rlimit limit = { 128, 128 };
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    trial.order.concurrency = 200;
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_int_equal(m->failures[FAILURE_CLIENT_LIMIT], 1);
    assert_true(m->client_limited);
    assert_non_null(strstr(trial.result.reason, "this process is allowed only 128"));
    tear_down(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stale_connection_is_not_a_failure),
        cmocka_unit_test(a_request_is_sent_at_most_twice),
        cmocka_unit_test(the_client_learns_after_how_many_answers_a_server_closes_connections),
        cmocka_unit_test(a_request_that_the_server_did_not_read_cannot_have_been_counted),
        cmocka_unit_test(an_answer_with_done_is_complete_even_if_its_body_does_not_end),
        cmocka_unit_test(reports_that_the_limit_on_descriptors_is_too_low),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
