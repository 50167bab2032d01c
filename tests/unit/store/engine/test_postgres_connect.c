/* SPDX-License-Identifier: Apache-2.0 */
/* How PostgreSQL is connected to: its address, which needs no server to be tested. */
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/engine/postgres.h"
#include "store/engine/sql_engine.h"

static void the_error_of_an_address_has_no_password_in_it(void **state)
{
    static const char *const places[] = {
        "postgresql://u:hunter2@h:5432/%zz",
        "postgresql://u:hunter2@[::1/db",
        "postgresql://u:hun%zzter2@h/db",
        "postgresql://u:hunter2/more@h/db",
        "postgresql://u:hunter2@more@h/db",
        "postgresql://u:hunt?er2@more@h/db",
        "postgresql://u:hunter2@h/db?a=b",
        "postgresql://u@h/db?password=hunter2&sslmode",
        "postgres://u:hunter2:more/x@h:1/db",
        "host=h password='hunter2",
        "postgresql://u:hunter2/db",
        "postgresql://u:65536/db",
        "postgresql://u:1,hunter2/db",
        "postgresql://u:hunter2?host=/h",
        "postgresql://u:65536",
    };

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct sql_connection *connection;
        struct error error;

        assert_false(postgres_engine.open(places[i], SQL_CONNECTION_WRITER, &connection, &error));
        if (error.kind != ERROR_INVALID)
            fail_msg("%s: %s", places[i], error.message);
        assert_null(strstr(error.message, "hun"));
        assert_null(strstr(error.message, "more"));
        assert_null(strstr(error.message, "65536"));
        assert_non_null(strstr(error.message, "postgresql://USER@HOST:PORT/DATABASE"));
    }
}

/* A server that refuses TLS. */
static void *refuse_tls(void *listener)
{
    char request[8];
    int link = accept(*(const int *)listener, NULL, NULL);

    close(*(const int *)listener);
    if (recv(link, request, sizeof request, MSG_WAITALL) == sizeof request
        && send(link, "N", 1, 0) == 1)
        recv(link, request, 1, 0);
    close(link);
    return NULL;
}

static void another_machine_needs_tls_also_if_only_its_number_is_given(void **state)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002) };
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sql_connection *connection;
    socklen_t size = sizeof at;
    struct error error;
    pthread_t server;
    char place[80];

    (void)state;
    assert_int_equal(bind(listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    snprintf(place, sizeof place, "postgresql://u@/d?hostaddr=127.0.0.2&port=%d",
             ntohs(at.sin_port));
    assert_int_equal(pthread_create(&server, NULL, refuse_tls, &listener), 0);
    assert_false(postgres_engine.open(place, SQL_CONNECTION_READER, &connection, &error));
    if (strstr(error.message, "has no TLS, which other machines need") == NULL)
        fail_msg("%s", error.message);
    pthread_join(server, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_of_an_address_has_no_password_in_it),
        cmocka_unit_test(another_machine_needs_tls_also_if_only_its_number_is_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
