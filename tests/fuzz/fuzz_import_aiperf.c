/* import_read of the format aiperf. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("aiperf", data, size);
    return 0;
}
