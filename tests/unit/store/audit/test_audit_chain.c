/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <sqlite3.h>

#include "base/core/clock.h"
#include "base/core/digest.h"
#include "base/core/random.h"
#include "base/core/text.h"
#include "migrations/migrations.h"
#include "store/audit/audit_log.h"
#include "store/audit/audit_verify.h"
#include "store/ledger/store.h"
#include "tests/unit/support/ledger.h"
#include "tests/unit/support/test_database.h"

#define ROWS 40
#define EDITS 100
#define FIRST_KEY "0123456789abcdef0123456789abcdef\n"
#define SECOND_KEY "another key, which is not the first one\n"
#define DAY_MS (24 * 60 * 60 * 1000LL)

/* ---- An attacker who can write the file ---- */

#define WITHOUT_TRIGGERS                                                                           \
    "DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_kept;"                               \
    "DROP TRIGGER audit_anchors_are_kept; DROP TRIGGER audit_anchors_are_not_changed;"

static int execute(const struct ledger *ledger, const char *script)
{
    char file[FOLDER_SIZE + 16];
    sqlite3 *db;
    int status;

    snprintf(file, sizeof file, "%s/opsbrain.db", ledger->folder);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    status = sqlite3_exec(db, script, NULL, NULL, NULL);
    sqlite3_close(db);
    return status;
}

__attribute__((format(printf, 2, 3))) static void edit(const struct ledger *ledger,
                                                       const char *format, ...)
{
    char script[2000];
    va_list args;

    va_start(args, format);
    vsnprintf(script, sizeof script, format, args);
    va_end(args);
    if (execute(ledger, script) != SQLITE_OK)
        fail_msg("cannot run: %s", script);
}

/* ---- The server ---- */

