/* SPDX-License-Identifier: Apache-2.0 */
/* csv_next: fields lie within the input, line numbers only rise, and copies fit their buffers. */
#include <string.h>

#include "base/core/text.h"
#include "base/formats/csv.h"
#include "tests/fuzz/fuzz.h"

static void check_field(const struct csv_field *field, const char *first, const char *end)
{
    char small[4], large[256];

    must(field->text >= first && field->text <= end
         && field->length <= (size_t)(end - field->text));
    must(strlen(csv_copy(field, small, sizeof small)) < sizeof small);
    must(text_is_utf8(small, strlen(small)));
    must(strlen(csv_copy(field, large, sizeof large)) <= field->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct csv csv;
    const char *bytes = (const char *)data;
    struct error error;
    int64_t line = 0;
    bool more;

    csv_init(&csv, bytes, size);
    while (csv_next(&csv, &more, &error) && more) {
        must(csv.line > line && csv.count >= 1 && csv.count <= CSV_FIELDS_MAX);
        line = csv.line;
        for (size_t i = 0; i < csv.count; i++)
            check_field(&csv.fields[i], bytes, bytes + size);
    }
    return 0;
}
