/* SPDX-License-Identifier: Apache-2.0 */
/* The function that every fuzz program defines. It is called by libFuzzer, or by replay.c with the
 * files of the corpus and prefixes of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program unless the condition holds: this is how a fault is reported to the fuzzer. */
static inline void must(bool holds)
{
    if (!holds)
        abort();
}
