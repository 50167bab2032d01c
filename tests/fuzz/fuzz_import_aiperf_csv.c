/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes import_read_file with the format aiperf-csv. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("aiperf-csv", NULL, data, size);
    return 0;
}
