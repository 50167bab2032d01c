/* SPDX-License-Identifier: Apache-2.0 */
/* readable_add_text: whatever a server wrote, no escape sequence reaches the terminal, and no line
 * is wider than the terminal, unless the line is a single word. */
#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "client/terminal/display_width.h"
#include "client/terminal/readable.h"
#include "tests/fuzz/fuzz.h"

/* Whether the line is a single word, such as a long URL. Words are not broken. */
static bool is_one_word(const char *line, size_t length)
{
    size_t indent = strspn(line, " ");

    return memchr(line + indent, ' ', length - indent) == NULL;
}

static void check(const struct text *shown, size_t columns)
{
    const char *at = text_string(shown);

    must(text_is_utf8(at, shown->length));
    while (*at != '\0') {
        size_t length = strcspn(at, "\n");

        for (size_t i = 0; i < length; i++)
            must((unsigned char)at[i] >= 0x20 && at[i] != 0x7f);
        must(columns == 0 || display_width(at, length) <= columns || is_one_word(at, length));
        at += length + (at[length] == '\n');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);

    display_width_begin();
    for (size_t columns = 20; columns <= 80; columns += 30) {
        const struct terminal terminal = { .is_terminal = true, .columns = columns, .rows = 24 };
        TEXT_AUTO shown = { 0 };

        readable_add_text(&terminal, text, &shown);
        check(&shown, columns);
    }
    free(text);
    return 0;
}
