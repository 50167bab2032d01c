/* SPDX-License-Identifier: Apache-2.0 */
/* Compares json_build with jansson's reader: both accept the bytes and build the same tree, or both
 * refuse them. Compares json_write with jansson's writer: both write the same text. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/json/json_build.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_auto_t *parsed = NULL;
    json_auto_t *built = NULL;
    FREE_AUTO char *expected = NULL;
    FREE_AUTO char *written = NULL;
    struct error error;
    bool accepted = json_parse_by_jansson((const char *)data, size, &parsed, &error);

    must(json_build((const char *)data, size, &built) == accepted);
    if (!accepted)
        return 0;
    must(json_equal(built, parsed) == 1);
    expected = json_dumps(parsed, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    written = json_write(built);
    must(strcmp(written, expected) == 0);
    return 0;
}
