/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/font.h"

#include <stdlib.h>
#include <string.h>

#define WIDE_FROM 0x1100 /* unknown characters from here on are assumed to be square */
#define WIDE 1000        /* their width, in thousandths of the font's size */
#define ELLIPSIS "\xe2\x80\xa6"

uint32_t font_next(const char **at)
{
    const unsigned char *bytes = (const unsigned char *)*at;
    size_t left = strlen(*at), length = text_utf8_sequence(*at, left);
    size_t invisible = text_invisible_sequence(*at, left);
    uint32_t character = length > 1 ? bytes[0] & (0x7Fu >> length) : bytes[0];

    *at += invisible > 0 ? invisible : length > 0 ? length : 1;
    if (invisible > 0)
        return FONT_INVISIBLE;
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3Fu);
    return character;
}

static int compare(const void *key, const void *row)
{
    uint32_t character = *(const uint32_t *)key;
    const struct font_width *width = row;

    return (character > width->character) - (character < width->character);
}

static const struct font_width *find(uint32_t character)
{
    return bsearch(&character, font_widths, font_width_count, sizeof *font_widths, compare);
}

bool font_has(uint32_t character)
{
    return find(character) != NULL;
}

static double width_of(uint32_t character, enum font_weight weight)
{
    const struct font_width *width = find(character);

    if (character == FONT_INVISIBLE)
        return 0;
    if (width == NULL && character >= WIDE_FROM)
        return WIDE;
    return (width != NULL ? width : find(FONT_FALLBACK))->widths[weight];
}

double font_measure(const char *string, double size, enum font_weight weight)
{
    double width = 0;

    while (*string != '\0')
        width += width_of(font_next(&string), weight);
    return width * size / 1000;
}

double font_measure_character(const char *string, double size, enum font_weight weight)
{
    return width_of(font_next(&string), weight) * size / 1000;
}

void font_fit(const char *string, double size, enum font_weight weight, double width,
              struct text *out)
{
    double room = width - font_measure(ELLIPSIS, size, weight), used = 0;
    const char *at = string;

    if (font_measure(string, size, weight) <= width) {
        text_add(out, string);
        return;
    }
    while (*at != '\0') {
        const char *before = at;

        used += width_of(font_next(&at), weight) * size / 1000;
        if (used > room)
            break;
        text_add_bytes(out, before, (size_t)(at - before));
    }
    text_add(out, ELLIPSIS);
}