static void write_key(const struct ledger *ledger, const char *keys, char path[FOLDER_SIZE + 8])
{
    FILE *file;

    snprintf(path, FOLDER_SIZE + 8, "%s.key", ledger->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(keys, file);
    fclose(file);
}

static void use_key(struct ledger *ledger, const char *keys)
{
    char path[FOLDER_SIZE + 8];

    write_key(ledger, keys, path);
    assert_ok(ledger, store_use_audit_key(ledger->store, path, &ledger->error));
    remove(path);
}

static void add_rows(struct ledger *ledger, int count)
{
    for (int i = 0; i < count; i++) {
        struct change change = ledger_change("alice", "deployment_update");
        char subject[24];

        snprintf(subject, sizeof subject, "thing-%d", i);
        assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", subject, &ledger->error));
    }
}

static struct audit_verdict verify(struct ledger *ledger)
{
    struct audit_verdict verdict;

    assert_ok(ledger, audit_verify(ledger->store, NULL, NULL, &verdict, &ledger->error));
    return verdict;
}

static void assert_intact(struct ledger *ledger, int64_t rows)
{
    struct audit_verdict verdict = verify(ledger);
    TEXT_AUTO words = { 0 };

    audit_verdict_describe(&verdict, &words);
    if (!verdict.intact)
        fail_msg("%s", text_string(&words));
    assert_int_equal(verdict.rows, rows);
    assert_non_null(strstr(text_string(&words), "is intact"));
}

static void assert_not_intact(struct ledger *ledger, const char *expected)
{
    struct audit_verdict verdict = verify(ledger);
    TEXT_AUTO words = { 0 };

    audit_verdict_describe(&verdict, &words);
    assert_false(verdict.intact);
    assert_non_null(strstr(text_string(&words), "IS NOT INTACT"));
    if (strstr(text_string(&words), expected) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", text_string(&words), expected);
}

/* ---- Edits ---- */

/* Edits the table in one of six ways: changes or removes a row, or swaps two. */
static void edit_at_random(const struct ledger *ledger, struct generator *generator)
{
    static const char *const columns[] = {
        "request_id", "principal", "role",   "client",  "tool",
        "arguments",  "outcome",   "detail", "subject", "changed"
    };
    int row = 1 + (int)generator_below(generator, ROWS);
    int other = 1 + (row + (int)generator_below(generator, ROWS - 1)) % ROWS;

    switch (generator_below(generator, 6)) {
    case 0:
        edit(ledger, "UPDATE audit SET %1$s = %1$s || 'x' WHERE id = %2$d",
             columns[generator_below(generator, sizeof columns / sizeof *columns)], row);
        return;
    case 1:
        edit(ledger, "DELETE FROM audit WHERE id = %d", row);
        return;
    case 2: /* swaps two rows: all columns except the id */
        edit(ledger,
             "UPDATE audit SET id = -1 WHERE id = %1$d; UPDATE audit SET id = %1$d WHERE id = "
             "%2$d; UPDATE audit SET id = %2$d WHERE id = -1",
             row, other);
        return;
    case 3:
        edit(ledger, "UPDATE audit SET at_ms = at_ms - 86400000 WHERE id = %d", row);
        return;
    case 4: /* moves characters from one column to the next: both together stay the same */
        edit(ledger,
             "UPDATE audit SET principal = substr(principal, 1, 3), "
             "role = substr(principal, 4) || role WHERE id = %d",
             row);
        return;
    default:
        edit(ledger, "UPDATE audit SET times = times + 1, intent = intent + 1 WHERE id = %d", row);
    }
}

static void find_every_edit(struct ledger *ledger, uint64_t seed)
{
    struct generator generator;
    int found = 0;

    generator_init(&generator, seed);
    add_rows(ledger, ROWS);
    assert_intact(ledger, ROWS);
    edit(ledger, WITHOUT_TRIGGERS "CREATE TABLE kept AS SELECT * FROM audit");
    for (int i = 0; i < EDITS; i++) {
        edit_at_random(ledger, &generator);
        found += !verify(ledger).intact;
        edit(ledger, "DELETE FROM audit; INSERT INTO audit SELECT * FROM kept");
        assert_intact(ledger, ROWS);
    }
    assert_int_equal(found, EDITS);
}

static void finds_every_edit_of_a_row(void **state)
{
    find_every_edit(*state, 1);
}

static void finds_every_edit_of_a_row_in_a_chain_with_a_key(void **state)
{
    struct ledger *ledger = *state;

    use_key(ledger, FIRST_KEY);
    find_every_edit(ledger, 2);
}

static void names_the_row_that_was_changed(void **state)
{
    struct ledger *ledger = *state;
    struct audit_verdict verdict;

    add_rows(ledger, ROWS);
    edit(ledger, WITHOUT_TRIGGERS "UPDATE audit SET principal = 'bob' WHERE id = 17");
    verdict = verify(ledger);
    assert_int_equal(verdict.wrong, 1);
    assert_int_equal(verdict.wrong_ids[0], 17);
    assert_not_intact(ledger, "or following such a row or a removed one: 17");
}

static void refuses_to_change_or_remove_rows_and_anchors(void **state)
{
    static const char *const scripts[] = {
        "UPDATE audit SET detail = '' WHERE id = 43",
        "DELETE FROM audit WHERE id = 43",
        "DELETE FROM audit",
        "DELETE FROM audit_anchors",
        "UPDATE audit_anchors SET last_id = 9",
    };
    struct ledger *ledger = *state;

    add_rows(ledger, ROWS);
    assert_ok(ledger, store_apply_retention(ledger->store, &(struct retention){ .audit_days = 1 },
                                            clock_utc_ms() + 2 * DAY_MS, &ledger->error));
    add_rows(ledger, ROWS);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (execute(ledger, scripts[i]) != SQLITE_CONSTRAINT)
            fail_msg("not refused: %s", scripts[i]);
    assert_intact(ledger, ROWS);
}

/* ---- The end of the chain, and its head: opsbrain's record of the newest row ---- */

static void finds_that_the_newest_rows_are_gone(void **state)
{
    struct ledger *ledger = *state;

    add_rows(ledger, ROWS);
    edit(ledger, WITHOUT_TRIGGERS "DELETE FROM audit WHERE id > %d", ROWS - 5);
    assert_not_intact(ledger, "rows missing at the end: 5");
    assert_int_equal(verify(ledger).wrong, 0);
}

/* The rows that are added after the removal do not hide it. */
static void reports_that_the_newest_rows_were_removed_even_after_new_rows(void **state)
{
    struct ledger *ledger = *state;
    struct audit_row *rows;
    size_t count;

    add_rows(ledger, ROWS);
    edit(ledger, WITHOUT_TRIGGERS "DELETE FROM audit WHERE id > %d", ROWS - 5);
    add_rows(ledger, 2);
    assert_not_intact(ledger, "reporting that another program wrote to the audit log: ");
    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ .tool = "audit_alarm" },
                                     9, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].principal, "(server)");
    audit_log_rows_free(rows, count);
}

