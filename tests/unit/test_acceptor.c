#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "http_client.h"
#include "served.h"

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

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* A client from another address of this machine, not yet connected. */
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

/* Tries until it is answered: the server learns a little later that a connection closed. */
static bool comes_to_be_served(uint32_t from)
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

static void an_address_has_so_many_connections_and_others_have_theirs(void **state)
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
    assert_true(comes_to_be_served(INADDR_LOOPBACK));
    for (int i = 1; i < 4; i++)
        http_close(&clients[i]);
    http_close(&other);
}

static int64_t cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Nothing in this process can be opened any more. */
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

/* Some HTTP threads have a connection here, others none; new ones arrive at all of them. */
static void without_descriptors_it_serves_on_without_spinning_and_recovers(void **state)
{
    enum { NEW = 8 };
    struct http_client kept, clients[NEW];
    struct rlimit before;
    int64_t used_ns;

    (void)state;
    prepare(&kept, INADDR_LOOPBACK);
    connect_now(&kept);
    assert_int_equal(ask_health(&kept), 200);
    for (uint32_t i = 0; i < NEW; i++)
        prepare(&clients[i], INADDR_LOOPBACK + 1 + i);
    before = exhaust_descriptors();
    for (int i = 0; i < NEW; i++) {
        connect_now(&clients[i]); /* by the kernel */
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

static void over_the_total_they_wait_for_a_place_and_get_it(void **state)
{
    enum { ALL = 16, OVER = 4 };
    struct http_client clients[ALL + OVER];

    (void)state;
    for (uint32_t i = 0; i < ALL; i++) {
        prepare(&clients[i], INADDR_LOOPBACK + i);
        connect_now(&clients[i]);
        assert_int_equal(ask_health(&clients[i]), 200);
    }
    for (uint32_t i = ALL; i < ALL + OVER; i++) {
        prepare(&clients[i], INADDR_LOOPBACK + i);
        connect_now(&clients[i]);
        http_send(&clients[i], "GET", "/health", NULL, NULL);
    }
    served_sleep_ms(50);
    assert_int_equal(atomic_load(&served.server->open_connections), ALL);
    for (int i = 0; i < OVER; i++)
        http_close(&clients[i]);
    for (int i = ALL; i < ALL + OVER; i++)
        assert_int_equal(http_read_head(&clients[i]), 200);
    for (int i = OVER; i < ALL + OVER; i++)
        http_close(&clients[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_address_has_so_many_connections_and_others_have_theirs,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            without_descriptors_it_serves_on_without_spinning_and_recovers, start, stop),
        cmocka_unit_test_setup_teardown(over_the_total_they_wait_for_a_place_and_get_it, start,
                                        stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
