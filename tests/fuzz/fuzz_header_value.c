/* SPDX-License-Identifier: Apache-2.0 */
/* header_value_decode: the result is UTF-8, and a value that is not encoded is unchanged. */
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "server/mcp/header_value.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FREE_AUTO char *value = memory_zeroed(size + 1, 1);
    FREE_AUTO char *decoded = NULL;

    memcpy(value, data, size);
    decoded = header_value_decode(value);
    if (decoded == NULL)
        return 0;
    must(text_is_utf8(decoded, strlen(decoded)));
    must(strncmp(value, "=?base64?", 9) == 0 || strcmp(value, decoded) == 0);
    must(strlen(decoded) <= strlen(value));
    return 0;
}
