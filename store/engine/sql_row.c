/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/sql_row.h"

#include <stdlib.h>
#include <string.h>

/* ---- Kinds of members ---- */

static bool read_integer(const struct sql_column *column, void *member)
{
    *(int64_t *)member = sql_integer(column->sql, column->index);
    return true;
}

static void bind_integer(struct sql *sql, int position, const void *member)
{
    sql_bind_integer(sql, position, *(const int64_t *)member);
}

static void bind_integer_or_null(struct sql *sql, int position, const void *member)
{
    if (*(const int64_t *)member != 0)
        bind_integer(sql, position, member);
}

static bool read_real(const struct sql_column *column, void *member)
{
    *(double *)member = sql_real(column->sql, column->index);
    return true;
}

static void bind_real(struct sql *sql, int position, const void *member)
{
    sql_bind_real(sql, position, *(const double *)member);
}

static bool read_text(const struct sql_column *column, void *member)
{
    sql_text(column->sql, column->index, member, column->size);
    return true;
}

static void bind_text(struct sql *sql, int position, const void *member)
{
    sql_bind_text(sql, position, member);
}

static void bind_text_or_null(struct sql *sql, int position, const void *member)
{
    if (*(const char *)member != '\0')
        bind_text(sql, position, member);
}

static bool read_heap_text(const struct sql_column *column, void *member)
{
    *(char **)member = sql_text_copy(column->sql, column->index);
    return true;
}

static bool read_heap_text_or_null(const struct sql_column *column, void *member)
{
    return sql_is_null(column->sql, column->index) || read_heap_text(column, member);
}

static void bind_heap_text(struct sql *sql, int position, const void *member)
{
    sql_bind_text(sql, position, *(char *const *)member);
}

static void finish_heap_text(void *member)
{
    free(*(char **)member);
    *(char **)member = NULL;
}

static bool read_digest(const struct sql_column *column, void *member)
{
    size_t length;
    const void *bytes = sql_blob(column->sql, column->index, &length);

    if (length == DIGEST_BYTES)
        memcpy(member, bytes, DIGEST_BYTES);
    return true;
}

static void bind_digest(struct sql *sql, int position, const void *member)
{
    sql_bind_blob(sql, position, member, DIGEST_BYTES);
}

const struct sql_member_kind sql_kind_integer = { read_integer, bind_integer, NULL };
const struct sql_member_kind sql_kind_integer_or_null = { read_integer, bind_integer_or_null,
                                                          NULL };
const struct sql_member_kind sql_kind_real = { read_real, bind_real, NULL };
const struct sql_member_kind sql_kind_text = { read_text, bind_text, NULL };
const struct sql_member_kind sql_kind_text_or_null = { read_text, bind_text_or_null, NULL };
const struct sql_member_kind sql_kind_heap_text = { read_heap_text, bind_heap_text,
                                                    finish_heap_text };
const struct sql_member_kind sql_kind_heap_text_or_null = { read_heap_text_or_null, bind_heap_text,
                                                            finish_heap_text };
const struct sql_member_kind sql_kind_borrowed_text = { NULL, bind_heap_text, NULL };
const struct sql_member_kind sql_kind_digest = { read_digest, bind_digest, NULL };

/* ---- Rows ---- */

bool sql_row_read(const struct sql *sql, const struct sql_columns *columns, void *row,
                  struct error *error)
{
    memset(row, 0, columns->size);
    for (size_t i = 0; i < columns->count; i++) {
        const struct sql_member *member = &columns->members[i];
        struct sql_column column = { sql, (int)i, member->size, error };

        if (!member->kind->read(&column, (char *)row + member->offset)) {
            sql_row_finish(columns, row);
            return false;
        }
    }
    return true;
}

void sql_row_bind(struct sql *sql, const struct sql_columns *columns, const void *row)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct sql_member *member = &columns->members[i];

        member->kind->bind(sql, (int)i + 1, (const char *)row + member->offset);
    }
}

void sql_row_finish(const struct sql_columns *columns, void *row)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct sql_member *member = &columns->members[i];

        if (member->kind->finish != NULL)
            member->kind->finish((char *)row + member->offset);
    }
}

bool sql_row_find(struct sql *sql, const struct sql_columns *columns, void *row, bool *found,
                  struct error *error)
{
    if (!sql_find(sql, found, error))
        return false;
    return !*found || sql_row_read(sql, columns, row, error);
}

bool sql_rows_read(struct sql *sql, const struct sql_columns *columns, void **rows, size_t *count,
                   struct error *error)
{
    char *list = NULL;
    size_t length = 0;
    enum sql_step step;

    while ((step = sql_step(sql, error)) == SQL_ROW) {
        list = sql_rows_grow(list, length, columns->size);
        if (!sql_row_read(sql, columns, list + length * columns->size, error))
            break;
        length++;
    }
    if (step != SQL_DONE) {
        sql_rows_free(columns, list, length);
        return false;
    }
    *rows = list;
    *count = length;
    return true;
}

void sql_rows_free(const struct sql_columns *columns, void *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sql_row_finish(columns, (char *)rows + i * columns->size);
    free(rows);
}
