/* SPDX-License-Identifier: Apache-2.0 */
/* mask_text: no masked text contains a strong secret, even without its first and last characters. A
 * text in which nothing is hidden is unchanged. */
#include <string.h>

#include "base/net/mask.h"
#include "tests/fuzz/fuzz.h"

#define SECRET "Lab-7f3Kq9ZxT0vW2mR8uYc41"

static void check(struct mask *mask, const uint8_t *data, size_t size, bool is_truncated)
{
    TEXT_AUTO text = { 0 };

    text_add_bytes(&text, (const char *)data, size);
    mask_text(mask, MASK_ANSWER, is_truncated, &text);
    must(memmem(text_string(&text), text.length, SECRET, strlen(SECRET)) == NULL);
    must(memmem(text_string(&text), text.length, &SECRET[1], strlen(SECRET) - 2) == NULL);
    if (memmem(text_string(&text), text.length, "(hidden)", 8) == NULL)
        must(text.length == size && (size == 0 || memcmp(text.data, data, size) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MASK_AUTO mask = mask_create(SECRET);
    MASK_AUTO weak = mask_create("EMPTY");
    TEXT_AUTO text = { 0 };

    check(mask, data, size, false);
    check(mask, data, size, true);
    must(mask_safe_length(mask, (const char *)data, size) <= size);
    text_add_bytes(&text, (const char *)data, size);
    mask_text(weak, MASK_FAILURE, false, &text);
    return 0;
}
