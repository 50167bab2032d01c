/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz program has: libFuzzer calls it, or replay.c does with the files of its corpus.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program, which is how a fuzzer is told of a fault. */
static inline void must(bool holds)
{
    if (!holds)
        abort();
}
