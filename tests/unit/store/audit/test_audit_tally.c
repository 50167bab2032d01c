/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "store/audit/audit_log.h"
#include "store/audit/audit_verify.h"
#include "tests/unit/support/ledger.h"

#define FLOOD 5000

static void count(struct ledger *ledger, enum audit_kind kind, const char *principal,
                  const char *tool, const char *subject)
{
    struct change change = ledger_change(principal, tool);
    struct audit_event event = { kind, &change, "forbidden", "needs operator", subject };

    assert_ok(ledger, audit_log_count(ledger->store, &event, &ledger->error));
}

static void flush(struct ledger *ledger)
{
    assert_ok(ledger, audit_log_flush(ledger->store, &ledger->error));
}

/* Counts the rows of a principal (NULL: of all principals), including rows that were only queued
 * until now. If there are any and `newest` is not NULL, copies the newest row to *newest and sets
 * its heap pointers to NULL. */
static size_t rows_of(struct ledger *ledger, const char *principal, struct audit_row *newest)
{
    struct audit_filter filter = { .principal = principal };
    struct audit_row *rows;
    size_t found;

    assert_ok(ledger, audit_log_list(ledger->store, &filter, 20000, &rows, &found, &ledger->error));
    if (newest != NULL && found > 0) {
        *newest = rows[0];
        newest->arguments = newest->detail = newest->subject = newest->changed = NULL;
    }
    audit_log_rows_free(rows, found);
    return found;
}

static void a_flood_of_refusals_makes_ten_rows_and_one_that_counts_the_rest(void **state)
{
    struct ledger *ledger = *state;
    struct audit_row *rows;
    size_t found;

    for (int i = 0; i < FLOOD; i++)
        count(ledger, AUDIT_REFUSED, "eve", "sweep_start", "");
    assert_int_equal(rows_of(ledger, "eve", NULL), 10);
    flush(ledger);
    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ .principal = "eve" }, 1,
                                     &rows, &found, &ledger->error));
    assert_int_equal(rows[0].times, FLOOD - 10);
    assert_string_equal(rows[0].tool, "sweep_start");
    assert_string_equal(rows[0].outcome, "forbidden");
    assert_string_equal(rows[0].client, "test/1");
    assert_string_equal(rows[0].arguments, "{}");
    assert_ptr_equal(strstr(rows[0].detail, "4990 from "), rows[0].detail);
    assert_non_null(strstr(rows[0].detail, "the last: needs operator"));
    audit_log_rows_free(rows, found);
    flush(ledger);
    assert_int_equal(rows_of(ledger, "eve", NULL), 11);
}

static void counts_start_from_zero_after_each_flush(void **state)
{
    struct ledger *ledger = *state;

    for (int minute = 0; minute < 3; minute++) {
        for (int i = 0; i < 12; i++)
            count(ledger, AUDIT_REFUSED, "eve", "sweep_start", "");
        flush(ledger);
    }
    assert_int_equal(rows_of(ledger, "eve", NULL), 3 * 11);
}

static void counts_by_principal_tool_and_outcome(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("eve", "sweep_start");
    struct audit_event other = { AUDIT_REFUSED, &change, "invalid", "", "" };

    for (int i = 0; i < 10; i++) {
        count(ledger, AUDIT_REFUSED, "eve", "sweep_start", "");
        count(ledger, AUDIT_REFUSED, "eve", "run_import", "");
        count(ledger, AUDIT_REFUSED, "bob", "sweep_start", "");
        assert_ok(ledger, audit_log_count(ledger->store, &other, &ledger->error));
    }
    assert_int_equal(rows_of(ledger, NULL, NULL), 40);
}

/* Rows and memory are bounded, no matter how many names a caller makes up. */
static void tools_beyond_the_limit_share_one_row(void **state)
{
    struct ledger *ledger = *state;
    struct audit_row newest;
    char tool[40];

    for (int i = 0; i < FLOOD; i++) {
        snprintf(tool, sizeof tool, "tool_%d", i);
        count(ledger, AUDIT_READ, "eve", tool, "");
    }
    assert_int_equal(rows_of(ledger, "eve", NULL), 0);
    flush(ledger);
    assert_int_equal(rows_of(ledger, "eve", &newest), 65);
    assert_ok(ledger, audit_log_flush(ledger->store, &ledger->error));
    assert_int_equal(rows_of(ledger, "eve", NULL), 65);
}

