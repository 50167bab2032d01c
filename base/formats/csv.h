/* SPDX-License-Identifier: Apache-2.0 */
/* Reads CSV (RFC 4180, also with ';', tabs or '|' between fields) one row at a time, without
 * allocating memory. Lines can end with CRLF or LF, or with CR if the file has no LF. Empty lines,
 * and a byte order mark at the start, are skipped. Quoted fields can contain separators, doubled
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
    size_t count;                            /* how many fields the latest row has */
    int64_t line;                            /* on which the latest row begins, counted from 1 */

    /* Private to csv.c: */
    const char *at, *end;
    int64_t next_line;
    char separator;
    bool lone_returns; /* lines end in "\r" alone, as on old Macs: the file has no "\n" */
};

/* Begins to read the bytes, which are borrowed: the fields point into them. The separator is
 * whichever of ',', ';', tab and '|' is the most frequent in the first line. */
void csv_init(struct csv *csv, const char *bytes, size_t length);
/* Reads the next row; *more is false after the last one. INVALID if a quoted field has no closing
 * quote or is followed by other text, if the row has more than CSV_FIELDS_MAX fields, or if a field
 * is not UTF-8. */
CHECKED bool csv_next(struct csv *csv, bool *more, struct error *error);
/* Copies the field and adds a NUL; each "" of a quoted field becomes one quote. Truncates the copy
 * to fit `size`, never within a UTF-8 sequence. Returns `out`. */
const char *csv_copy(const struct csv_field *field, char *out, size_t size);