/* The head has a seal: a digest that depends on the key. Without the key, the attacker cannot make
 * a valid seal for a head that names an older row. */
static void reports_removed_rows_although_the_head_was_set_back(void **state)
{
    struct ledger *ledger = *state;

    use_key(ledger, FIRST_KEY);
    add_rows(ledger, ROWS);
    edit(ledger, WITHOUT_TRIGGERS "DELETE FROM audit WHERE id > 30; UPDATE audit_head SET id = 30, "
                                  "digest = (SELECT digest FROM audit WHERE id = 30)");
    assert_not_intact(ledger, "opsbrain's record of the newest row was changed or removed");
    add_rows(ledger, 1);
    assert_not_intact(ledger, "reporting that another program wrote to the audit log: ");
}

static void rows_that_another_program_appended_are_found(void **state)
{
    struct ledger *ledger = *state;

    add_rows(ledger, ROWS);
    edit(ledger,
         "INSERT INTO audit SELECT id + 1, at_ms, intent, times, request_id, 'mallory', role, "
         "client, tool, arguments, phase, outcome, detail, subject, changed, key_id, digest "
         "FROM audit WHERE id = %d",
         ROWS);
    assert_int_equal(verify(ledger).wrong_ids[0], ROWS + 1);
    add_rows(ledger, 1);
    assert_int_equal(verify(ledger).alarms, 1);
}

static void a_removed_head_is_found(void **state)
{
    struct ledger *ledger = *state;

    add_rows(ledger, ROWS);
    edit(ledger, "DELETE FROM audit_head");
    assert_false(verify(ledger).intact);
    add_rows(ledger, 1);
    assert_int_equal(verify(ledger).alarms, 1);
}

/* ---- A rewritten chain ---- */

struct row {
    int64_t numbers[4];
    char texts[12][200];
};

static int keep_row(void *context, int columns, char **values, char **names)
{
    struct row *row = context;

    (void)names;
    for (int i = 0; i < columns; i++)
        if (i < 4)
            row->numbers[i] = strtoll(values[i], NULL, 10);
        else
            snprintf(row->texts[i - 4], sizeof row->texts[0], "%s", values[i]);
    return 0;
}

static void add_number(struct text *out, int64_t number)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        text_add_char(out, (char)(number >> shift & 0xff));
}

/* Computes the row's digest as audit_chain.h describes it, without using the code in store/audit/.
 * `chain` holds the previous row's digest, and is overwritten with this row's. */
static void digest_row(const struct row *row, uint8_t chain[DIGEST_BYTES])
{
    TEXT_AUTO bytes = { 0 };

    text_add(&bytes, "opsbrain audit row 1");
    text_add_bytes(&bytes, (const char *)chain, DIGEST_BYTES);
    for (int i = 0; i < 4; i++)
        add_number(&bytes, row->numbers[i]);
    for (int i = 0; i < 12; i++) {
        add_number(&bytes, (int64_t)strlen(row->texts[i]));
        text_add(&bytes, row->texts[i]);
    }
    digest_sha256(bytes.data, bytes.length, chain);
}

