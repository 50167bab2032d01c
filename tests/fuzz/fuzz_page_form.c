/* SPDX-License-Identifier: Apache-2.0 */
/* form_read and multipart_read: values are UTF-8, are not too long, and have no carriage returns or
 * escape characters; an uploaded file lies within the input. */
#include <string.h>

#include "base/core/text.h"
#include "server/pages/multipart.h"
#include "tests/fuzz/fuzz.h"

static void check_and_finish(struct form *form)
{
    must(form->count <= FORM_VALUES_MAX);
    for (size_t i = 0; i < form->count; i++) {
        size_t length = strlen(form->at[i].value);

        must(text_is_utf8(form->at[i].value, length));
        must(length <= FORM_VALUE_BYTES_MAX + UTF8_LONGEST);
        must(strpbrk(form->at[i].value, "\r\x1b") == NULL);
    }
    form_finish(form);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *file;
    struct form form = { 0 };
    size_t file_bytes;

    form_read(&form, bytes, size);
    check_and_finish(&form);
    multipart_read(&form, "B", bytes, size, &file, &file_bytes);
    must(file == NULL || (file >= bytes && file + file_bytes <= bytes + size));
    check_and_finish(&form);
    return 0;
}
