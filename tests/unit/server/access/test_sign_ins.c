/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "server/access/authority.h"
#include "server/access/sign_ins.h"
#include "store/ledger/browser_sessions.h"
#include "store/ledger/store.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

struct trial {
    char folder[FOLDER_SIZE];
    struct store *store;
    struct authority *authority;
    struct sign_ins *sign_ins;
    struct error error;
};

static const struct sign_in_limits usual = { .idle_ms = 60000, .lifetime_ms = 600000 };

static struct change change_of(const char *tool)
{
    return (struct change){
        .actor = { .principal = "ada", .role = "admin", .client = "", .request_id = "req_1" },
        .tool = tool,
        .arguments = "{}"
    };
}

static void add_key(struct trial *trial, const char *principal, enum role role, const char *key)
{
    struct change change = change_of("key_add");
    uint8_t digest[DIGEST_BYTES];
    struct api_key added;

    digest_sha256(key, strlen(key), digest);
    assert_true(
        api_key_add(trial->store, principal, role, "", digest, 0, &change, &added, &trial->error));
}

static void open_sign_ins(struct trial *trial, struct sign_in_limits limits)
{
    sign_ins_destroy(trial->sign_ins);
    trial->sign_ins = NULL;
    assert_true(
        sign_ins_create(trial->store, trial->authority, limits, &trial->sign_ins, &trial->error));
}

static int start(void **state)
{
    struct trial *trial = calloc(1, sizeof *trial);

    folder_create(trial->folder);
    assert_true(
        store_open(trial->folder, test_database(trial->folder), 2, &trial->store, &trial->error));
    add_key(trial, "ada", ROLE_OPERATOR, "one");
    assert_true(authority_create(trial->store, trial->folder, "auto", true, &trial->authority,
                                 &trial->error));
    open_sign_ins(trial, usual);
    *state = trial;
    return 0;
}

static int stop(void **state)
{
    struct trial *trial = *state;

    sign_ins_destroy(trial->sign_ins);
    authority_destroy(trial->authority);
    store_close(trial->store);
    folder_remove(trial->folder);
    free(trial);
    return 0;
}

static bool sign_in(struct trial *trial, const char *key, char cookie[SIGN_IN_COOKIE_SIZE])
{
    struct change change = change_of("sign_in");

    return sign_in_add(trial->sign_ins, key, &change, cookie, &trial->error);
}

static bool is_known(struct trial *trial, const char *cookie)
{
    struct principal principal;

    return sign_in_check(trial->sign_ins, cookie, &principal, &trial->error);
}

static size_t count_stored(struct trial *trial)
{
    struct browser_session *rows;
    size_t count;

    assert_true(browser_session_load(trial->store, &rows, &count, &trial->error));
    free(rows);
    return count;
}

static void a_cookie_has_the_rights_of_its_key(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE], other[SIGN_IN_COOKIE_SIZE];
    struct principal principal;

    assert_true(sign_in(trial, "one", cookie));
    assert_true(sign_in(trial, "one", other));
    assert_string_not_equal(cookie, other);
    assert_true(sign_in_check(trial->sign_ins, cookie, &principal, &trial->error));
    assert_string_equal(principal.name, "ada");
    assert_int_equal(principal.role, ROLE_OPERATOR);
    assert_true(authority_still_admits(trial->authority, &principal));
}

static void unknown_keys_and_cookies_are_refused(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE];

    assert_false(sign_in(trial, "two", cookie));
    assert_int_equal(trial->error.kind, ERROR_UNAUTHENTICATED);
    assert_false(sign_in(trial, "", cookie));
    assert_false(is_known(trial, ""));
    assert_false(is_known(trial, "one"));
    assert_int_equal(count_stored(trial), 0);
}

static void signing_out_ends_only_that_sign_in(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE], other[SIGN_IN_COOKIE_SIZE];
    struct change change = change_of("sign_out");

    assert_true(sign_in(trial, "one", cookie) && sign_in(trial, "one", other));
    assert_true(sign_in_remove(trial->sign_ins, cookie, &change, &trial->error));
    assert_true(sign_in_remove(trial->sign_ins, cookie, &change, &trial->error));
    assert_false(is_known(trial, cookie));
    assert_true(is_known(trial, other));
    assert_int_equal(count_stored(trial), 1);
}

