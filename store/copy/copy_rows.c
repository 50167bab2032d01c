/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy/copy_rows.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "store/series/varint.h"

#define NULL_TYPE 0

/* ---- Writing ---- */

/* Writes -0 as 0, because only PostgreSQL keeps the sign. */
static void add_real(struct text *out, double real)
{
    uint64_t bits;

    real = real == 0 ? 0 : real;
    memcpy(&bits, &real, sizeof bits);
    bits = htobe64(bits);
    text_add_bytes(out, (const char *)&bits, sizeof bits);
}

static void add_bytes(struct text *out, const void *bytes, size_t length)
{
    varint_add(out, length);
    if (length > 0)
        text_add_bytes(out, bytes, length);
}

static void add_column(const struct sql *sql, int column, enum sql_type type, struct text *out)
{
    const void *bytes;
    size_t length;

    if (sql_is_null(sql, column)) {
        text_add_char(out, NULL_TYPE);
        return;
    }
    text_add_char(out, (char)type);
    switch (type) {
    case SQL_INTEGER:
        varint_add(out, zigzag(sql_integer(sql, column)));
        return;
    case SQL_REAL:
        add_real(out, sql_real(sql, column));
        return;
    case SQL_TEXT:
    case SQL_BLOB:
        bytes = sql_blob(sql, column, &length);
        add_bytes(out, bytes, length);
    }
}

void copy_rows_add(const struct sql *sql, const struct sql_table *table, struct text *out)
{
    for (size_t i = 0; i < table->column_count; i++)
        add_column(sql, (int)i, table->columns[i].type, out);
}

/* ---- Reading ---- */

static bool read_real(const uint8_t **at, const uint8_t *end, double *out)
{
    uint64_t bits;

    if ((size_t)(end - *at) < sizeof bits)
        return false;
    memcpy(&bits, *at, sizeof bits);
    bits = be64toh(bits);
    memcpy(out, &bits, sizeof bits);
    *at += sizeof bits;
    return !isnan(*out);
}

static bool read_bytes(const uint8_t **at, const uint8_t *end, struct sql_value *out)
{
    uint64_t length;

    if (!varint_get(at, end, &length) || length > (uint64_t)(end - *at))
        return false;
    out->bytes = *at;
    out->length = (size_t)length;
    *at += length;
    return true;
}

static bool read_value(enum sql_type type, const uint8_t **at, const uint8_t *end,
                       struct sql_value *out)
{
    uint64_t bits;
    uint8_t mark;

    *out = (struct sql_value){ .type = NULL_TYPE };
    if (*at == end)
        return false;
    mark = *(*at)++;
    if (mark == NULL_TYPE)
        return true;
    out->type = type;
    if (mark != (uint8_t)type)
        return false;
    if (type == SQL_REAL)
        return read_real(at, end, &out->real);
    if (type != SQL_INTEGER)
        return read_bytes(at, end, out);
    if (!varint_get(at, end, &bits))
        return false;
    out->integer = zigzag_back(bits);
    return true;
}

bool copy_rows_read(const struct sql_table *table, const uint8_t **at, const uint8_t *end,
                    struct sql_value values[COPY_COLUMNS_MAX], struct error *error)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (!read_value(table->columns[i].type, at, end, &values[i]))
            return error_set(error, ERROR_INVALID, "column %s of a row of table %s is not valid",
                             table->columns[i].name, table->name);
    return true;
}

/* Binds nothing if the value is NULL: a parameter that is not bound is NULL. */
void copy_rows_bind(struct sql *sql, int position, const struct sql_value *value)
{
    if ((int)value->type == NULL_TYPE)
        return;
    switch (value->type) {
    case SQL_INTEGER:
        sql_bind_integer(sql, position, value->integer);
        return;
    case SQL_REAL:
        sql_bind_real(sql, position, value->real);
        return;
    case SQL_TEXT:
        sql_bind_verbatim(sql, position, value->bytes, value->length);
        return;
    case SQL_BLOB:
        sql_bind_blob(sql, position, value->bytes, value->length);
    }
}

/* ---- Tallies ---- */

void copy_tally_add(struct copy_tally *tally, const void *row, size_t length)
{
    TEXT_AUTO both = { 0 };

    text_reserve(&both, DIGEST_BYTES + length);
    text_add_bytes(&both, (const char *)tally->digest, DIGEST_BYTES);
    text_add_bytes(&both, row, length);
    digest_sha256(both.data, both.length, tally->digest);
    tally->rows++;
}

bool copy_tally_equal(const struct copy_tally *a, const struct copy_tally *b)
{
    return a->rows == b->rows && memcmp(a->digest, b->digest, DIGEST_BYTES) == 0;
}
