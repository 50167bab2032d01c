/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the values of one scrape in ascending order of series ids. Each id is stored as the
 * difference from the previous id. Whole values are stored as varints, and other values as 8 bytes
 * each. Private to store/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct sample {
    int64_t series; /* > 0 */
    double value;
};

/* Packs the samples in ascending order of series ids. If several samples are of the same series,
 * only the last of them in the array is packed. *out is heap memory. */
void samples_pack(struct sample *samples, size_t count, void **out, size_t *length);
/* *out is heap memory. INTERNAL: the data is malformed. */
CHECKED bool samples_unpack(const void *data, size_t length, struct sample **out, size_t *count,
                            struct error *error);
