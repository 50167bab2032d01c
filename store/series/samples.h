/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one scrape, packed: ascending series ids as differences, whole numbers as varints,
 * the rest as 8 bytes. Private to store/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct sample {
    int64_t series; /* > 0 */
    double value;
};

/* Sorts the samples by series; of two of one series the later one is kept. *out is heap memory. */
void samples_pack(struct sample *samples, size_t count, void **out, size_t *length);
/* *out is heap memory. Refuses what is malformed. */
CHECKED bool samples_unpack(const void *data, size_t length, struct sample **out, size_t *count,
                            struct error *error);
