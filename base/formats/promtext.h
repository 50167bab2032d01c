/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the Prometheus text exposition format 0.0.4. Reading is safe for hostile input
 * and does not allocate. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/error.h"
#include "base/core/text.h"

enum promtext_type {
    PROMTEXT_UNTYPED,
    PROMTEXT_COUNTER,
    PROMTEXT_GAUGE,
    PROMTEXT_HISTOGRAM,
    PROMTEXT_SUMMARY
};

struct promtext_sample {
    const char *name; /* neither `name` nor `labels` is NUL-terminated */
    size_t name_length;
    const char *labels; /* what the braces contain, still escaped: a="b",c="d" */
    size_t labels_length;
    double value; /* can be NaN, +Inf or -Inf */
    /* From the latest "# TYPE" line if that line names the sample's family; else UNTYPED. */
    enum promtext_type type;
};

/* Calls `each` for each sample; stops and returns false when `each` returns false. Malformed
 * samples are skipped. If `skipped` is not NULL, *skipped is set to their number. */
bool promtext_read(const char *bytes, size_t length,
                   bool (*each)(void *context, const struct promtext_sample *sample), void *context,
                   size_t *skipped);
/* Copies the value of one label, unescaped, to `out`. Returns false if there is no such label, or
 * if its value, while still escaped, is too long for `out`. */
bool promtext_label(const struct promtext_sample *sample, const char *name, char *out, size_t size);

/* Appends the HELP and TYPE lines of a family. */
void promtext_family(struct text *out, const char *name, enum promtext_type type, const char *help);
/* Appends a sample. `labels` is what to write between the braces; NULL for none. */
void promtext_value(struct text *out, const char *name, const char *labels, double value);
