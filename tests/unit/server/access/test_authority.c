/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "server/access/authority.h"
#include "server/access/key_marker.h"
#include "server/program/admin.h"
#include "store/ledger/store.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

static char folder[FOLDER_SIZE];
static struct store *store;
static struct authority *authority;

static int start(void **state)
{
    struct error error;

    (void)state;
    folder_create(folder);
    authority = NULL;
    return store_open(folder, test_database(folder), 2, &store, &error) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    authority_destroy(authority);
    store_close(store);
    folder_remove(folder);
    return 0;
}

/* Stores a key, and writes the value of the Authorization header that presents it. */
static void add_key(const char *name, enum role role, int64_t expires_ms, char header[128])
{
    uint8_t digest[DIGEST_BYTES];
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE];
    struct api_key added;
    struct error error;

    authority_generate_key(key, hex);
    assert_int_equal(strncmp(key, "obk_", 4), 0);
    digest_sha256(key, strlen(key), digest);
    assert_true(api_key_add(store, name, role, "", digest, expires_ms, NULL, &added, &error));
    snprintf(header, 128, "Bearer %s", key);
}

static bool create(const char *mode, bool loopback, struct error *error)
{
    return authority_create(store, folder, mode, loopback, &authority, error);
}

static void without_keys_a_loopback_caller_is_an_admin_named_local(void **state)
{
    struct principal who;
    struct error error;

    (void)state;
    assert_true(create("auto", true, &error));
    assert_true(authority_check(authority, NULL, &who, &error));
    assert_string_equal(who.name, "local");
    assert_int_equal(who.role, ROLE_ADMIN);
}

static void without_a_valid_key_only_the_keys_mode_can_listen_beyond_loopback(void **state)
{
    struct error error;
    char header[128];

    (void)state;
    assert_false(create("auto", false, &error));
    assert_non_null(strstr(error.message, "opsbrain key add"));
    assert_false(create("none", false, &error));
    assert_non_null(strstr(error.message, "OPSBRAIN_AUTH"));
    add_key("late", ROLE_ADMIN, 1, header);
    assert_false(create("auto", false, &error)); /* the only key has expired */
    assert_true(create("keys", false, &error));
}

static void a_key_identifies_its_principal_and_role(void **state)
{
    struct principal who;
    struct error error;
    char header[128];

    (void)state;
    add_key("alice", ROLE_OPERATOR, 0, header);
    assert_true(create("auto", false, &error));
    for (int i = 0; i < 3; i++) {
        assert_true(authority_check(authority, header, &who, &error));
        assert_string_equal(who.name, "alice");
        assert_int_equal(who.role, ROLE_OPERATOR);
    }
    header[0] = 'b'; /* the scheme's case does not matter */
    assert_true(authority_check(authority, header, &who, &error));
}

static void a_missing_or_invalid_key_is_refused(void **state)
{
    struct principal who = { .name = "untouched" };
    char good[128], expired[128];
    struct error error;

    (void)state;
    add_key("alice", ROLE_ADMIN, 0, good);
    add_key("late", ROLE_ADMIN, 1, expired);
    assert_true(create("auto", true, &error));
    assert_false(authority_check(authority, NULL, &who, &error));
    assert_int_equal(error.kind, ERROR_UNAUTHENTICATED);
    assert_false(authority_check(authority, "", &who, &error));
    assert_false(authority_check(authority, "Basic YTpi", &who, &error));
    assert_false(authority_check(authority, "Bearer ", &who, &error));
    assert_false(authority_check(authority, "Bearer obk_0", &who, &error));
    assert_false(authority_check(authority, expired, &who, &error));
    assert_null(strstr(error.message, expired + strlen("Bearer ")));
    assert_string_equal(who.name, "untouched");
}

static void after_the_last_key_is_revoked_every_caller_is_refused(void **state)
{
    struct principal who;
    struct error error;
    char header[128];
    int64_t revoked;

    (void)state;
    add_key("alice", ROLE_ADMIN, 0, header);
    assert_true(create("auto", true, &error));
    assert_true(authority_check(authority, header, &who, &error));
    assert_true(api_key_revoke(store, "alice", clock_utc_ms(), NULL, &revoked, &error));
    assert_true(authority_refresh(authority, &error));
    assert_false(authority_check(authority, header, &who, &error));
    assert_false(authority_check(authority, NULL, &who, &error));
}

