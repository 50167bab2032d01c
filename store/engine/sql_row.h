/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows into structs and binds them from structs. A list macro, such as NOTE_STORED below,
 * names each column and the struct member that belongs to it. The statement and its struct
 * sql_columns are both made from this list. OF is the prefix of the table's columns in the
 * statement, such as "n.".
 *
 *     #define NOTE_STORED(FIRST, COLUMN, OF) \
 *         FIRST(struct note, TEXT, id, OF "id") \
 *         COLUMN(struct note, INTEGER, created_ms, OF "created_ms")
 *     #define NOTE_COLUMNS(FIRST, COLUMN, OF) \
 *         NOTE_STORED(FIRST, COLUMN, OF) \
 *         COLUMN(struct note, TEXT, author, "p.name")
 *     static const struct sql_columns stored = SQL_COLUMNS(struct note, NOTE_STORED);
 *     static const struct sql_columns columns = SQL_COLUMNS(struct note, NOTE_COLUMNS);
 *
 *     SQL_SELECT(NOTE_COLUMNS, "n.") "FROM notes n JOIN ..."; read with `columns`
 *     SQL_INSERT("notes", NOTE_STORED); bind with `stored` */
#pragma once

#include <stddef.h>

#include "base/core/digest.h"
#include "store/engine/sql.h"

/* A column of the current row, and what is needed to read it into a member of a struct. */
struct sql_column {
    const struct sql *sql;
    int index;
    size_t size; /* of the member, in bytes */
    struct error *error;
};

struct sql_member_kind {
    /* Returns false if the stored value is not valid. NULL: the member is only bound. */
    bool (*read)(const struct sql_column *column, void *member);
    /* NULL: the member is only read. */
    void (*bind)(struct sql *sql, int position, const void *member);
    void (*finish)(void *member); /* NULL: the member has nothing on the heap */
};

struct sql_member {
    size_t offset, size;
    const struct sql_member_kind *kind;
};

struct sql_columns {
    const struct sql_member *members;
    size_t count; /* of members */
    size_t size;  /* of the struct, in bytes */
};

extern const struct sql_member_kind sql_kind_integer, sql_kind_integer_or_null, sql_kind_real,
    sql_kind_text, sql_kind_text_or_null, sql_kind_heap_text, sql_kind_heap_text_or_null,
    sql_kind_borrowed_text, sql_kind_digest;

/* Does not compile if the C type of `member` is not the one that `pointer` points to. A file can
 * define further kinds for its own use. */
#define SQL_KIND(kind, pointer, member) _Generic(&(member), pointer : sizeof(member)), &(kind)
#define SQL_KIND_INTEGER(member) SQL_KIND(sql_kind_integer, int64_t *, member)
#define SQL_KIND_INTEGER_OR_NULL(member) SQL_KIND(sql_kind_integer_or_null, int64_t *, member)
#define SQL_KIND_REAL(member) SQL_KIND(sql_kind_real, double *, member)
/* The member is an array of characters; a longer text is truncated. */
#define SQL_KIND_TEXT(member) SQL_KIND(sql_kind_text, char(*)[sizeof(member)], member)
#define SQL_KIND_TEXT_OR_NULL(member)                                                              \
    SQL_KIND(sql_kind_text_or_null, char(*)[sizeof(member)], member)
/* The member is freed by sql_row_finish. NULL is read as "" or, with OR_NULL, as NULL. */
#define SQL_KIND_HEAP_TEXT(member) SQL_KIND(sql_kind_heap_text, char **, member)
#define SQL_KIND_HEAP_TEXT_OR_NULL(member) SQL_KIND(sql_kind_heap_text_or_null, char **, member)
/* The member is only bound. */
#define SQL_KIND_BORROWED_TEXT(member) SQL_KIND(sql_kind_borrowed_text, const char **, member)
/* A blob whose length is not DIGEST_BYTES is read as zeros. */
#define SQL_KIND_DIGEST(member) SQL_KIND(sql_kind_digest, uint8_t(*)[DIGEST_BYTES], member)

#define SQL_MEMBER(row, kind, member, expression)                                                  \
    { offsetof(row, member), SQL_KIND_##kind(((row *)NULL)->member) },
#define SQL_MEMBERS(LIST)                                                                          \
    (const struct sql_member[])                                                                    \
    {                                                                                              \
        LIST(SQL_MEMBER, SQL_MEMBER, "")                                                           \
    }
#define SQL_COLUMNS(row, LIST)                                                                     \
    {                                                                                              \
        SQL_MEMBERS(LIST), sizeof SQL_MEMBERS(LIST) / sizeof(struct sql_member), sizeof(row)       \
    }

#define SQL_FIRST_NAME(row, kind, member, expression) expression
#define SQL_NAME(row, kind, member, expression) ", " expression
#define SQL_FIRST_PARAMETER(row, kind, member, expression) "?"
#define SQL_PARAMETER(row, kind, member, expression) ", ?"

#define SQL_SELECT(LIST, of) "SELECT " LIST(SQL_FIRST_NAME, SQL_NAME, of) " "
#define SQL_INSERT(table, LIST) SQL_INSERT_WITH(table, LIST, "", "")
/* `names` and `values`: the names and values of further columns. Both begin with a comma unless
 * they are empty. */
#define SQL_INSERT_WITH(table, LIST, names, values)                                                \
    "INSERT INTO " table " (" LIST(SQL_FIRST_NAME, SQL_NAME, "") names                             \
        ") VALUES (" LIST(SQL_FIRST_PARAMETER, SQL_PARAMETER, "") values ") "

/* Reads the current row, from its first column on. After false there is nothing to free. */
CHECKED bool sql_row_read(const struct sql *sql, const struct sql_columns *columns, void *row,
                          struct error *error);
/* Binds the parameters from the first one on; the row must live until the end of the run. A NULL
 * pointer binds NULL, as does 0 in an INTEGER_OR_NULL member or "" in a TEXT_OR_NULL member. */
void sql_row_bind(struct sql *sql, const struct sql_columns *columns, const void *row);
void sql_row_finish(const struct sql_columns *columns, void *row); /* may be called again */

/* Steps a statement that returns at most one row, and reads the row. If there is none, `row` is
 * left unchanged. */
CHECKED bool sql_row_find(struct sql *sql, const struct sql_columns *columns, void *row,
                          bool *found, struct error *error);
/* Reads all rows; free them with sql_rows_free. After false there is nothing to free. */
CHECKED bool sql_rows_read(struct sql *sql, const struct sql_columns *columns, void **rows,
                           size_t *count, struct error *error);
void sql_rows_free(const struct sql_columns *columns, void *rows, size_t count);
