/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what other tools' columns mean, and their units, from the headings. Private to
 * analysis/import/. */
#pragma once

#include "analysis/import/import.h"

enum import_column_kind {
    IMPORT_COLUMN_UNKNOWN,     /* kept as text */
    IMPORT_COLUMN_NUMBER,      /* a double in struct evidence_cell */
    IMPORT_COLUMN_TEXT,        /* a text in struct evidence_cell */
    IMPORT_COLUMN_FACT,        /* a text in struct evidence_facts, if all rows agree */
    IMPORT_COLUMN_FACT_NUMBER, /* a double in struct evidence_facts, if all rows agree */
    IMPORT_COLUMN_ERROR,       /* what went wrong */
};

struct import_column {
    enum import_column_kind kind;
    size_t offset;         /* of the member that stores the column's value */
    size_t size;           /* of that member, if it is a text, in bytes */
    double scale;          /* the member's value is the column's value times this */
    enum length_unit unit; /* for an input length; LENGTH_UNKNOWN: the heading does not say */
    const char *assumed;   /* the unit assumed if the heading has none; NULL: no unit is assumed */
    bool is_complement;    /* a share of failures, stored as a share of successes */
    bool is_bare_throughput; /* requests or tokens per second: only the rows can show which */
    bool lacks_unit;         /* a latency without a unit of time: not read */
    bool is_ignored;         /* not a figure, or not needed: ignored without a remark */
    bool is_other;           /* ignored by the alias "*", not by an alias of its own */
    bool may_be_total;       /* tokens per request or in total: only the rows can show which */
};

#define HEADING_SIZE 128
/* Normalizes a column's heading or a member's name: lower case, with '_' between the words. */
void import_column_normalize(const char *heading, char out[HEADING_SIZE]);
/* Finds the meaning of a normalized heading; IMPORT_COLUMN_UNKNOWN: it is not known. */
struct import_column import_column_find(const char *heading);
/* The same, only for headings composed of a statistic, a metric and a unit ("p99_ttft_ms"). A count
 * needs no unit. Otherwise, if the unit is missing, a "latency" is assumed to be in seconds, and
 * any other metric is IMPORT_COLUMN_UNKNOWN with lacks_unit set. */
struct import_column import_column_latency(const char *heading);
/* The same, only for headings composed of what is counted and "per second"
 * ("output_tokens_per_sec"). */
struct import_column import_column_rate(const char *heading);
