/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are written and read with the help of a table of their columns. Texts are stored as valid
 * UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "store/engine/sql_row.h"
#include "store/ledger/store_private.h"
#include "tests/unit/support/ledger.h"

enum color { RED, GREEN };

static bool read_color(const struct sql_column *column, void *member)
{
    char name[8];

    sql_text(column->sql, column->index, name, sizeof name);
    *(enum color *)member = strcmp(name, "green") == 0 ? GREEN : RED;
    return strcmp(name, "blue") != 0
           || error_set(column->error, ERROR_INTERNAL, "no note is %s", name);
}

static void bind_color(struct sql *sql, int position, const void *member)
{
    sql_bind_text(sql, position, *(const enum color *)member == GREEN ? "green" : "red");
}

static const struct sql_member_kind kind_color = { read_color, bind_color, NULL };
#define SQL_KIND_COLOR(member) SQL_KIND(kind_color, enum color *, member)

struct note {
    char *text, *comment;
    double weight;
    int64_t number, seen_ms;
    char name[8], nickname[8];
    uint8_t digest[DIGEST_BYTES];
    enum color color;
    int64_t doubled;
};

#define NOTE_STORED(FIRST, COLUMN, OF)                                                             \
    FIRST(struct note, INTEGER, number, OF "number")                                               \
    COLUMN(struct note, INTEGER_OR_NULL, seen_ms, OF "seen_ms")                                    \
    COLUMN(struct note, TEXT, name, OF "name")                                                     \
    COLUMN(struct note, TEXT_OR_NULL, nickname, OF "nickname")                                     \
    COLUMN(struct note, HEAP_TEXT, text, OF "text")                                                \
    COLUMN(struct note, HEAP_TEXT_OR_NULL, comment, OF "comment")                                  \
    COLUMN(struct note, REAL, weight, OF "weight")                                                 \
    COLUMN(struct note, DIGEST, digest, OF "digest")                                               \
    COLUMN(struct note, COLOR, color, OF "color")
#define NOTE_COLUMNS(FIRST, COLUMN, OF)                                                            \
    NOTE_STORED(FIRST, COLUMN, OF)                                                                 \
    COLUMN(struct note, INTEGER, doubled, "2 * n.number")

static const struct sql_columns stored = SQL_COLUMNS(struct note, NOTE_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct note, NOTE_COLUMNS);

#define SELECT_NOTES SQL_SELECT(NOTE_COLUMNS, "n.") "FROM notes n "

static CHECKED bool apply_table(struct sql_connection *connection, void *context,
                                struct error *error)
{
    (void)context;
    return sql_connection_run(connection, "DROP TABLE IF EXISTS notes", error)
           && sql_connection_run(connection,
                                 "CREATE TABLE notes (number BIGINT, seen_ms BIGINT, name TEXT, "
                                 "nickname TEXT, text TEXT, comment TEXT, "
                                 "weight DOUBLE PRECISION, digest BYTEA, color TEXT)",
                                 error);
}

static CHECKED bool apply_insert(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, SQL_INSERT("notes", NOTE_STORED));

    sql_row_bind(&sql, &stored, context);
    return sql_run(&sql, error);
}

static void create_table(struct ledger *ledger)
{
    assert_true(database_write(ledger->store->main, apply_table, NULL, &ledger->error));
}

static void insert(struct ledger *ledger, struct note note)
{
    assert_true(database_write(ledger->store->main, apply_insert, &note, &ledger->error));
}

static bool find(struct ledger *ledger, const char *statement, struct note *out, bool *found)
{
    READER_AUTO reader = database_reader(ledger->store->main);
    SQL_AUTO sql = sql_begin(reader.connection, statement);

    return sql_row_find(&sql, &columns, out, found, &ledger->error);
}

/* Reads the only note. */
static struct note only(struct ledger *ledger)
{
    struct note note;
    bool found;

    memset(&note, 'x', sizeof note);
    assert_true(find(ledger, SELECT_NOTES, &note, &found));
    assert_true(found);
    return note;
}

static void reads_each_member_as_it_was_written(void **state)
{
    char text[] = "a longer text", comment[] = "";
    struct note note = {
        .text = text,
        .comment = comment,
        .weight = 0.5,
        .number = INT64_MIN / 2,
        .seen_ms = 7,
        .name = "anne",
        .nickname = "an",
        .digest = { 1, 2, 3 },
        .color = GREEN,
    };

    create_table(*state);
    insert(*state, note);
    note = only(*state);
    assert_string_equal(note.text, "a longer text");
    assert_string_equal(note.comment, "");
    assert_true(note.weight == 0.5);
    assert_true(note.number == INT64_MIN / 2);
    assert_int_equal(note.seen_ms, 7);
    assert_string_equal(note.name, "anne");
    assert_string_equal(note.nickname, "an");
    assert_memory_equal(note.digest, ((uint8_t[DIGEST_BYTES]){ 1, 2, 3 }), DIGEST_BYTES);
    assert_int_equal(note.color, GREEN);
    assert_true(note.doubled == INT64_MIN);
    sql_row_finish(&columns, &note);
    sql_row_finish(&columns, &note);
}

