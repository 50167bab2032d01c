/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--http-threads=2", "--connections-per-address=3", "--connections=16",
                 NULL);
    return 0;
}

static int start_with_one_thread(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--connections=16", NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* Makes a client that will connect from this loopback address. */
static void prepare(struct http_client *client, uint32_t from)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(from) };
    struct timeval patience = { .tv_sec = 5 };

    *client = (struct http_client){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(bind(client->fd, (struct sockaddr *)&address, sizeof address), 0);
}

static void connect_now(struct http_client *client)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port()),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof address), 0);
}

static int ask_health(struct http_client *client)
{
    return http_exchange(client, "GET", "/health", NULL, NULL, NULL);
}

/* Connects repeatedly until a request is answered, because it takes the server a moment to notice
 * that an earlier connection was closed. Gives up after 10 seconds. */
static bool is_served_soon(uint32_t from)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(10000000000);
    int status = 0;

    while (status != 200 && clock_monotonic_ns() < end_ns) {
        struct http_client client;

        prepare(&client, from);
        connect_now(&client);
        status = ask_health(&client);
        http_close(&client);
    }
    return status == 200;
}

static void connections_are_limited_per_address(void **state)
{
    struct http_client clients[4], other;

    (void)state;
    for (int i = 0; i < 4; i++) {
        prepare(&clients[i], INADDR_LOOPBACK);
        connect_now(&clients[i]);
        assert_int_equal(ask_health(&clients[i]), i < 3 ? 200 : 0);
    }
    prepare(&other, INADDR_LOOPBACK + 1);
    connect_now(&other);
    assert_int_equal(ask_health(&other), 200);
    assert_int_equal(ask_health(&clients[0]), 200);
    http_close(&clients[0]);
    assert_true(is_served_soon(INADDR_LOOPBACK));
    for (int i = 1; i < 4; i++)
        http_close(&clients[i]);
    http_close(&other);
}

/* Connects, and sends a request that is authenticated: from then on the client is known
 * (acceptor.h). Then sends a request without authentication, which must not change this. */