static void read_row(const struct ledger *ledger, int64_t id, struct row *row)
{
    char file[FOLDER_SIZE + 16], query[300];
    sqlite3 *db;

    snprintf(file, sizeof file, "%s/opsbrain.db", ledger->folder);
    snprintf(query, sizeof query,
             "SELECT id, at_ms, intent, times, request_id, principal, role, client, tool, "
             "arguments, phase, outcome, detail, subject, changed, key_id FROM audit WHERE id = "
             "%" PRId64,
             id);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, query, keep_row, row, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Acts like an attacker who knows the format but has no key: changes a row, then recomputes all
 * digests and the seal of the head. */
static void rewrite_chain(const struct ledger *ledger)
{
    uint8_t chain[DIGEST_BYTES] = { 0 }, seal[DIGEST_BYTES];
    char hex[DIGEST_TEXT_SIZE], seal_hex[DIGEST_TEXT_SIZE];
    TEXT_AUTO head = { 0 };

    edit(ledger, WITHOUT_TRIGGERS
         "UPDATE audit SET principal = 'bob' WHERE id = 17; UPDATE audit SET key_id = ''");
    for (int64_t id = 1; id <= ROWS; id++) {
        struct row row;

        read_row(ledger, id, &row);
        digest_row(&row, chain);
        digest_write(chain, hex);
        edit(ledger, "UPDATE audit SET digest = x'%s' WHERE id = %d", hex, (int)id);
    }
    text_add(&head, "opsbrain audit head 1");
    add_number(&head, ROWS);
    text_add_bytes(&head, (const char *)chain, DIGEST_BYTES);
    add_number(&head, 0);
    digest_sha256(head.data, head.length, seal);
    digest_write(seal, seal_hex);
    edit(ledger, "UPDATE audit_head SET digest = x'%s', key_id = '', seal = x'%s'", hex, seal_hex);
}

/* If the chain has no key, only a digest that was noted elsewhere reveals that it was rewritten. */
static void a_rewritten_chain_does_not_match_the_noted_digest(void **state)
{
    struct ledger *ledger = *state;
    struct audit_verdict verdict;
    struct audit_mark mark;

    add_rows(ledger, ROWS);
    assert_ok(ledger, audit_newest(ledger->store, &mark, &ledger->error));
    assert_int_equal(mark.id, ROWS);
    assert_ok(ledger, audit_verify(ledger->store, &mark, NULL, &verdict, &ledger->error));
    assert_int_equal(verdict.mark, MARK_RIGHT);
    rewrite_chain(ledger);
    assert_intact(ledger, ROWS); /* so digest_row() computes the digests that the program expects */
    assert_ok(ledger, audit_verify(ledger->store, &mark, NULL, &verdict, &ledger->error));
    assert_int_equal(verdict.mark, MARK_WRONG);
    assert_false(verdict.intact);
    edit(ledger, "DELETE FROM audit WHERE id > 30");
    assert_ok(ledger, audit_verify(ledger->store, &mark, NULL, &verdict, &ledger->error));
    assert_int_equal(verdict.mark, MARK_GONE);
}

static void a_chain_rewritten_without_the_key_is_found(void **state)
{
    struct ledger *ledger = *state;

    use_key(ledger, FIRST_KEY);
    add_rows(ledger, ROWS);
    rewrite_chain(ledger);
    assert_not_intact(ledger, "the newest row was written without one");
}

static void reads_marks(void **state)
{
    struct audit_mark mark;

    (void)state;
    assert_true(audit_mark_read(
        "12:000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f", &mark));
    assert_int_equal(mark.id, 12);
    assert_false(audit_mark_read("12", &mark));
    assert_false(audit_mark_read("12:00", &mark));
    assert_false(audit_mark_read(
        "x:000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f", &mark));
    assert_false(audit_mark_read(
        "0:000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f", &mark));
}

/* ---- Keys ---- */

static void a_chain_can_get_a_key_and_later_a_second_one(void **state)
{
    struct ledger *ledger = *state;

    add_rows(ledger, 3);
    use_key(ledger, FIRST_KEY);
    assert_not_intact(ledger, "the newest row was written without one");
    add_rows(ledger, 3);
    assert_intact(ledger, 6);
    assert_int_equal(verify(ledger).keyless_before, 3);
    ledger_reopen(ledger);
    use_key(ledger, SECOND_KEY FIRST_KEY);
    add_rows(ledger, 3);
    assert_intact(ledger, 9);
}

static void a_lost_key_is_reported(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "x");

    use_key(ledger, FIRST_KEY);
    add_rows(ledger, 3);
    ledger_reopen(ledger);
    assert_not_intact(ledger, "rows whose key is not there: 3");
    assert_refused(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error),
                   ERROR_INVALID, "audit_key names no file");
    assert_refused(ledger, store_use_audit_key(ledger->store, "", &ledger->error), ERROR_INVALID,
                   "audit_key names no file");
    use_key(ledger, SECOND_KEY);
    add_rows(ledger, 3);
    assert_not_intact(ledger, "rows whose key is not there: 3");
    assert_int_equal(verify(ledger).wrong, 0);
}

