/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a statement by a table of its columns, each with the member that it is read into: one
 * list gives the statement its columns and the reader their order.
 *
 *     #define NOTE_COLUMNS(FIRST, COLUMN) \
 *         FIRST(struct note, TEXT, id, "n.id") \
 *         COLUMN(struct note, INTEGER, created_ms, "n.created_ms")
 *     static const struct sql_member note_members[] = { NOTE_COLUMNS(SQL_MEMBER, SQL_MEMBER) };
 *     ... "SELECT " NOTE_COLUMNS(SQL_FIRST_COLUMN, SQL_COLUMN) " FROM notes n" */
#pragma once

#include <stddef.h>

#include "store/engine/sql.h"

enum sql_member_type {
    SQL_MEMBER_INTEGER = 1, /* int64_t */
    SQL_MEMBER_REAL,        /* double */
    SQL_MEMBER_TEXT,        /* an array of characters, where a longer text is cut */
    SQL_MEMBER_HEAP_TEXT,   /* char *, freed by sql_row_finish */
};

struct sql_member {
    enum sql_member_type type;
    size_t offset, size;
};

/* A member of another C type than its column's does not compile. */
#define SQL_SIZE_INTEGER(member) _Generic(&(member), int64_t * : sizeof(member))
#define SQL_SIZE_REAL(member) _Generic(&(member), double * : sizeof(member))
#define SQL_SIZE_TEXT(member) _Generic(&(member), char(*)[sizeof(member)] : sizeof(member))
#define SQL_SIZE_HEAP_TEXT(member) _Generic(&(member), char ** : sizeof(member))

#define SQL_MEMBER(row, type, member, expression)                                                  \
    { SQL_MEMBER_##type, offsetof(row, member), SQL_SIZE_##type(((row *)NULL)->member) },
#define SQL_FIRST_COLUMN(row, type, member, expression) expression
#define SQL_COLUMN(row, type, member, expression) ", " expression

/* Fills the members of `row`, which is zeroed, from the columns of the current row in their order.
 */
void sql_row_read(const struct sql *sql, const struct sql_member *members, size_t count, void *row);
/* Frees what sql_row_read took from the heap. */
void sql_row_finish(const struct sql_member *members, size_t count, void *row);
