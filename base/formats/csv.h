/* SPDX-License-Identifier: Apache-2.0 */
/* A pull reader of CSV (RFC 4180, also with ';', tabs or '|' between fields): one row at a time,
 * without allocation. Lines may end in CRLF or LF, or in CR if the file has no LF. A byte order
 * mark at the start and empty lines are skipped. Quoted fields may contain separators, doubled
 * quotes and line breaks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

#define CSV_FIELDS_MAX 512

struct csv_field {
    const char *text; /* for a quoted field, the text between the quotes */
    size_t length;
    bool has_doubled_quotes; /* it contains "", which stands for one quote */
};

struct csv {
    struct csv_field fields[CSV_FIELDS_MAX]; /* of the latest row */
    size_t count;
    int64_t line; /* where the latest row begins, from 1 */

    /* Private to csv.c: */
    const char *at, *end;
    int64_t next_line;
    char separator;
    bool lone_returns; /* lines end in "\r" alone, as on old Macs: the file has no "\n" */
};

/* Begins to read the bytes, which are borrowed: the fields point into them. The separator is the
 * most frequent of comma, semicolon, tab and bar in the first line. */
void csv_init(struct csv *csv, const char *bytes, size_t length);
/* Reads the next row; *more is false after the last one. INVALID for a quoted field that does not
 * end or is followed by text, more than CSV_FIELDS_MAX fields, or invalid UTF-8. */
CHECKED bool csv_next(struct csv *csv, bool *more, struct error *error);
/* Copies the field with a NUL; doubled quotes become one. Truncates it to fit `size`, never within
 * a UTF-8 sequence. Returns `out`. */
const char *csv_copy(const struct csv_field *field, char *out, size_t size);