static void a_row_without_a_key_after_a_row_with_one_is_reported(void **state)
{
    struct ledger *ledger = *state;

    use_key(ledger, FIRST_KEY);
    add_rows(ledger, 3);
    edit(ledger, WITHOUT_TRIGGERS "UPDATE audit SET key_id = '' WHERE id = 2");
    assert_not_intact(ledger,
                      "rows without a key after a row with one, so not written by opsbrain: 1");
}

static void refuses_a_file_without_a_usable_key(void **state)
{
    struct ledger *ledger = *state;
    char path[FOLDER_SIZE + 8];

    assert_refused(ledger, store_use_audit_key(ledger->store, "/nowhere", &ledger->error),
                   ERROR_INVALID, "cannot be read");
    write_key(ledger, "short\n", path);
    assert_refused(ledger, store_use_audit_key(ledger->store, path, &ledger->error), ERROR_INVALID,
                   "has 5 characters");
    write_key(ledger, "\n\n", path);
    assert_refused(ledger, store_use_audit_key(ledger->store, path, &ledger->error), ERROR_INVALID,
                   "has no key");
    remove(path);
}

/* ---- Retention ---- */

/* Adds `old` rows and lets retention remove them, which leaves an anchor: a sealed record of the
 * removed rows. Then adds ROWS rows, and checks that they continue the chain from the anchor. */
static void continue_from_the_anchor(struct ledger *ledger, int old)
{
    struct audit_verdict verdict;

    add_rows(ledger, old);
    assert_ok(ledger, store_apply_retention(ledger->store, &(struct retention){ .audit_days = 1 },
                                            clock_utc_ms() + 2 * DAY_MS, &ledger->error));
    assert_intact(ledger, 0);
    assert_int_equal(verify(ledger).removed, old);
    add_rows(ledger, ROWS);
    assert_intact(ledger, ROWS);
    verdict = verify(ledger);
    assert_int_equal(verdict.first_id, old + 1);
    assert_in_range(verdict.removed_until_ms, 1, clock_utc_ms());
}

static void retention_leaves_an_anchor(void **state)
{
    struct ledger *ledger = *state;

    continue_from_the_anchor(ledger, 600);
    edit(ledger, WITHOUT_TRIGGERS "UPDATE audit_anchors SET removed = removed - 1");
    assert_not_intact(ledger,
                      "the record of the rows that retention removed (the anchor) was changed");
}

/* Without the key, an attacker cannot make a valid seal for an anchor. */
static void an_anchor_that_another_program_added_is_found(void **state)
{
    struct ledger *ledger = *state;

    use_key(ledger, FIRST_KEY);
    continue_from_the_anchor(ledger, ROWS);
    edit(ledger, "INSERT INTO audit_anchors (last_id, at_ms, removed, from_ms, to_ms, digest, "
                 "key_id, seal) SELECT 50, at_ms, 50, 0, 0, digest, key_id, digest FROM audit "
                 "WHERE id = 50; DELETE FROM audit WHERE id <= 50");
    assert_not_intact(ledger, "the record of the rows that retention removed (the anchor)");
}

static void an_anchor_whose_key_id_was_removed_is_found(void **state)
{
    struct ledger *ledger = *state;

    use_key(ledger, FIRST_KEY);
    continue_from_the_anchor(ledger, ROWS);
    edit(ledger, WITHOUT_TRIGGERS "UPDATE audit_anchors SET key_id = ''");
    assert_not_intact(ledger, "the record of the rows that retention removed (the anchor)");
}

static void retention_keeps_rows_that_are_not_old_enough(void **state)
{
    struct ledger *ledger = *state;

    add_rows(ledger, ROWS);
    assert_ok(ledger, store_apply_retention(ledger->store, &(struct retention){ .audit_days = 1 },
                                            clock_utc_ms() + DAY_MS - 60000, &ledger->error));
    assert_intact(ledger, ROWS);
}

/* ---- Upgrade ---- */

