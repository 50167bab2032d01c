/* import_read of the format vllm. */
#include "tests/fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import("vllm", data, size);
    return 0;
}
