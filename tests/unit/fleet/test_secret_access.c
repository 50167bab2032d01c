/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which servers the process calls, and which secret it sends to each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "fleet/secret_access.h"
#include "store/ledger/secret_origins.h"
#include "store/ledger/store.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

#define HERE "https://model.example.com:8443"

struct fixture {
    char data[FOLDER_SIZE], secrets[FOLDER_SIZE];
    struct access access;
    struct deployment deployment;
    struct endpoint endpoint;
    struct error error;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    folder_create(f->data);
    folder_create(f->secrets);
    f->access.secrets_folder = f->secrets;
    f->deployment = (struct deployment){ .url = HERE "/v2", .secret = "LAB" };
    setenv("OPSBRAIN_SECRET_LAB", "s3cret-value", 1);
    *state = f;
    return store_open(f->data, test_database(f->data), 2, &f->access.store, &f->error) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    store_close(f->access.store);
    folder_remove(f->data);
    folder_remove(f->secrets);
    free(f);
    unsetenv("OPSBRAIN_SECRET_LAB");
    return 0;
}

static void write_origins(const struct fixture *f, const char *lines)
{
    char path[FOLDER_SIZE + 32];
    FILE *file;

    snprintf(path, sizeof path, "%s/LAB.origins", f->secrets);
    file = fopen(path, "w");
    fputs(lines, file);
    fclose(file);
}

static bool finds_endpoint(struct fixture *f)
{
    memset(&f->endpoint, 0, sizeof f->endpoint);
    return secret_access_endpoint(&f->access, &f->deployment, &f->endpoint, &f->error);
}

static void assert_refused(struct fixture *f, enum error_kind kind, const char *because)
{
    assert_false(finds_endpoint(f));
    assert_string_equal(f->endpoint.bearer, "");
    assert_int_equal(f->error.kind, kind);
    if (strstr(f->error.message, because) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", f->error.message, because);
    assert_null(strstr(f->error.message, "s3cret-value"));
}

/* Binds the secret to the URL's origin or, if `bound` is false, removes that binding. Returns true
 * if this changed anything. */
static bool bind_to(struct fixture *f, const char *url, bool bound)
{
    char origin[ORIGIN_SIZE];
    bool changed;

    return secret_access_bind(&f->access, "LAB", url, bound, NULL, origin, &changed, &f->error)
           && changed;
}

static void reads_a_secret_only_for_an_origin_it_is_bound_to(void **state)
{
    static const char *const others[] = { "http://model.example.com:8443",
                                          "https://model.example.com",
                                          "https://model.example.com:8444",
                                          "https://model.example.com.evil.com:8443",
                                          "https://example.com:8443" };
    struct fixture *f = *state;

    assert_refused(f, ERROR_FORBIDDEN,
                   "LAB is not bound to " HERE ": an admin can allow it with secret_bind "
                   "{\"secret\": \"LAB\", \"origin\": \"" HERE "\"}");
    assert_true(bind_to(f, "https://Model.Example.com:8443/v1", true));
    assert_true(finds_endpoint(f));
    assert_string_equal(f->endpoint.bearer, "s3cret-value");
    assert_string_equal(f->endpoint.url, HERE "/v2");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(f->deployment.url, sizeof f->deployment.url, "%s", others[i]);
        assert_refused(f, ERROR_FORBIDDEN, others[i]);
    }
}

static void reads_no_secret_once_its_binding_is_gone(void **state)
{
    struct fixture *f = *state;

    assert_true(bind_to(f, HERE, true));
    assert_false(bind_to(f, HERE, true)); /* it was bound already */
    assert_true(finds_endpoint(f));
    assert_true(bind_to(f, HERE, false));
    assert_refused(f, ERROR_FORBIDDEN, "is not bound");
    f->deployment.secret[0] = '\0';
    assert_true(finds_endpoint(f)); /* without a secret, no binding is needed */
}

static void an_origins_file_replaces_the_bindings_of_a_secret(void **state)
{
    struct fixture *f = *state;

    assert_true(bind_to(f, HERE, true));
    write_origins(f, "https://elsewhere.example.com\n");
    assert_refused(f, ERROR_FORBIDDEN, "the file LAB.origins in the secrets folder lists all");
    assert_false(bind_to(f, "https://third.example.com", true));
    assert_non_null(strstr(f->error.message, "edit that file"));
    write_origins(f, "https://elsewhere.example.com\n" HERE "\n");
    assert_true(finds_endpoint(f));
    write_origins(f, "*\n");
    assert_refused(f, ERROR_INVALID, "line 1, is not an origin");
    write_origins(f, "");
    assert_refused(f, ERROR_FORBIDDEN, "the file LAB.origins");
}

static void a_bound_secret_without_a_value_is_not_found(void **state)
{
    struct fixture *f = *state;

    assert_true(bind_to(f, HERE, true));
    unsetenv("OPSBRAIN_SECRET_LAB");
    assert_refused(f, ERROR_NOT_FOUND, "OPSBRAIN_SECRET_LAB");
}

/* ---- The list of servers ---- */

static void point_to(struct fixture *f, const char *url)
{
    snprintf(f->deployment.url, sizeof f->deployment.url, "%s", url);
    f->deployment.secret[0] = '\0';
}

static void calls_only_servers_on_the_list(void **state)
{
    struct fixture *f = *state;
    struct server_list *list;

    assert_true(server_list_create("10.0.0.0/8, .example.com", &list, &f->error));
    f->access.servers = list;
    point_to(f, "http://gpu.example.com:8000");
    assert_true(finds_endpoint(f));
    assert_null(f->endpoint.servers); /* a listed name can have any address */
    point_to(f, "http://10.0.0.5:8000");
    assert_true(finds_endpoint(f));
    assert_ptr_equal(f->endpoint.servers, list);
    point_to(f, "http://gpu:8000"); /* not listed: its addresses decide */
    assert_true(finds_endpoint(f));
    assert_ptr_equal(f->endpoint.servers, list);
    point_to(f, "http://192.168.1.5:8000");
    assert_false(finds_endpoint(f));
    assert_int_equal(f->error.kind, ERROR_FORBIDDEN);
    assert_string_equal(
        f->error.message,
        "192.168.1.5 is not among the servers that the setting allowed_servers names: use one of "
        "those, or add it to the setting");
    server_list_destroy(list);
    assert_true(server_list_create("gpu.example.com", &list, &f->error));
    f->access.servers = list;
    point_to(f, "http://gpu:8000");
    assert_false(finds_endpoint(f)); /* the list names neither gpu nor any address */
    server_list_destroy(list);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(reads_a_secret_only_for_an_origin_it_is_bound_to),
        TEST(reads_no_secret_once_its_binding_is_gone),
        TEST(an_origins_file_replaces_the_bindings_of_a_secret),
        TEST(a_bound_secret_without_a_value_is_not_found),
        TEST(calls_only_servers_on_the_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
