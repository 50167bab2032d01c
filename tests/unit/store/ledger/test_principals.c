/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/memory.h"
#include "store/audit/audit_log.h"
#include "store/ledger/principals.h"
#include "store/ledger/store.h"
#include "tests/unit/support/ledger.h"
#include "tests/unit/support/test_database.h"

static struct api_key add_key(struct ledger *ledger, const char *principal, enum role role,
                              const char *secret, int64_t expires_ms)
{
    struct change change = ledger_change("admin", "key_add");
    uint8_t digest[DIGEST_BYTES];
    struct api_key key;

    digest_sha256(secret, strlen(secret), digest);
    assert_ok(ledger, api_key_add(ledger->store, principal, role, "", digest, expires_ms, &change,
                                  &key, &ledger->error));
    return key;
}

/* Returns false if the key has expired or was revoked. Otherwise writes the key's principal
 * to *out and, like a request, notes that the key was used. */
static bool find_key(struct ledger *ledger, const char *secret, int64_t now_ms,
                     struct principal *out)
{
    uint8_t digest[DIGEST_BYTES];
    FREE_AUTO struct key_with_digest *keys = NULL;
    size_t count, i = 0;

    digest_sha256(secret, strlen(secret), digest);
    assert_ok(ledger, api_key_load(ledger->store, &keys, &count, &ledger->error));
    while (i < count && memcmp(keys[i].digest, digest, DIGEST_BYTES) != 0)
        i++;
    assert_int_not_equal(i, count);
    if (!api_key_check(&keys[i].key, now_ms, &ledger->error))
        return false;
    text_copy(out->name, sizeof out->name, keys[i].key.principal);
    out->role = keys[i].key.role;
    api_key_note_use(ledger->store, keys[i].key.id, now_ms);
    return true;
}

static void finds_who_a_key_belongs_to(void **state)
{
    struct ledger *ledger = *state;
    struct principal principal;

    add_key(ledger, "alice", ROLE_OPERATOR, "secret", 0);
    assert_ok(ledger, find_key(ledger, "secret", 1000, &principal));
    assert_string_equal(principal.name, "alice");
    assert_int_equal(principal.role, ROLE_OPERATOR);
}

static void refuses_keys_that_expired_or_were_revoked(void **state)
{
    struct ledger *ledger = *state;
    struct principal principal = { .name = "nobody" };
    struct change change = ledger_change("admin", "key_revoke");
    struct api_key key = add_key(ledger, "alice", ROLE_VIEWER, "one", 5000);
    int64_t revoked;

    add_key(ledger, "alice", ROLE_VIEWER, "two", 0);
    assert_ok(ledger, find_key(ledger, "one", 4999, &principal));
    assert_refused(ledger, find_key(ledger, "one", 5000, &principal), ERROR_UNAUTHENTICATED,
                   "expired at 1970-01-01T00:00:05");
    assert_ok(ledger,
              api_key_revoke(ledger->store, key.id, 6000, &change, &revoked, &ledger->error));
    assert_int_equal(revoked, 1);
    assert_refused(ledger, find_key(ledger, "one", 4000, &principal), ERROR_UNAUTHENTICATED,
                   "was revoked");
    assert_ok(ledger, find_key(ledger, "two", 7000, &principal));
    assert_ok(ledger,
              api_key_revoke(ledger->store, "alice", 8000, &change, &revoked, &ledger->error));
    assert_int_equal(revoked, 1);
    assert_refused(ledger,
                   api_key_revoke(ledger->store, "alice", 8000, &change, &revoked, &ledger->error),
                   ERROR_NOT_FOUND,
                   "\"alice\" is neither the id of an unrevoked key nor the name of a principal");
}

static void a_principal_has_one_role(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("local", "principal role");
    uint8_t digest[DIGEST_BYTES] = { 9 };
    struct principal principal;
    struct principal_row *rows;
    struct api_key refused;
    enum role before;
    size_t count;

    add_key(ledger, "alice", ROLE_VIEWER, "one", 0);
    assert_refused(ledger,
                   api_key_add(ledger->store, "alice", ROLE_ADMIN, "", digest, 0, NULL, &refused,
                               &ledger->error),
                   ERROR_CONFLICT, "alice is a viewer and a principal has one role");
    assert_non_null(strstr(ledger->error.message, "opsbrain principal role alice admin"));
    add_key(ledger, "alice", ROLE_VIEWER, "two", 1);
    assert_ok(ledger, find_key(ledger, "one", 7000, &principal));
    assert_int_equal(principal.role, ROLE_VIEWER);
    assert_ok(ledger, principal_set_role(ledger->store, "alice", ROLE_ADMIN, &change, &before,
                                         &ledger->error));
    assert_int_equal(before, ROLE_VIEWER);
    assert_ok(ledger, find_key(ledger, "one", 8000, &principal));
    assert_int_equal(principal.role, ROLE_ADMIN);
    store_close(ledger->store); /* stores when the keys were last used */
    assert_ok(ledger, store_open(ledger->folder, test_database(ledger->folder), 4, &ledger->store,
                                 &ledger->error));
    assert_ok(ledger, principal_list(ledger->store, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].keys, 2);
    assert_int_equal(rows[0].valid_keys, 1);
    assert_int_equal(rows[0].last_used_ms, 8000);
    free(rows);
}