static void a_sign_in_survives_a_restart(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE];

    assert_true(sign_in(trial, "one", cookie));
    open_sign_ins(trial, usual);
    assert_true(is_known(trial, cookie));
}

static void a_sign_in_ends_after_its_idle_time_or_its_lifetime(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE];

    assert_true(sign_in(trial, "one", cookie));
    open_sign_ins(trial, (struct sign_in_limits){ .idle_ms = -1, .lifetime_ms = 600000 });
    assert_false(is_known(trial, cookie));
    open_sign_ins(trial, (struct sign_in_limits){ .idle_ms = 60000, .lifetime_ms = -1 });
    assert_false(is_known(trial, cookie));
    assert_int_equal(count_stored(trial), 1);
    sign_ins_expire(trial->sign_ins);
    assert_int_equal(count_stored(trial), 0);
}

static void a_sign_in_ends_with_its_key(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE];
    struct change change = change_of("key_revoke");
    int64_t revoked;

    add_key(trial, "bob", ROLE_VIEWER, "two");
    assert_true(authority_refresh(trial->authority, &trial->error));
    assert_true(sign_in(trial, "one", cookie));
    sign_ins_expire(trial->sign_ins);
    assert_true(is_known(trial, cookie));
    assert_true(api_key_revoke(trial->store, "ada", 1, &change, &revoked, &trial->error));
    assert_true(authority_refresh(trial->authority, &trial->error));
    assert_false(is_known(trial, cookie));
    sign_ins_expire(trial->sign_ins);
    assert_int_equal(count_stored(trial), 0);
}

static void lowering_the_role_ends_a_sign_in(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE];
    struct change change = change_of("principal_role");
    struct principal principal;
    enum role before;

    assert_true(sign_in(trial, "one", cookie));
    assert_true(
        principal_set_role(trial->store, "ada", ROLE_ADMIN, &change, &before, &trial->error));
    assert_true(authority_refresh(trial->authority, &trial->error));
    assert_true(sign_in_check(trial->sign_ins, cookie, &principal, &trial->error));
    assert_int_equal(principal.role, ROLE_ADMIN);
    assert_true(
        principal_set_role(trial->store, "ada", ROLE_VIEWER, &change, &before, &trial->error));
    assert_true(authority_refresh(trial->authority, &trial->error));
    assert_false(is_known(trial, cookie));
    assert_non_null(strstr(trial->error.message, "viewer"));
}

static void a_key_has_at_most_32_sign_ins_and_the_newest_remains(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE];

    for (int i = 0; i < 41; i++)
        assert_true(sign_in(trial, "one", cookie));
    assert_int_equal(count_stored(trial), 32);
    assert_true(is_known(trial, cookie));
}

/* A sign-in that was removed from memory but not from the database would be valid again after a
 * restart. */
static void a_change_that_cannot_be_stored_has_no_effect(void **state)
{
    struct trial *trial = *state;
    char cookies[32][SIGN_IN_COOKIE_SIZE], more[SIGN_IN_COOKIE_SIZE];
    struct change change = change_of("sign_out");

    for (size_t i = 0; i < 32; i++)
        assert_true(sign_in(trial, "one", cookies[i]));
    backdoor_refuse(trial->folder, "full_out", "DELETE ON browser_sessions", "TRUE");
    backdoor_refuse(trial->folder, "full_in", "INSERT ON browser_sessions", "TRUE");
    assert_false(sign_in_remove(trial->sign_ins, cookies[0], &change, &trial->error));
    assert_true(is_known(trial, cookies[0]));
    assert_false(sign_in(trial, "one", more));
    for (size_t i = 0; i < 32; i++)
        assert_true(is_known(trial, cookies[i]));
    backdoor_allow(trial->folder, "full_out", "browser_sessions");
    backdoor_allow(trial->folder, "full_in", "browser_sessions");
    change = change_of("sign_out");
    assert_true(sign_in_remove(trial->sign_ins, cookies[0], &change, &trial->error));
    assert_false(is_known(trial, cookies[0]));
    assert_int_equal(count_stored(trial), 31);
}