/* Writes a database of version 12, which has no chain. */
static void write_version_12(struct ledger *ledger)
{
    TEXT_AUTO script = { 0 };

    for (int i = 0; i < 12; i++)
        text_addf(&script, "%s;", migrations_sqlite_main.rows[i].sql);
    for (int i = 0; i < ROWS; i++)
        text_addf(&script,
                  "INSERT INTO audit (at_ms, request_id, principal, role, client, tool, arguments, "
                  "phase, outcome, detail, subject) VALUES (%d, 'req_%d', 'ada', 'admin', 'c/1', "
                  "'deployment_remove', '{\"name\":\"ä\"}', '%s', '%s', '', '');",
                  1000 + i, i / 2, i % 2 == 0 ? "intent" : "outcome", i % 2 == 0 ? "" : "ok");
    text_add(&script, "DELETE FROM audit WHERE id = 7;" /* leaves a gap in the ids */
                      "PRAGMA application_id = 1869640546; PRAGMA user_version = 12;");
    assert_int_equal(execute(ledger, text_string(&script)), SQLITE_OK);
}

static void an_upgrade_adds_the_existing_rows_to_the_chain(void **state)
{
    struct ledger *ledger = *state;
    struct audit_row *rows;
    size_t count;

    store_close(ledger->store);
    folder_remove(ledger->folder);
    mkdir(ledger->folder, 0700);
    write_version_12(ledger);
    assert_ok(ledger, store_open(ledger->folder, test_database(ledger->folder), 4, &ledger->store,
                                 &ledger->error));
    assert_intact(ledger, ROWS); /* ROWS - 1 old ones, and one that records the upgrade */
    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ 0 }, 100, &rows, &count,
                                     &ledger->error));
    assert_int_equal(count, ROWS / 2 + 1);
    assert_string_equal(rows[0].principal, "(server)");
    assert_non_null(strstr(rows[0].detail, "39 rows are older than the chain"));
    assert_int_equal(rows[1].id, ROWS);
    assert_int_equal(rows[1].at_ms, 1000 + ROWS - 1);
    assert_int_equal(rows[1].began_ms, 1000 + ROWS - 2);
    assert_string_equal(rows[1].arguments, "{\"name\":\"ä\"}");
    audit_log_rows_free(rows, count);
    ledger_reopen(ledger);
    assert_intact(ledger, ROWS);
    edit(ledger, WITHOUT_TRIGGERS "UPDATE audit SET outcome = 'forbidden' WHERE id = 4");
    assert_false(verify(ledger).intact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_edit_of_a_row),
        cmocka_unit_test(finds_every_edit_of_a_row_in_a_chain_with_a_key),
        cmocka_unit_test(names_the_row_that_was_changed),
        cmocka_unit_test(refuses_to_change_or_remove_rows_and_anchors),
        cmocka_unit_test(finds_that_the_newest_rows_are_gone),
        cmocka_unit_test(reports_that_the_newest_rows_were_removed_even_after_new_rows),
        cmocka_unit_test(reports_removed_rows_although_the_head_was_set_back),
        cmocka_unit_test(rows_that_another_program_appended_are_found),
        cmocka_unit_test(a_removed_head_is_found),
        cmocka_unit_test(a_rewritten_chain_does_not_match_the_noted_digest),
        cmocka_unit_test(a_chain_rewritten_without_the_key_is_found),
        cmocka_unit_test(reads_marks),
        cmocka_unit_test(a_chain_can_get_a_key_and_later_a_second_one),
        cmocka_unit_test(a_lost_key_is_reported),
        cmocka_unit_test(a_row_without_a_key_after_a_row_with_one_is_reported),
        cmocka_unit_test(refuses_a_file_without_a_usable_key),
        cmocka_unit_test(retention_leaves_an_anchor),
        cmocka_unit_test(an_anchor_that_another_program_added_is_found),
        cmocka_unit_test(an_anchor_whose_key_id_was_removed_is_found),
        cmocka_unit_test(an_upgrade_adds_the_existing_rows_to_the_chain),
        cmocka_unit_test(retention_keeps_rows_that_are_not_old_enough),
    };

    if (!test_database_is_files()) /* the tests edit the SQLite file */
        return 0;
    return ledger_run(tests);
}