static void become_known(struct http_client *client)
{
    connect_now(client);
    assert_int_equal(http_exchange(client, "POST", "/mcp", MCP_HEADERS,
                                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", NULL),
                     200);
    assert_int_equal(http_exchange(client, "GET", "/assets/style.css", NULL, NULL, NULL), 200);
}

static int64_t cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Makes this process unable to open files and sockets. Returns the limit to restore. */
static struct rlimit exhaust_descriptors(void)
{
    struct rlimit before, now;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = before;
    now.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(dup(0), -1);
    return before;
}

/* One HTTP thread has a connection and the other has none; new connections can arrive at either. */
static void
without_free_descriptors_the_server_keeps_serving_does_not_spin_and_recovers(void **state)
{
    enum { NEW = 8 };
    struct http_client kept, clients[NEW];
    struct rlimit before;
    int64_t used_ns;

    (void)state;
    prepare(&kept, INADDR_LOOPBACK);
    become_known(&kept);
    for (uint32_t i = 0; i < NEW; i++)
        prepare(&clients[i], INADDR_LOOPBACK + 1 + i);
    before = exhaust_descriptors();
    for (int i = 0; i < NEW; i++) {
        connect_now(&clients[i]); /* the kernel accepts it, though the server cannot */
        http_send(&clients[i], "GET", "/health", NULL, NULL);
    }
    used_ns = cpu_ns();
    for (int i = 0; i < 10; i++) {
        served_sleep_ms(50);
        assert_int_equal(ask_health(&kept), 200);
    }
    used_ns = cpu_ns() - used_ns;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(used_ns < INT64_C(250000000));
    for (int i = 0; i < NEW; i++) {
        assert_int_equal(http_read_head(&clients[i]), 200);
        http_close(&clients[i]);
    }
    assert_int_equal(ask_health(&kept), 200);
    http_close(&kept);
}

/* Opens a stream, which the server never closes to make room, no matter how long it is silent. */
static void open_stream(struct http_client *client)
{
    connect_now(client);
    http_send(client, "POST", "/mcp", MODERN_HEADERS("subscriptions/listen"),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\"," MODERN_PARAMS(
                  "\"notifications\":{\"toolsListChanged\":true},") "}");
    assert_int_equal(http_read_head(client), 200);
}

static void connections_over_the_total_limit_are_served_once_others_close(void **state)
{
    enum { ALL = 16, OVER = 4 };
    struct http_client clients[ALL + OVER];

    (void)state;
    for (uint32_t i = 0; i < ALL; i++) {
        prepare(&clients[i], INADDR_LOOPBACK + i);
        open_stream(&clients[i]);
    }
    for (uint32_t i = ALL; i < ALL + OVER; i++) {
        prepare(&clients[i], INADDR_LOOPBACK + i);
        connect_now(&clients[i]);
        http_send(&clients[i], "GET", "/health", NULL, NULL);
    }
    served_sleep_ms(300);
    assert_int_equal(atomic_load(&served.server->http->open_connections), ALL);
    for (int i = 0; i < OVER; i++) {
        shutdown(clients[i].fd, SHUT_RDWR);
        http_close(&clients[i]);
    }
    for (int i = ALL; i < ALL + OVER; i++)
        assert_int_equal(http_read_head(&clients[i]), 200);
    for (int i = OVER; i < ALL + OVER; i++)
        http_close(&clients[i]);
}

/* What a client that takes up a connection is doing. */
enum activity {
    SILENT,
    SLOW_HEADERS,
    SLOW_BODY,
    IDLE_AFTER_A_PROBE,
    IDLE_AFTER_NOT_FOUND,
    ACTIVITIES
};

static void begin_activity(struct http_client *client, enum activity activity)
{
    static const char *const sent[] = {
        [SLOW_HEADERS] = "GET /health HTTP/1.1\r\nHost: localhost\r\nX: ",
        [SLOW_BODY] = "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    };

    connect_now(client);
    if (activity == SLOW_HEADERS || activity == SLOW_BODY)
        http_send_bytes(client, sent[activity], strlen(sent[activity]));
    if (activity == IDLE_AFTER_A_PROBE)
        assert_int_equal(ask_health(client), 200);
    if (activity == IDLE_AFTER_NOT_FOUND)
        assert_int_equal(http_exchange(client, "GET", "/nowhere", NULL, NULL, NULL), 404);
}

static void unknown_clients_are_disconnected_to_make_room(void **state)
{
    enum { KNOWN = 3, ALL = 16, NEW = 5 };

    (void)state;
    for (enum activity activity = 0; activity < ACTIVITIES; activity++) {
        struct http_client clients[ALL], others[NEW];
        int64_t begun_ns;

        for (uint32_t i = 0; i < ALL; i++) {
            prepare(&clients[i], INADDR_LOOPBACK + i);
            if (i < KNOWN)
                become_known(&clients[i]);
            else
                begin_activity(&clients[i], activity);
        }
        begun_ns = clock_monotonic_ns();
        for (uint32_t i = 0; i < NEW; i++) {
            prepare(&others[i], INADDR_LOOPBACK + ALL + i);
            connect_now(&others[i]);
            assert_int_equal(ask_health(&others[i]), 200);
        }
        assert_true(clock_monotonic_ns() - begun_ns < INT64_C(2000000000));
        for (int i = 0; i < KNOWN; i++)
            assert_int_equal(ask_health(&clients[i]), 200);
        for (int i = 0; i < ALL; i++)
            http_close(&clients[i]);
        for (int i = 0; i < NEW; i++)
            http_close(&others[i]);
        assert_true(is_served_soon(INADDR_LOOPBACK));
    }
}

static void the_newest_unknown_clients_keep_their_connections(void **state)
{
    enum { ALL = 16 };
    struct http_client clients[ALL], other;

    (void)state;
    for (uint32_t i = 0; i < ALL; i++) {
        prepare(&clients[i], INADDR_LOOPBACK + i);
        connect_now(&clients[i]);
        served_sleep_ms(2);
    }
    prepare(&other, INADDR_LOOPBACK + ALL);
    connect_now(&other);
    assert_int_equal(ask_health(&other), 200);
    assert_int_equal(ask_health(&clients[ALL - 1]), 200);
    assert_int_equal(ask_health(&clients[ALL - 2]), 200);
    for (int i = 0; i < ALL; i++)
        http_close(&clients[i]);
    http_close(&other);
}

/* Limits the number of descriptors to those already open. Returns the limit to restore. */
static struct rlimit allow_no_more_descriptors(void)
{
    struct rlimit before, now;
    int next = dup(0);

    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = before;
    now.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    return before;
}

static void without_free_descriptors_unknown_clients_are_disconnected(void **state)
{
    enum { IDLE = 6, NEW = 3 };
    struct http_client idle[IDLE], others[NEW];
    struct rlimit before;

    (void)state;
    for (uint32_t i = 0; i < NEW; i++)
        prepare(&others[i], INADDR_LOOPBACK + IDLE + i);
    for (uint32_t i = 0; i < IDLE; i++) {
        prepare(&idle[i], INADDR_LOOPBACK + i);
        connect_now(&idle[i]);
    }
    while (atomic_load(&served.server->http->open_connections) < IDLE)
        served_sleep_ms(1);
    before = allow_no_more_descriptors();
    for (int i = 0; i < NEW; i++) {
        connect_now(&others[i]);
        assert_int_equal(ask_health(&others[i]), 200);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < IDLE; i++)
        http_close(&idle[i]);
    for (int i = 0; i < NEW; i++)
        http_close(&others[i]);
}

static int start_behind_proxies(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--http-threads=2", "--connections-per-address=3",
                 "--trusted-proxies=127.0.0.8/30", NULL);
    return 0;
}

static void the_limit_per_address_does_not_apply_to_trusted_proxies(void **state)
{
    enum { MANY = 12 };
    struct http_client clients[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        prepare(&clients[i], INADDR_LOOPBACK + 8);
        connect_now(&clients[i]);
        assert_int_equal(ask_health(&clients[i]), 200);
    }
    for (int i = 0; i < MANY; i++)
        http_close(&clients[i]);
    for (int i = 0; i < 4; i++) {
        prepare(&clients[i], INADDR_LOOPBACK + 12);
        connect_now(&clients[i]);
        assert_int_equal(ask_health(&clients[i]), i < 3 ? 200 : 0);
    }
    for (int i = 0; i < 4; i++)
        http_close(&clients[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(connections_are_limited_per_address, start, stop),
        cmocka_unit_test_setup_teardown(
            without_free_descriptors_the_server_keeps_serving_does_not_spin_and_recovers, start,
            stop),
        cmocka_unit_test_setup_teardown(
            connections_over_the_total_limit_are_served_once_others_close, start, stop),
        cmocka_unit_test_setup_teardown(unknown_clients_are_disconnected_to_make_room, start, stop),
        cmocka_unit_test_setup_teardown(the_newest_unknown_clients_keep_their_connections,
                                        start_with_one_thread, stop),
        cmocka_unit_test_setup_teardown(without_free_descriptors_unknown_clients_are_disconnected,
                                        start, stop),
        cmocka_unit_test_setup_teardown(the_limit_per_address_does_not_apply_to_trusted_proxies,
                                        start_behind_proxies, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