struct ends {
    atomic_int count;
    uint8_t last[DIGEST_BYTES];
};

static void record_end(void *context, const uint8_t digest[DIGEST_BYTES])
{
    struct ends *ends = context;

    atomic_fetch_add(&ends->count, 1);
    memcpy(ends->last, digest, DIGEST_BYTES);
}

static void count_end(void *context, const uint8_t digest[DIGEST_BYTES])
{
    (void)digest;
    atomic_fetch_add((atomic_int *)context, 1);
}

static void the_listener_is_told_which_sign_in_ended(void **state)
{
    struct trial *trial = *state;
    char cookie[SIGN_IN_COOKIE_SIZE], other[SIGN_IN_COOKIE_SIZE];
    struct change change = change_of("sign_out"), revoke = change_of("key_revoke");
    struct ends ends = { 0 };
    uint8_t digest[DIGEST_BYTES];
    int64_t revoked;

    sign_ins_listen(trial->sign_ins, record_end, &ends);
    assert_true(sign_in(trial, "one", cookie) && sign_in(trial, "one", other));
    assert_true(sign_in_remove(trial->sign_ins, cookie, &change, &trial->error));
    assert_true(sign_in_remove(trial->sign_ins, cookie, &change, &trial->error));
    assert_int_equal(atomic_load(&ends.count), 1);
    sign_in_digest(cookie, digest);
    assert_memory_equal(ends.last, digest, DIGEST_BYTES);
    assert_true(api_key_revoke(trial->store, "ada", 1, &revoke, &revoked, &trial->error));
    assert_true(authority_refresh(trial->authority, &trial->error));
    sign_ins_expire(trial->sign_ins);
    assert_int_equal(atomic_load(&ends.count), 2);
    sign_in_digest(other, digest);
    assert_memory_equal(ends.last, digest, DIGEST_BYTES);
}

static void *sign_in_and_out(void *context)
{
    struct trial *trial = context;

    for (int i = 0; i < 10; i++) {
        struct change change = change_of("sign_in");
        char cookie[SIGN_IN_COOKIE_SIZE];
        struct principal principal;
        struct error error;

        assert_true(sign_in_add(trial->sign_ins, "one", &change, cookie, &error));
        assert_true(sign_in_check(trial->sign_ins, cookie, &principal, &error));
        change = change_of("sign_out");
        assert_true(sign_in_remove(trial->sign_ins, cookie, &change, &error));
        assert_false(sign_in_check(trial->sign_ins, cookie, &principal, &error));
        sign_ins_expire(trial->sign_ins);
    }
    return NULL;
}

static void sign_ins_can_begin_and_end_on_any_thread(void **state)
{
    struct trial *trial = *state;
    atomic_int ends = 0;
    pthread_t threads[3];

    sign_ins_listen(trial->sign_ins, count_end, &ends);
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, sign_in_and_out, trial);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&ends), 30);
    assert_int_equal(count_stored(trial), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cookie_has_the_rights_of_its_key, start, stop),
        cmocka_unit_test_setup_teardown(unknown_keys_and_cookies_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(signing_out_ends_only_that_sign_in, start, stop),
        cmocka_unit_test_setup_teardown(a_sign_in_survives_a_restart, start, stop),
        cmocka_unit_test_setup_teardown(a_sign_in_ends_after_its_idle_time_or_its_lifetime, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_sign_in_ends_with_its_key, start, stop),
        cmocka_unit_test_setup_teardown(lowering_the_role_ends_a_sign_in, start, stop),
        cmocka_unit_test_setup_teardown(a_key_has_at_most_32_sign_ins_and_the_newest_remains, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_change_that_cannot_be_stored_has_no_effect, start, stop),
        cmocka_unit_test_setup_teardown(the_listener_is_told_which_sign_in_ended, start, stop),
        cmocka_unit_test_setup_teardown(sign_ins_can_begin_and_end_on_any_thread, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
