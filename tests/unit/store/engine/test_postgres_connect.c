/* SPDX-License-Identifier: Apache-2.0 */
/* The address of a PostgreSQL database, and its password file. These tests need no PostgreSQL
 * server. */
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/engine/postgres.h"
#include "store/engine/sql_engine.h"

static void the_error_for_an_invalid_address_contains_no_password(void **state)
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

/* A server that refuses TLS. Its address is 127.0.0.2, which opsbrain treats as another machine. */
struct refuser {
    int listener, port;
    /* 0: the client sent nothing after TLS was refused; 1: it sent something; -1: it did not
     * request TLS, or the connection failed. */
    ssize_t received;
    pthread_t thread;
};

static void *refuse_tls(void *context)
{
    struct refuser *refuser = context;
    char request[8];
    int link = accept(refuser->listener, NULL, NULL);

    close(refuser->listener);
    if (recv(link, request, sizeof request, MSG_WAITALL) == sizeof request
        && send(link, "N", 1, 0) == 1)
        refuser->received = recv(link, request, 1, 0);
    close(link);
    return NULL;
}

static void refuser_start(struct refuser *out)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002) };
    socklen_t size = sizeof at;

    *out = (struct refuser){ .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                             .received = -1 };
    assert_int_equal(bind(out->listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(out->listener, 1), 0);
    assert_int_equal(getsockname(out->listener, (struct sockaddr *)&at, &size), 0);
    out->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&out->thread, NULL, refuse_tls, out), 0);
}

/* Asserts that a connection to a refuser fails, and that nothing is sent to it without TLS. Its
 * port is inserted in the address between `before_port` and `after_port`. */
static void expect_refusal(const char *before_port, const char *after_port, struct error *error)
{
    struct sql_connection *connection;
    struct refuser refuser;
    char place[120];

    refuser_start(&refuser);
    snprintf(place, sizeof place, "postgresql://u@%s%d%s", before_port, refuser.port, after_port);
    assert_false(postgres_engine.open(place, SQL_CONNECTION_READER, &connection, error));
    pthread_join(refuser.thread, NULL);
    if (refuser.received != 0)
        fail_msg("%s: TLS was not requested, or bytes were sent without it: %s", place,
                 error->message);
}

static void another_machine_needs_tls_even_if_only_hostaddr_is_given(void **state)
{
    struct error error;

    (void)state;
    expect_refusal("/d?hostaddr=127.0.0.2&port=", "", &error);
    if (strstr(error.message, "has no TLS, which connections to other machines require") == NULL)
        fail_msg("%s", error.message);
}

static void another_machine_listed_after_a_socket_needs_tls(void **state)
{
    struct error error;

    (void)state;
    expect_refusal("%2Fnone,127.0.0.2:", "/d", &error);
}

static void another_machine_from_the_service_file_needs_tls(void **state)
{
    char path[] = "/tmp/opsbrain-test-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct error error;

    (void)state;
    fputs("[other]\nhost=127.0.0.2\n", file);
    fclose(file);
    setenv("PGSERVICEFILE", path, 1);
    expect_refusal("/d?service=other&port=", "", &error);
    unsetenv("PGSERVICEFILE");
    unlink(path);
}

/* ---- The password file ---- */

static void open_with_file(const char *path, struct error *error)
{
    struct sql_connection *connection;

    setenv("OPSBRAIN_DATABASE_PASSWORD_FILE", path, 1);
    assert_false(postgres_engine.open("postgresql://u@127.0.0.1:1/d", SQL_CONNECTION_READER,
                                      &connection, error));
    unsetenv("OPSBRAIN_DATABASE_PASSWORD_FILE");
}

static void an_empty_variable_means_no_password_file(void **state)
{
    struct error error;

    (void)state;
    open_with_file("", &error);
    if (strstr(error.message, "cannot be reached") == NULL)
        fail_msg("%s", error.message);
}

static void a_password_that_is_too_long_is_refused(void **state)
{
    char path[] = "/tmp/opsbrain-test-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct error error;

    (void)state;
    for (int i = 0; i < 10000; i++)
        fputc('x', file);
    fclose(file);
    open_with_file(path, &error);
    unlink(path);
    if (strstr(error.message, "more than 8190 characters") == NULL)
        fail_msg("%s", error.message);
    assert_null(strstr(error.message, "xxx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_for_an_invalid_address_contains_no_password),
        cmocka_unit_test(another_machine_needs_tls_even_if_only_hostaddr_is_given),
        cmocka_unit_test(another_machine_listed_after_a_socket_needs_tls),
        cmocka_unit_test(another_machine_from_the_service_file_needs_tls),
        cmocka_unit_test(an_empty_variable_means_no_password_file),
        cmocka_unit_test(a_password_that_is_too_long_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