static void a_caller_is_admitted_until_its_key_ends_or_its_role_is_lowered(void **state)
{
    char olga[128], eric[128], vera[128];
    struct principal who[3], local, ignored;
    struct error error;
    enum role before;
    int64_t revoked;

    (void)state;
    assert_true(create("auto", true, &error));
    assert_true(authority_check(authority, NULL, &local, &error));
    assert_true(authority_still_admits(authority, &local));
    add_key("olga", ROLE_OPERATOR, 0, olga);
    add_key("eric", ROLE_OPERATOR, clock_utc_ms() + 300, eric);
    add_key("vera", ROLE_VIEWER, 0, vera);
    assert_true(authority_refresh(authority, &error));
    /* callers without a key are no longer admitted */
    assert_false(authority_still_admits(authority, &local));
    assert_true(authority_check(authority, olga, &who[0], &error));
    assert_true(authority_check(authority, eric, &who[1], &error));
    assert_true(authority_check(authority, vera, &who[2], &error));
    while (authority_check(authority, eric, &ignored, &error))
        assert_true(authority_still_admits(authority, &who[0]));
    assert_false(authority_still_admits(authority, &who[1]));
    assert_true(principal_set_role(store, "olga", ROLE_VIEWER, NULL, &before, &error));
    assert_true(principal_set_role(store, "vera", ROLE_ADMIN, NULL, &before, &error));
    assert_true(authority_refresh(authority, &error));
    assert_false(authority_still_admits(authority, &who[0]));
    assert_true(authority_still_admits(authority, &who[2]));
    assert_true(api_key_revoke(store, "vera", clock_utc_ms(), NULL, &revoked, &error));
    assert_true(authority_refresh(authority, &error));
    assert_false(authority_still_admits(authority, &who[2]));
}

static void execute(const char *script)
{
    backdoor_run(folder, script);
}

static void count_notice(void *notices)
{
    ++*(int *)notices;
}

static void while_keys_cannot_be_read_nobody_is_admitted_or_can_continue(void **state)
{
    struct principal who;
    struct error error;
    char header[128];
    int notices = 0;

    (void)state;
    add_key("alice", ROLE_ADMIN, 0, header);
    assert_true(create("auto", true, &error));
    assert_true(authority_check(authority, header, &who, &error));
    authority_listen(authority, count_notice, &notices);
    execute("ALTER TABLE api_keys RENAME TO mislaid");
    assert_false(authority_refresh(authority, &error));
    assert_int_equal(notices, 1); /* running calls and streams must be checked again */
    assert_true(authority_is_stale(authority));
    assert_false(authority_still_admits(authority, &who));
    assert_false(authority_has_revoked(authority, &who));
    assert_false(authority_check(authority, header, &who, &error));
    assert_int_equal(error.kind, ERROR_BUSY);
    execute("ALTER TABLE mislaid RENAME TO api_keys");
    assert_true(authority_refresh(authority, &error));
    assert_false(authority_is_stale(authority));
    assert_true(authority_still_admits(authority, &who));
    assert_true(authority_check(authority, header, &who, &error));
}

/* Refreshes the authority, and asserts that the listener has been called `expected` times. */
static void refresh_expecting(int expected, const int *notices)
{
    struct error error;

    assert_true(authority_refresh(authority, &error));
    assert_int_equal(*notices, expected);
}

