/* SPDX-License-Identifier: Apache-2.0 */
/* Reads figures as people and programs write them into tables: "97.5%", "1,024", "0,318", "8k",
 * "c=32", "12.5 ms". Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"

struct import_figure {
    double value;          /* the number; its unit is not yet applied */
    double ms;             /* milliseconds per unit of time; NaN: the text has no unit of time */
    bool is_percent;       /* the value is a percentage */
    bool assumed;          /* "k" was assumed to mean 1024: "8k" was read as 8192 */
    enum length_unit unit; /* as in "8k tokens"; LENGTH_UNKNOWN: the text has no unit of length */
};

/* With `decimal_comma`, a comma is always the decimal point, as in files whose fields are separated
 * by semicolons. Otherwise, it is the decimal point only if it cannot separate thousands ("0,318").
 * Returns false if the text has none of these forms, or if the figure is negative or not finite;
 * *out is then undefined. */
bool import_figure_read(const char *text, bool decimal_comma, struct import_figure *out);
/* Whether the text means that the value is not known: "", "-", "N/A", "nan", ... */
bool import_figure_is_nothing(const char *text);
