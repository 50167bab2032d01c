/* import_read of the format summary. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("summary", data, size);
    return 0;
}
