/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/display_width.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

void display_width_begin(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
}

/* Returns the number of columns that the text's first character takes. *bytes: its length. An
 * invalid byte takes one column, as does every byte if the C library has no UTF-8 tables. */
static size_t first_width(const char *text, size_t length, size_t *bytes)
{
    mbstate_t state = { 0 };
    wchar_t character;
    size_t read = mbrtowc(&character, text, length, &state);
    int width;

    *bytes = 1;
    if (read == 0 || read > length)
        return 1;
    *bytes = read;
    width = wcwidth(character);
    return width < 0 ? 1 : (size_t)width;
}

size_t display_width(const char *text, size_t length)
{
    size_t width = 0, bytes;

    for (size_t at = 0; at < length; at += bytes)
        width += first_width(text + at, length - at, &bytes);
    return width;
}

size_t display_width_fit(const char *text, size_t length, size_t columns)
{
    size_t at = 0, used = 0, bytes;

    while (at < length) {
        used += first_width(text + at, length - at, &bytes);
        if (used > columns)
            break;
        at += bytes;
    }
    return at;
}
