/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/json/json.h"
#include "fleet/secret_access.h"
#include "server/access/authority.h"
#include "server/program/admin.h"
#include "store/ledger/store.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

static char folder[FOLDER_SIZE];
static struct access server_access = { .secrets_folder = "" };
static struct authority *authority;
static struct admin *admin;

static int start(void **state)
{
    struct error error;

    (void)state;
    folder_create(folder);
    return store_open(folder, test_database(folder), 2, &server_access.store, &error)
                   && authority_create(server_access.store, folder, "auto", true, &authority,
                                       &error)
                   && admin_create(folder, &server_access, authority, "127.0.0.1:1", &admin, &error)
               ? 0
               : -1;
}

static int stop(void **state)
{
    (void)state;
    admin_destroy(admin);
    authority_destroy(authority);
    store_close(server_access.store);
    folder_remove(folder);
    return 0;
}

/* Sends a request as the command line does, and frees it. Returns the reply, or NULL if the
 * request was refused. */
static json_t *ask(json_t *request, struct error *error)
{
    json_t *reply = NULL;
    bool running;
    bool done = admin_ask(folder, request, &running, &reply, error);

    assert_true(running);
    json_decref(request);
    return done ? reply : NULL;
}

static json_t *add_request(const char *name, const char *role, const char *digest)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "command", "key_add", "name", name, "role", role,
                     "digest", digest);
}

static void keys_are_added_listed_and_revoked_through_the_socket(void **state)
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE], header[128];
    json_auto_t *added = NULL, *list = NULL, *revoked = NULL;
    struct principal who;
    struct error error;

    (void)state;
    authority_generate_key(key, hex);
    snprintf(header, sizeof header, "Bearer %s", key);
    assert_true(authority_check(authority, NULL, &who, &error));
    added = ask(add_request("alice", "operator", hex), &error);
    assert_string_equal(json_get_text(added, "principal", ""), "alice");
    assert_false(authority_check(authority, NULL, &who, &error));
    assert_true(authority_check(authority, header, &who, &error));
    assert_int_equal(who.role, ROLE_OPERATOR);
    list = ask(json_pack("{s:s}", "command", "key_list"), &error);
    assert_int_equal(json_array_size(json_object_get(list, "keys")), 1);
    revoked = ask(json_pack("{s:s, s:s}", "command", "key_revoke", "name", "alice"), &error);
    assert_int_equal(json_get_integer(revoked, "revoked", 0), 1);
    assert_false(authority_check(authority, header, &who, &error));
}

static void a_changed_role_applies_at_once(void **state)
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE], header[128];
    json_auto_t *added = NULL, *set = NULL, *list = NULL, *revoked = NULL;
    struct principal who;
    struct error error;

    (void)state;
    authority_generate_key(key, hex);
    snprintf(header, sizeof header, "Bearer %s", key);
    added = ask(add_request("zoe", "admin", hex), &error);
    assert_true(authority_check(authority, header, &who, &error));
    assert_int_equal(who.role, ROLE_ADMIN);
    set = ask(
        json_pack("{s:s, s:s, s:s}", "command", "principal_role", "name", "zoe", "role", "viewer"),
        &error);
    assert_string_equal(json_get_text(set, "before", ""), "admin");
    assert_non_null(strstr(json_get_text(set, "warning", ""), "no admin has a valid key"));
    assert_true(authority_check(authority, header, &who, &error));
    assert_int_equal(who.role, ROLE_VIEWER);
    list = ask(json_pack("{s:s}", "command", "principal_list"), &error);
    assert_non_null(json_object_get(list, "principals"));
    revoked = ask(json_pack("{s:s, s:s}", "command", "key_revoke", "name", "zoe"), &error);
    assert_null(json_object_get(revoked, "warning")); /* no admin had a valid key before, either */
}

static void wrong_requests_are_refused(void **state)
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE];
    struct error error;

    (void)state;
    authority_generate_key(key, hex);
    assert_null(ask(add_request("alice", "king", hex), &error));
    assert_non_null(strstr(error.message, "viewer, operator or admin"));
    assert_null(ask(add_request("../alice", "viewer", hex), &error));
    assert_null(ask(add_request("alice", "viewer", "12"), &error));
    assert_null(ask(json_pack("{s:s, s:s}", "command", "key_revoke", "name", "nobody"), &error));
    assert_null(ask(json_pack("{s:s}", "command", "format_disk"), &error));
}

static void only_the_owner_can_access_the_socket(void **state)
{
    char path[128];
    struct stat status;

    (void)state;
    snprintf(path, sizeof path, "%s/admin.sock", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void the_socket_still_works_after_garbage(void **state)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    json_auto_t *list = NULL;
    struct error error;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/admin.sock", folder);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(write(fd, "garbage\n", 8), 8);
    close(fd);
    list = ask(json_pack("{s:s}", "command", "key_list"), &error);
    assert_non_null(list);
}

static void admin_ask_reports_that_no_server_is_running(void **state)
{
    json_auto_t *request = json_pack("{s:s}", "command", "key_list");
    json_t *reply;
    struct error error;
    bool running = true;

    (void)state;
    admin_destroy(admin);
    admin = NULL;
    assert_true(admin_ask(folder, request, &running, &reply, &error));
    assert_false(running);
    assert_true(admin_ask("/nonexistent/folder", request, &running, &reply, &error));
    assert_false(running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_are_added_listed_and_revoked_through_the_socket, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_changed_role_applies_at_once, start, stop),
        cmocka_unit_test_setup_teardown(wrong_requests_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(only_the_owner_can_access_the_socket, start, stop),
        cmocka_unit_test_setup_teardown(the_socket_still_works_after_garbage, start, stop),
        cmocka_unit_test_setup_teardown(admin_ask_reports_that_no_server_is_running, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
