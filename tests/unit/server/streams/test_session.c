/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/core/text.h"
#include "server/streams/session.h"
#include "store/ledger/store.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

#define HOUR_MS INT64_C(3600000)

static char folder[FOLDER_SIZE];
static struct store *store;
static struct sessions *sessions;
static const char *const versions[] = { "2025-11-25", "2025-06-18", NULL };

static void open_limited(size_t total, size_t per_principal)
{
    const struct session_limits limits = { versions, total, per_principal, HOUR_MS };
    struct error error;

    assert_true(sessions_create(store, &limits, &sessions, &error));
}

static void open_sessions(size_t limit)
{
    open_limited(limit, limit);
}

static int start(void **state)
{
    struct error error;

    (void)state;
    folder_create(folder);
    return store_open(folder, test_database(folder), 2, &store, &error) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    sessions_destroy(sessions);
    store_close(store);
    folder_remove(folder);
    return 0;
}

/* Begins a session, and writes its id to `id`. */
static void begin(const char *principal, char id[ID_SIZE])
{
    struct session *session;
    struct error error;

    assert_true(session_begin(sessions, principal, "2025-06-18", "unit/1", "{}", &session, &error));
    text_copy(id, ID_SIZE, session->id);
    session_release(session);
}

static bool is_there(const char *id, const char *principal)
{
    struct session *session = session_find(sessions, id, principal);

    session_release(session);
    return session != NULL;
}

static void a_session_is_found_only_by_its_own_principal(void **state)
{
    char id[ID_SIZE];

    (void)state;
    open_sessions(10);
    begin("alice", id);
    assert_true(is_there(id, "alice"));
    assert_false(is_there(id, "bob"));
    assert_false(is_there("ses_other", "alice"));
    assert_int_equal(sessions_count(sessions), 1);
}

static void sessions_survive_a_restart(void **state)
{
    struct session *session;
    char id[ID_SIZE];

    (void)state;
    open_sessions(10);
    begin("alice", id);
    sessions_destroy(sessions);
    open_sessions(10);
    session = session_find(sessions, id, "alice");
    assert_non_null(session);
    assert_string_equal(session->version, "2025-06-18");
    assert_string_equal(session->client, "unit/1");
    session_release(session);
}

static void an_ended_session_is_still_gone_after_a_restart(void **state)
{
    struct session *session;
    struct error error;
    char id[ID_SIZE];

    (void)state;
    open_sessions(10);
    begin("alice", id);
    session = session_find(sessions, id, "alice");
    assert_true(session_end(sessions, session, "", &error));
    assert_true(session_end(sessions, session, "", &error));
    session_release(session);
    assert_false(is_there(id, "alice"));
    sessions_destroy(sessions);
    open_sessions(10);
    assert_false(is_there(id, "alice"));
}

static void a_session_is_forgotten_only_after_the_idle_limit(void **state)
{
    int64_t now_ms = clock_utc_ms();
    char id[ID_SIZE];

    (void)state;
    open_sessions(10);
    begin("alice", id);
    sessions_tidy(sessions, now_ms + HOUR_MS / 2);
    assert_int_equal(sessions_count(sessions), 1);
    sessions_tidy(sessions, now_ms + HOUR_MS + 60000);
    assert_int_equal(sessions_count(sessions), 0);
    assert_false(is_there(id, "alice"));
}

static void over_the_limit_the_least_recently_used_session_is_removed(void **state)
{
    char ids[4][ID_SIZE];

    (void)state;
    open_limited(3, 10);
    for (int i = 0; i < 3; i++) {
        begin("alice", ids[i]);
        usleep(2000);
    }
    assert_true(is_there(ids[0], "alice")); /* used again */
    begin("alice", ids[3]);
    assert_int_equal(sessions_count(sessions), 3);
    assert_true(is_there(ids[0], "alice"));
    assert_false(is_there(ids[1], "alice"));
    assert_true(is_there(ids[3], "alice"));
}

static void a_principal_over_its_limit_loses_its_own_least_recently_used_session(void **state)
{
    char bobs[ID_SIZE], ids[3][ID_SIZE];

    (void)state;
    open_limited(10, 2);
    begin("bob", bobs);
    for (int i = 0; i < 3; i++) {
        usleep(2000);
        begin("alice", ids[i]);
    }
    assert_int_equal(sessions_count(sessions), 3);
    assert_true(is_there(bobs, "bob"));
    assert_false(is_there(ids[0], "alice"));
    assert_true(is_there(ids[1], "alice"));
    assert_true(is_there(ids[2], "alice"));
}

static void a_session_with_a_running_call_is_removed_last(void **state)
{
    struct session_call call = { 0 };
    struct session *session;
    char ids[3][ID_SIZE];

    (void)state;
    open_limited(10, 2);
    begin("alice", ids[0]);
    session = session_find(sessions, ids[0], "alice");
    session_add_call(session, &call);
    usleep(2000);
    begin("alice", ids[1]);
    usleep(2000);
    begin("alice", ids[2]);
    assert_true(is_there(ids[0], "alice"));
    assert_false(is_there(ids[1], "alice"));
    session_remove_call(session, &call);
    session_release(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_is_found_only_by_its_own_principal, start, stop),
        cmocka_unit_test_setup_teardown(sessions_survive_a_restart, start, stop),
        cmocka_unit_test_setup_teardown(an_ended_session_is_still_gone_after_a_restart, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_session_is_forgotten_only_after_the_idle_limit, start,
                                        stop),
        cmocka_unit_test_setup_teardown(over_the_limit_the_least_recently_used_session_is_removed,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            a_principal_over_its_limit_loses_its_own_least_recently_used_session, start, stop),
        cmocka_unit_test_setup_teardown(a_session_with_a_running_call_is_removed_last, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