static void writes_null_for_null_pointers_nan_and_empty_members_of_nullable_kinds(void **state)
{
    static const char NULLS[] = SELECT_NOTES
        "WHERE seen_ms IS NULL AND nickname IS NULL AND comment IS NULL AND text IS NULL "
        "AND weight IS NULL AND name = '' AND number = 0";
    struct note note;
    bool found = false;

    create_table(*state);
    insert(*state, (struct note){ .weight = NAN });
    assert_true(find(*state, NULLS, &note, &found));
    assert_true(found);
    assert_string_equal(note.text, "");
    assert_null(note.comment);
    assert_string_equal(note.nickname, "");
    assert_true(note.weight == 0);
    sql_row_finish(&columns, &note);
}

#define SELECT_ODD                                                                                 \
    "SELECT 1, 2, 'a longer text', '', 'text', NULL, 0.5, 'not 32 bytes', 'red', 2 FROM notes"

static void truncates_long_texts_and_zeroes_a_digest_of_the_wrong_length(void **state)
{
    struct note note;
    bool found;

    create_table(*state);
    insert(*state, (struct note){ .number = 1 });
    assert_true(find(*state, SELECT_ODD, &note, &found));
    assert_string_equal(note.name, "a longe");
    assert_memory_equal(note.digest, ((uint8_t[DIGEST_BYTES]){ 0 }), DIGEST_BYTES);
    sql_row_finish(&columns, &note);
}

static void leaves_the_struct_alone_if_no_row_is_found(void **state)
{
    struct note note = { .number = 5 };
    bool found = true;

    create_table(*state);
    assert_true(find(*state, SELECT_NOTES, &note, &found));
    assert_false(found);
    assert_int_equal(note.number, 5);
}

static bool list(struct ledger *ledger, void **rows, size_t *count)
{
    READER_AUTO reader = database_reader(ledger->store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_NOTES "ORDER BY number");

    return sql_rows_read(&sql, &columns, rows, count, &ledger->error);
}

static void lists_all_rows(void **state)
{
    char text[] = "text";
    const struct note *notes;
    void *rows;
    size_t count;

    create_table(*state);
    assert_true(list(*state, &rows, &count));
    assert_int_equal(count, 0);
    assert_null(rows);
    for (int64_t i = 0; i < 5; i++)
        insert(*state, (struct note){ .number = 4 - i, .text = text });
    assert_true(list(*state, &rows, &count));
    assert_int_equal(count, 5);
    notes = rows;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(notes[i].number, i);
    sql_rows_free(&columns, rows, count);
}

/* The texts read before the invalid value must be freed; otherwise, a sanitizer reports a leak. */
static void refuses_an_invalid_value(void **state)
{
    static const char BLUE[] =
        "SELECT 1, 2, '', '', 'text', 'comment', 0.5, '', 'blue', 2 FROM notes";
    struct ledger *ledger = *state;
    struct note note;
    bool found;

    create_table(ledger);
    insert(ledger, (struct note){ .number = 1 });
    assert_false(find(ledger, BLUE, &note, &found));
    assert_string_equal(ledger->error.message, "no note is blue");
}

/* If NUL and invalid UTF-8 were not replaced, SQLite would accept all of these texts, and
 * PostgreSQL only the last one. */
static const struct untrusted_text {
    const char *given;
    size_t length;
    const char *stored;
} untrusted_texts[] = {
    { "a\0b", 3,
      "a\xef\xbf\xbd"
      "b" },
    { "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
    { "gr\xfc\xdf"
      "e",
      5,
      "gr\xef\xbf\xbd\xef\xbf\xbd"
      "e" },
    { "\xc3", 1, "\xef\xbf\xbd" },
    { "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "gr\xc3\xbc\xc3\x9f"
      "e \xf0\x9f\x98\x80\n",
      13,
      "gr\xc3\xbc\xc3\x9f"
      "e \xf0\x9f\x98\x80\n" },
};

static CHECKED bool apply_untrusted(struct sql_connection *connection, void *context,
                                    struct error *error)
{
    const struct untrusted_text *untrusted = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE notes SET text = ?1, comment = ?2");

    sql_bind_bytes(&sql, 1, untrusted->given, untrusted->length);
    sql_bind_text(&sql, 2, untrusted->given);
    return sql_run(&sql, error);
}

static void replaces_only_nul_and_invalid_utf8_in_a_text(void **state)
{
    struct ledger *ledger = *state;
    struct note note;
    bool found;

    create_table(ledger);
    insert(ledger, (struct note){ .number = 1 });
    for (size_t i = 0; i < sizeof untrusted_texts / sizeof *untrusted_texts; i++) {
        struct untrusted_text untrusted = untrusted_texts[i];

        assert_ok(ledger,
                  database_write(ledger->store->main, apply_untrusted, &untrusted, &ledger->error));
        assert_ok(ledger, find(ledger, SELECT_NOTES, &note, &found));
        assert_string_equal(note.text, untrusted.stored);
        if (strlen(untrusted.given) == untrusted.length)
            assert_string_equal(note.comment, untrusted.stored);
        sql_row_finish(&columns, &note);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_member_as_it_was_written),
        cmocka_unit_test(writes_null_for_null_pointers_nan_and_empty_members_of_nullable_kinds),
        cmocka_unit_test(truncates_long_texts_and_zeroes_a_digest_of_the_wrong_length),
        cmocka_unit_test(leaves_the_struct_alone_if_no_row_is_found),
        cmocka_unit_test(lists_all_rows),
        cmocka_unit_test(refuses_an_invalid_value),
        cmocka_unit_test(replaces_only_nul_and_invalid_utf8_in_a_text),
    };

    return ledger_run(tests);
}
