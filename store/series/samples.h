/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the values of one scrape: ascending series ids as differences, whole numbers as varints,
 * other numbers as 8 bytes. Private to store/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct sample {
    int64_t series; /* > 0 */
    double value;
};

/* Packs the samples in order of series; of two samples of the same series, the later one is kept.
 * *out is heap memory. */
void samples_pack(struct sample *samples, size_t count, void **out, size_t *length);
/* *out is heap memory. INTERNAL: the data is malformed. */
CHECKED bool samples_unpack(const void *data, size_t length, struct sample **out, size_t *count,
                            struct error *error);
