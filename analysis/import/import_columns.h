/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of other tools' columns and their units, found from the headings. Private to
 * analysis/import/. */
#pragma once

#include "analysis/import/import.h"

enum import_column_kind {
    IMPORT_COLUMN_UNKNOWN,     /* kept as text */
    IMPORT_COLUMN_NUMBER,      /* a double of struct evidence_cell */
    IMPORT_COLUMN_TEXT,        /* a text of struct evidence_cell */
    IMPORT_COLUMN_FACT,        /* a text of struct evidence_facts, if all rows agree */
    IMPORT_COLUMN_FACT_NUMBER, /* a double of struct evidence_facts, if all rows agree */
    IMPORT_COLUMN_ERROR,       /* what went wrong */
};

struct import_column {
    enum import_column_kind kind;
    size_t offset, size;
    double scale;
    enum length_unit unit; /* for an input length */
    const char *assumed;   /* the unit that is assumed, since the name has none; NULL: none is */
    bool is_complement;    /* a share of failures, stored as a share of successes */
    bool is_throughput;    /* a rate of requests or of tokens: only its figures can show which */
    bool lacks_unit;       /* a latency in either seconds or milliseconds: not read */
    bool is_ignored;       /* not a figure: ignored without a remark */
    bool is_other;         /* ignored by the alias "*": not one of the tool's known columns */
    bool is_ambiguous;     /* per request or for all requests: only its figures can show which */
};

#define HEADING_SIZE 128
/* Normalizes a table's heading: lower case, with '_' between the words. */
void import_column_normalize(const char *heading, char out[HEADING_SIZE]);
/* The meaning of a normalized heading; IMPORT_COLUMN_UNKNOWN: none is known. */
struct import_column import_column_find(const char *heading);
/* The same, only for headings composed of a statistic, a metric and a unit ("p99_ttft_ms"). */
struct import_column import_column_latency(const char *heading);
/* The same, only for headings composed of what is counted and "per second"
 * ("output_tokens_per_sec"). */
struct import_column import_column_rate(const char *heading);
