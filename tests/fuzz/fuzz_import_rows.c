/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes import_read_file with the format rows, with and without columns named by the caller. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = { "a=concurrency", "b=output_tok_per_s", NULL };

    fuzz_import("rows", NULL, data, size);
    fuzz_import("rows", columns, data, size);
    return 0;
}
