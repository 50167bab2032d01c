/* SPDX-License-Identifier: Apache-2.0 */
/* Values in PostgreSQL's binary format, which is defined by the send and receive functions of each
 * type (src/backend/utils/adt in PostgreSQL's source code). */
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/postgres_private.h"

/* The types' ids in the system catalog pg_type, which never change. */
enum {
    TYPE_BOOL = 16,
    TYPE_BYTEA = 17,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
    TYPE_FLOAT4 = 700,
    TYPE_FLOAT8 = 701,
    TYPE_NUMERIC = 1700,
};

#define NUMERIC_BASE 10000
#define NUMERIC_NEGATIVE 0x4000

/* ---- Parameters ---- */

Oid postgres_type_of(enum sql_type type)
{
    static const Oid types[] = {
        [SQL_INTEGER] = TYPE_INT8,
        [SQL_REAL] = TYPE_FLOAT8,
        [SQL_TEXT] = TYPE_TEXT,
        [SQL_BLOB] = TYPE_BYTEA,
    };

    return types[type];
}

void postgres_encode(struct postgres_parameter *parameter, const char **value, int *length)
{
    const struct sql_value *bound = &parameter->value;
    uint64_t bits = (uint64_t)bound->integer;

    *value = NULL;
    *length = 0;
    if (!parameter->has_value || (bound->type == SQL_REAL && isnan(bound->real)))
        return;
    if (bound->type == SQL_TEXT || bound->type == SQL_BLOB) {
        *value = bound->bytes;
        *length = (int)bound->length;
        return;
    }
    if (bound->type == SQL_REAL)
        memcpy(&bits, &bound->real, sizeof bits);
    bits = htobe64(bits);
    memcpy(parameter->bytes, &bits, sizeof bits);
    *value = parameter->bytes;
    *length = sizeof bits;
}

/* ---- Columns ---- */

static uint64_t read_bits(const char *bytes, size_t length)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < length; i++)
        bits = bits << 8 | (uint8_t)bytes[i];
    return bits;
}

static uint16_t read_uint16(const char *bytes)
{
    return (uint16_t)read_bits(bytes, sizeof(uint16_t));
}

/* Reads a NUMERIC, which sum() and avg() return for a BIGINT. It is a series of digits in base
 * 10,000; the first digit is to be multiplied by NUMERIC_BASE to the power of `weight`. */
static double read_numeric(const char *bytes)
{
    uint16_t digit_count = read_uint16(bytes);
    int16_t weight = (int16_t)read_uint16(bytes + 2);
    double sum = 0;

    for (uint16_t i = 0; i < digit_count; i++)
        sum = sum * NUMERIC_BASE + read_uint16(bytes + 8 + 2 * i);
    sum *= pow(NUMERIC_BASE, weight - digit_count + 1);
    return read_uint16(bytes + 4) == NUMERIC_NEGATIVE ? -sum : sum;
}

bool postgres_is_null(struct sql_statement *statement, int column)
{
    return PQgetisnull(statement->result, statement->row, column) != 0;
}

static const char *bytes_of(const struct sql_statement *statement, int column)
{
    return PQgetvalue(statement->result, statement->row, column);
}

static double read_float(const char *bytes, Oid type)
{
    uint64_t bits = read_bits(bytes, type == TYPE_FLOAT8 ? 8 : 4);
    uint32_t small_bits = (uint32_t)bits;
    double real;
    float small;

    if (type == TYPE_FLOAT8) {
        memcpy(&real, &bits, sizeof real);
        return real;
    }
    memcpy(&small, &small_bits, sizeof small);
    return (double)small;
}

double postgres_real(struct sql_statement *statement, int column)
{
    Oid type = PQftype(statement->result, column);

    if (postgres_is_null(statement, column))
        return 0;
    if (type == TYPE_FLOAT8 || type == TYPE_FLOAT4)
        return read_float(bytes_of(statement, column), type);
    if (type == TYPE_NUMERIC)
        return read_numeric(bytes_of(statement, column));
    if (type == TYPE_TEXT)
        return strtod(bytes_of(statement, column), NULL);
    return (double)postgres_integer(statement, column);
}

int64_t postgres_integer(struct sql_statement *statement, int column)
{
    const char *bytes = bytes_of(statement, column);

    if (postgres_is_null(statement, column))
        return 0;
    switch (PQftype(statement->result, column)) {
    case TYPE_BOOL:
        return bytes[0];
    case TYPE_INT2:
        return (int16_t)read_uint16(bytes);
    case TYPE_INT4:
        return (int32_t)read_bits(bytes, sizeof(int32_t));
    case TYPE_INT8:
        return (int64_t)read_bits(bytes, sizeof(int64_t));
    case TYPE_TEXT:
        return strtoll(bytes, NULL, 10);
    default:
        return (int64_t)postgres_real(statement, column);
    }
}

/* Returns the number as text: a float with at most 15 significant digits, anything else as an
 * integer. */
static const char *show_number(struct sql_statement *statement, int column)
{
    Oid type = PQftype(statement->result, column);
    char *out;

    if (statement->shown == NULL)
        statement->shown =
            memory_zeroed((size_t)PQnfields(statement->result), sizeof *statement->shown);
    out = statement->shown[column];
    if (type == TYPE_FLOAT8 || type == TYPE_FLOAT4)
        snprintf(out, sizeof *statement->shown, "%.15g", postgres_real(statement, column));
    else
        snprintf(out, sizeof *statement->shown, "%lld",
                 (long long)postgres_integer(statement, column));
    return out;
}

static bool is_number(Oid type)
{
    return type == TYPE_BOOL || type == TYPE_INT2 || type == TYPE_INT4 || type == TYPE_INT8
           || type == TYPE_FLOAT4 || type == TYPE_FLOAT8 || type == TYPE_NUMERIC;
}

const char *postgres_text(struct sql_statement *statement, int column)
{
    if (postgres_is_null(statement, column))
        return NULL;
    if (is_number(PQftype(statement->result, column)))
        return show_number(statement, column);
    return bytes_of(statement, column); /* libpq terminates it with a NUL */
}

const void *postgres_blob(struct sql_statement *statement, int column, size_t *length)
{
    *length = 0;
    if (postgres_is_null(statement, column))
        return NULL;
    *length = (size_t)PQgetlength(statement->result, statement->row, column);
    return bytes_of(statement, column);
}
