/* SPDX-License-Identifier: Apache-2.0 */
/* json_parse: an accepted document can be written, and its canonical form is stable. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_auto_t *value = NULL;
    json_auto_t *again = NULL;
    FREE_AUTO char *written = NULL;
    FREE_AUTO char *rewritten = NULL;
    struct error error = { 0 };

    if (!json_parse((const char *)data, size, &value, &error)) {
        must(error.kind == ERROR_INVALID && text_is_utf8(error.message, strlen(error.message)));
        return 0;
    }
    written = json_write_canonical(value);
    if (!json_parse(written, strlen(written), &again, &error)) {
        /* With 15 digits, the few largest doubles are rounded beyond the range of doubles. */
        must(strstr(error.message, "real number overflow") != NULL);
        return 0;
    }
    rewritten = json_write_canonical(again);
    must(strcmp(written, rewritten) == 0);
    return 0;
}
