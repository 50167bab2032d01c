/* SPDX-License-Identifier: Apache-2.0 */
/* Figures as people and programs write them into tables: "97.5%", "1,024", "0,318", "8k", "c=32",
 * "12.5 ms". Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"

struct import_figure {
    double value;          /* its unit, if it has one, not yet applied */
    double ms;             /* of a time with a unit: milliseconds in it; NaN: it names none */
    bool percent;          /* value is of a hundred */
    bool assumed;          /* "8k" was taken for 8192, as contexts are counted */
    enum length_unit unit; /* "8k tokens"; LENGTH_UNKNOWN: it names none */
};

/* `comma`: a comma is the decimal point, as where semicolons separate. False: it is none of these
 * forms, or below zero, or not finite; *out is then undefined. */
bool import_figure_read(const char *text, bool comma, struct import_figure *out);
/* Does it stand for nothing known: "", "-", "N/A", "nan", ...? */
bool import_figure_is_nothing(const char *text);