static void the_listener_is_called_when_keys_or_roles_change_not_when_a_key_is_used(void **state)
{
    struct principal who;
    struct error error;
    char header[128];
    enum role before;
    int64_t revoked;
    int notices = 0;

    (void)state;
    add_key("alice", ROLE_VIEWER, 0, header);
    assert_true(create("auto", true, &error));
    authority_listen(authority, count_notice, &notices);
    assert_true(authority_check(authority, header, &who, &error)); /* this records the key's use */
    refresh_expecting(0, &notices);
    assert_true(principal_set_role(store, "alice", ROLE_OPERATOR, NULL, &before, &error));
    refresh_expecting(1, &notices);
    refresh_expecting(1, &notices);
    add_key("alice", ROLE_OPERATOR, 0, header);
    refresh_expecting(2, &notices);
    assert_true(api_key_revoke(store, "alice", clock_utc_ms(), NULL, &revoked, &error));
    refresh_expecting(3, &notices);
}

/* Destroys the authority, and replaces the database with an empty one. */
static void lose_database(void)
{
    struct error error;

    authority_destroy(authority);
    authority = NULL;
    store_close(store);
    test_database_drop(folder);
    assert_int_equal(nftw(folder, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
    assert_true(store_open(folder, test_database(folder), 2, &store, &error));
}

/* The marker is a file next to the data folder. It records that the folder once had keys. */
static void a_folder_that_once_had_keys_needs_keys_until_its_marker_is_removed(void **state)
{
    char header[128], marker[FOLDER_SIZE + 8];
    struct principal who;
    struct stat status;
    struct error error;

    (void)state;
    snprintf(marker, sizeof marker, "%s.keys", folder);
    add_key("alice", ROLE_ADMIN, 0, header);
    assert_true(create("auto", true, &error));
    assert_int_equal(stat(marker, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    lose_database();
    assert_false(create("auto", true, &error));
    assert_non_null(strstr(error.message, "opsbrain key reset"));
    assert_true(create("keys", true, &error));
    assert_false(authority_check(authority, NULL, &who, &error));
    authority_destroy(authority);
    authority = NULL;
    assert_true(key_marker_remove(folder, &error));
    assert_false(key_marker_remove(folder, &error));
    assert_true(create("auto", true, &error));
    assert_true(authority_check(authority, NULL, &who, &error));
}

static void the_marker_is_found_however_the_path_of_the_folder_is_written(void **state)
{
    char spelled[FOLDER_SIZE + 8];

    (void)state;
    snprintf(spelled, sizeof spelled, "%s///", folder);
    key_marker_write(spelled);
    assert_true(key_marker_exists(folder));
    snprintf(spelled, sizeof spelled, "%s/.", folder);
    assert_true(key_marker_exists(spelled));
    assert_false(key_marker_exists(""));
    key_marker_write("/proc/none"); /* a failure to write is only logged */
    assert_false(key_marker_exists("/proc/none"));
}

static void adding_the_first_key_while_running_writes_the_marker(void **state)
{
    char header[128];
    struct error error;

    (void)state;
    assert_true(create("auto", true, &error));
    assert_false(key_marker_exists(folder));
    add_key("alice", ROLE_ADMIN, 0, header);
    assert_true(authority_refresh(authority, &error));
    assert_true(key_marker_exists(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_keys_a_loopback_caller_is_an_admin_named_local,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            without_a_valid_key_only_the_keys_mode_can_listen_beyond_loopback, start, stop),
        cmocka_unit_test_setup_teardown(a_key_identifies_its_principal_and_role, start, stop),
        cmocka_unit_test_setup_teardown(a_missing_or_invalid_key_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(after_the_last_key_is_revoked_every_caller_is_refused,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            a_caller_is_admitted_until_its_key_ends_or_its_role_is_lowered, start, stop),
        cmocka_unit_test_setup_teardown(
            while_keys_cannot_be_read_nobody_is_admitted_or_can_continue, start, stop),
        cmocka_unit_test_setup_teardown(
            the_listener_is_called_when_keys_or_roles_change_not_when_a_key_is_used, start, stop),
        cmocka_unit_test_setup_teardown(
            a_folder_that_once_had_keys_needs_keys_until_its_marker_is_removed, start, stop),
        cmocka_unit_test_setup_teardown(
            the_marker_is_found_however_the_path_of_the_folder_is_written, start, stop),
        cmocka_unit_test_setup_teardown(adding_the_first_key_while_running_writes_the_marker, start,
                                        stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