static void a_change_of_role_is_audited(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("local", "principal role");
    struct audit_filter filter = { .tool = "principal role" };
    struct audit_row *rows;
    enum role before;
    size_t count;

    assert_refused(
        ledger,
        principal_set_role(ledger->store, "alice", ROLE_ADMIN, &change, &before, &ledger->error),
        ERROR_NOT_FOUND, "no principal \"alice\"");
    add_key(ledger, "alice", ROLE_OPERATOR, "one", 0);
    assert_ok(ledger, principal_set_role(ledger->store, "alice", ROLE_VIEWER, &change, &before,
                                         &ledger->error));
    assert_ok(ledger, audit_log_list(ledger->store, &filter, 9, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].subject, "alice");
    assert_string_equal(rows[0].detail, "from operator to viewer");
    audit_log_rows_free(rows, count);
}

static void keys_have_a_short_printable_label(void **state)
{
    struct ledger *ledger = *state;
    uint8_t digest[DIGEST_BYTES] = { 7 };
    struct api_key key, *rows;
    char longer[100];
    size_t count;

    assert_ok(ledger, api_key_add(ledger->store, "ci", ROLE_VIEWER, "nightly runs", digest, 0, NULL,
                                  &key, &ledger->error));
    assert_ok(ledger, api_key_list(ledger->store, &rows, &count, &ledger->error));
    assert_string_equal(rows[0].label, "nightly runs");
    free(rows);
    memset(longer, 'x', sizeof longer);
    longer[64] = '\0';
    assert_refused(ledger,
                   api_key_add(ledger->store, "ci", ROLE_VIEWER, longer, digest, 0, NULL, &key,
                               &ledger->error),
                   ERROR_INVALID, "must be printable and at most 63 bytes long");
    assert_refused(ledger,
                   api_key_add(ledger->store, "ci", ROLE_VIEWER, "two\nlines", digest, 0, NULL,
                               &key, &ledger->error),
                   ERROR_INVALID, "printable");
}

static void refuses_invalid_names(void **state)
{
    struct ledger *ledger = *state;
    uint8_t digest[DIGEST_BYTES] = { 0 };
    struct api_key key;

    assert_refused(
        ledger,
        api_key_add(ledger->store, "a b", ROLE_VIEWER, "", digest, 0, NULL, &key, &ledger->error),
        ERROR_INVALID, "\"a b\" cannot be a principal's name");
}

static void remembers_when_a_key_was_last_used(void **state)
{
    struct ledger *ledger = *state;
    struct principal principal;
    struct api_key *rows;
    size_t count;

    add_key(ledger, "alice", ROLE_VIEWER, "one", 0);
    for (int64_t i = 1; i <= 100; i++)
        assert_ok(ledger, find_key(ledger, "one", i, &principal));
    ledger_reopen(ledger); /* closing commits deferred updates */
    assert_ok(ledger, api_key_list(ledger->store, &rows, &count, &ledger->error));
    assert_int_equal(rows[0].last_used_ms, 100);
    free(rows);
}

static void add_session(struct ledger *ledger, const char *id, int64_t now_ms)
{
    struct session_row row = { .principal = "alice",
                               .protocol_version = "2025-06-18",
                               .client = "test/1",
                               .capabilities = (char[]){ "{\"roots\":{}}" },
                               .created_ms = now_ms,
                               .last_seen_ms = now_ms };

    snprintf(row.id, sizeof row.id, "%s", id);
    assert_ok(ledger, session_add(ledger->store, &row, &ledger->error));
}

static void sessions_survive_a_restart_unless_they_are_too_old(void **state)
{
    struct ledger *ledger = *state;
    struct session_row *rows;
    size_t count;

    add_session(ledger, "ses_old", 1000);
    add_session(ledger, "ses_seen", 1000);
    add_session(ledger, "ses_left", 3000);
    session_set_seen(ledger->store, "ses_seen", 2500);
    session_set_seen(ledger->store, "ses_seen", 2400);
    assert_ok(ledger, session_remove(ledger->store, "ses_left", &ledger->error));
    ledger_reopen(ledger);
    assert_ok(ledger, session_load(ledger->store, 2000, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].id, "ses_seen");
    assert_int_equal(rows[0].last_seen_ms, 2500);
    assert_string_equal(rows[0].capabilities, "{\"roots\":{}}");
    session_rows_free(rows, count);
    assert_ok(ledger, session_load(ledger->store, 0, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    session_rows_free(rows, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_who_a_key_belongs_to),
        cmocka_unit_test(refuses_keys_that_expired_or_were_revoked),
        cmocka_unit_test(a_principal_has_one_role),
        cmocka_unit_test(a_change_of_role_is_audited),
        cmocka_unit_test(keys_have_a_short_printable_label),
        cmocka_unit_test(refuses_invalid_names),
        cmocka_unit_test(remembers_when_a_key_was_last_used),
        cmocka_unit_test(sessions_survive_a_restart_unless_they_are_too_old),
    };

    return ledger_run(tests);
}
