/* SPDX-License-Identifier: Apache-2.0 */
/* What the columns of other tools' tables mean, by their headings: units are in the names. Private
 * to analysis/import_*.c. */
#pragma once

#include "analysis/import/import.h"

enum import_column_kind {
    IMPORT_COLUMN_UNKNOWN,     /* kept as text */
    IMPORT_COLUMN_NUMBER,      /* a double of struct evidence_cell */
    IMPORT_COLUMN_TEXT,        /* a text of it */
    IMPORT_COLUMN_FACT,        /* a text of struct evidence_facts, where all rows agree */
    IMPORT_COLUMN_FACT_NUMBER, /* the same, a number */
    IMPORT_COLUMN_ERROR,       /* what went wrong */
};

struct import_column {
    enum import_column_kind kind;
    size_t offset, size;
    double scale;
    enum length_unit unit; /* of an input length */
    const char *assumed;   /* what its name does not say, and how it is read; NULL: it says all */
    bool is_complement;    /* a share of failures where successes are kept */
    bool is_throughput;    /* a throughput of something: only its figures can tell of requests */
    bool lacks_unit;       /* a latency, in seconds or milliseconds: not read */
    bool is_passed;        /* known, and no figure of ours: nothing is said of it */
    bool is_other;         /* passed because the tool's other columns are no figures either */
    bool is_of_each;       /* perhaps of each request, perhaps of all: only its figures can tell */
};

#define HEADING_SIZE 128
/* The heading as the table has it: lower case, '_' between its words. */
void import_column_normalize(const char *heading, char out[HEADING_SIZE]);
/* By the normalized heading. */
struct import_column import_column_find(const char *heading);