static void principals_beyond_the_limit_share_one_row(void **state)
{
    struct ledger *ledger = *state;
    char name[40];

    for (int i = 0; i < FLOOD; i++) {
        snprintf(name, sizeof name, "user-%d", i);
        count(ledger, AUDIT_READ, name, "run_export", "run_1");
    }
    flush(ledger);
    assert_in_range(rows_of(ledger, NULL, NULL), 100, 140);
    assert_int_equal(rows_of(ledger, "(several)", NULL), 1);
}

static void calls_get_their_own_rows_up_to_32_kib_between_flushes(void **state)
{
    struct ledger *ledger = *state;
    char *arguments = calloc(1, 4000);
    struct change change = ledger_change("eve", "");
    char tool[40];

    memset(arguments, ' ', 3999);
    change.arguments = arguments;
    change.tool = tool;
    for (int i = 0; i < 60; i++) {
        struct audit_event event = { AUDIT_REFUSED, &change, "invalid", "", "" };

        snprintf(tool, sizeof tool, "tool_%d", i);
        assert_ok(ledger, audit_log_count(ledger->store, &event, &ledger->error));
    }
    assert_in_range(rows_of(ledger, "eve", NULL), 6, 8); /* about 7 rows fit in 32 KiB */
    flush(ledger);
    assert_int_equal(rows_of(ledger, "eve", NULL), 60);
    free(arguments);
}

static void a_secrets_first_use_gets_a_row_and_later_uses_share_one_row_per_hour(void **state)
{
    struct ledger *ledger = *state;

    for (int minute = 0; minute < 59; minute++) {
        count(ledger, AUDIT_SECRET, "alice", "secret", "LAB to http://10.0.0.7:8000");
        flush(ledger);
    }
    assert_int_equal(rows_of(ledger, "alice", NULL), 1);
    flush(ledger);
    assert_int_equal(rows_of(ledger, "alice", NULL), 2);
    count(ledger, AUDIT_SECRET, "alice", "secret", "LAB to http://10.0.0.7:8000");
    flush(ledger);
    assert_int_equal(rows_of(ledger, "alice", NULL), 3);
}

static void closing_the_store_writes_the_counts(void **state)
{
    struct ledger *ledger = *state;
    struct audit_verdict verdict;

    for (int i = 0; i < 100; i++)
        count(ledger, AUDIT_LOGIN, "(nobody)", "login", "10.0.0.9");
    ledger_reopen(ledger);
    assert_int_equal(rows_of(ledger, "(nobody)", NULL), 1);
    assert_ok(ledger, audit_verify(ledger->store, NULL, NULL, &verdict, &ledger->error));
    assert_true(verdict.intact);
}

static void counts_are_not_lost_when_the_disk_is_full(void **state)
{
    struct ledger *ledger = *state;
    struct rlimit before, small;
    struct audit_row newest;

    if (!test_database_is_files())
        skip(); /* a test can limit only the size of SQLite files */
    for (int i = 0; i < 100; i++)
        count(ledger, AUDIT_LOGIN, "(nobody)", "login", "10.0.0.9");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_refused(ledger, audit_log_flush(ledger->store, &ledger->error), ERROR_BUSY, "is full");
    count(ledger, AUDIT_LOGIN, "(nobody)", "login", "10.0.0.9");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    flush(ledger);
    assert_int_equal(rows_of(ledger, "(nobody)", &newest), 1);
    assert_int_equal(newest.times, 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_of_refusals_makes_ten_rows_and_one_that_counts_the_rest),
        cmocka_unit_test(counts_start_from_zero_after_each_flush),
        cmocka_unit_test(counts_by_principal_tool_and_outcome),
        cmocka_unit_test(tools_beyond_the_limit_share_one_row),
        cmocka_unit_test(principals_beyond_the_limit_share_one_row),
        cmocka_unit_test(calls_get_their_own_rows_up_to_32_kib_between_flushes),
        cmocka_unit_test(a_secrets_first_use_gets_a_row_and_later_uses_share_one_row_per_hour),
        cmocka_unit_test(closing_the_store_writes_the_counts),
        cmocka_unit_test(counts_are_not_lost_when_the_disk_is_full),
    };

    return ledger_run(tests);
}
