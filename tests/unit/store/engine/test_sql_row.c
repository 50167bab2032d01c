/* SPDX-License-Identifier: Apache-2.0 */
/* A row is read by a table of its columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "store/engine/sql_row.h"
#include "store/ledger/store_private.h"
#include "tests/unit/support/ledger.h"

struct note {
    char *text;
    double weight;
    int64_t number;
    char name[8];
};

#define NOTE_COLUMNS(FIRST, COLUMN)                                                                \
    FIRST(struct note, INTEGER, number, "?1")                                                      \
    COLUMN(struct note, TEXT, name, "?2")                                                          \
    COLUMN(struct note, HEAP_TEXT, text, "?2")                                                     \
    COLUMN(struct note, REAL, weight, "?3")

static const struct sql_member members[] = { NOTE_COLUMNS(SQL_MEMBER, SQL_MEMBER) };
#define MEMBERS (sizeof members / sizeof *members)

static void read_note(struct ledger *ledger, const char *text, struct note *note)
{
    bool found;
    READER_AUTO reader = database_reader(ledger->store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, "SELECT " NOTE_COLUMNS(SQL_FIRST_COLUMN, SQL_COLUMN));

    sql_bind_integer(&sql, 1, INT64_MAX);
    sql_bind_text(&sql, 2, text);
    sql_bind_real(&sql, 3, 0.5);
    assert_true(sql_find(&sql, &found, &ledger->error));
    assert_true(found);
    sql_row_read(&sql, members, MEMBERS, note);
}

static void reads_each_column_into_its_member(void **state)
{
    struct note note = { 0 };

    read_note(*state, "a longer text", &note);
    assert_int_equal(note.number, INT64_MAX);
    assert_string_equal(note.name, "a longe");
    assert_string_equal(note.text, "a longer text");
    assert_true(note.weight == 0.5);
    sql_row_finish(members, MEMBERS, &note);
}

static void reads_what_is_null_as_empty(void **state)
{
    struct note note = { 0 };

    read_note(*state, NULL, &note);
    assert_string_equal(note.name, "");
    assert_string_equal(note.text, "");
    sql_row_finish(members, MEMBERS, &note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_column_into_its_member),
        cmocka_unit_test(reads_what_is_null_as_empty),
    };

    return ledger_run(tests);
}
