/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/mask_view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

/* An escape sequence, an invisible character, or a plain byte. */
struct piece {
    unsigned char bytes[UTF8_LONGEST]; /* decoded */
    size_t count;                      /* number of decoded bytes; 0: the piece is dropped */
    size_t taken;                      /* number of bytes before decoding */
};

struct mask_view mask_view_of(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;

    return (
        struct mask_view){ .bytes = bytes, .length = length, .text = bytes, .text_length = length };
}

void mask_view_finish(struct mask_view *view)
{
    if (view->own != NULL)
        explicit_bzero(view->own, view->length);
    free(view->own);
    free(view->starts);
}

static bool is_blank(unsigned char byte)
{
    return byte <= ' ' || byte == 0x7f;
}

struct span mask_view_origin(const struct mask_view *view, struct span part)
{
    struct span origin = part;

    if (view->starts == NULL)
        return origin;
    origin.from = part.from < view->length ? view->starts[part.from] : view->text_length;
    origin.to = part.to < view->length ? view->starts[part.to] : view->text_length;
    while (origin.to > origin.from && is_blank(view->text[origin.to - 1]))
        origin.to--;
    return origin;
}

/* ---- Escapes --------------------------------------------------------------------------------- */

static int digit_of(unsigned char byte)
{
    return isdigit(byte) ? byte - '0' : isxdigit(byte) ? tolower(byte) - 'a' + 10 : -1;
}

/* The value of hexadecimal digits; -1 if one of the bytes is not a digit. */
static int32_t read_digits(const unsigned char *bytes, size_t count)
{
    int32_t value = 0;

    for (size_t i = 0; i < count; i++) {
        if (digit_of(bytes[i]) < 0)
            return -1;
        value = value * 16 + digit_of(bytes[i]);
    }
    return value;
}

static void put_character(struct piece *piece, int32_t character, size_t taken)
{
    unsigned char *out = piece->bytes;

    piece->taken = taken;
    piece->count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    if (piece->count == 1) {
        out[0] = (unsigned char)character;
        return;
    }
    for (size_t i = piece->count - 1; i > 0; i--, character >>= 6)
        out[i] = (unsigned char)(0x80 | (character & 0x3f));
    out[0] = (unsigned char)((0xf00 >> piece->count & 0xff) | character);
}

/* Decodes \uXXXX, or two in a row for a character above U+FFFF (a surrogate pair). */
static void read_unicode(const unsigned char *at, size_t left, struct piece *piece)
{
    int32_t high = left >= 6 ? read_digits(at + 2, 4) : -1, low = -1;

    if (high < 0)
        return;
    if (high >= 0xd800 && high < 0xdc00 && left >= 12 && at[6] == '\\' && at[7] == 'u')
        low = read_digits(at + 8, 4);
    if (low >= 0xdc00 && low < 0xe000)
        put_character(piece, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), 12);
    else
        put_character(piece, high, 6);
}

static void read_backslash(const unsigned char *at, size_t left, struct piece *piece)
{
    if (left >= 2 && (at[1] == 'u' || at[1] == 'U')) {
        read_unicode(at, left, piece);
    } else if (left >= 4 && at[1] == 'x' && read_digits(at + 2, 2) >= 0) {
        put_character(piece, 0, 4);
        piece->bytes[0] = (unsigned char)read_digits(at + 2, 2);
    } else if (left >= 2 && strchr("nrtbf", at[1]) != NULL) {
        put_character(piece, '\n', 2);
    } else if (left >= 2 && ispunct(at[1])) {
        put_character(piece, at[1], 2);
    }
}

static void read_percent(const unsigned char *at, size_t left, struct piece *piece)
{
    if (left < 3 || read_digits(at + 1, 2) < 0)
        return;
    put_character(piece, 0, 3);
    piece->bytes[0] = (unsigned char)read_digits(at + 1, 2);
}

#define ENTITY_DIGITS 6

/* Decodes &#65; and &#x41;, and the few named entities for characters that a token can contain. */
static void read_entity(const unsigned char *at, size_t left, struct piece *piece)
{
    static const struct {
        const char *written;
        char character;
    } named[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' }
    };
    char text[ENTITY_DIGITS + 5] = "", *end = text;
    long character;

    memcpy(text, at, left < sizeof text - 1 ? left : sizeof text - 1);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strncmp(text, named[i].written, strlen(named[i].written)) == 0)
            put_character(piece, named[i].character, strlen(named[i].written));
    if (text[1] != '#' || !isalnum((unsigned char)text[2]))
        return;
    if (tolower(text[2]) == 'x')
        character = isxdigit((unsigned char)text[3]) ? strtol(text + 3, &end, 16) : -1;
    else
        character = isdigit((unsigned char)text[2]) ? strtol(text + 2, &end, 10) : -1;
    if (character > 0 && character < 0x110000 && *end == ';')
        put_character(piece, (int32_t)character, (size_t)(end - text) + 1);
}

static struct piece read_piece(const unsigned char *at, size_t left)
{
    struct piece piece = { .bytes = { at[0] }, .count = 1, .taken = 1 };

    if (at[0] == '\\')
        read_backslash(at, left, &piece);
    else if (at[0] == '%')
        read_percent(at, left, &piece);
    else if (at[0] == '&')
        read_entity(at, left, &piece);
    return piece;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* Decodes the next escape sequence or byte. Drops invisible characters and, if `blanks` says so,
 * spaces and control characters. */
static struct piece next_piece(const struct mask_view *view, size_t at,
                               enum mask_view_blanks blanks)
{
    const unsigned char *bytes = view->bytes + at;
    size_t left = view->length - at;
    size_t invisible = text_invisible_sequence((const char *)bytes, left);
    struct piece piece;

    if (invisible > 0)
        return (struct piece){ .taken = invisible };
    piece = read_piece(bytes, left);
    if (blanks == MASK_VIEW_DROPS_BLANKS && piece.count == 1 && is_blank(piece.bytes[0]))
        piece.count = 0;
    return piece;
}

/* Decoding always shortens a text, unless there is nothing to decode or drop. */
bool mask_view_decode(struct mask_view *view, enum mask_view_blanks blanks)
{
    unsigned char *bytes = memory_zeroed(view->length + 1, sizeof *bytes);
    uint32_t *starts = memory_zeroed(view->length + 1, sizeof *starts);
    size_t length = 0;

    for (size_t at = 0; at < view->length;) {
        struct piece piece = next_piece(view, at, blanks);

        for (size_t i = 0; i < piece.count; i++) {
            bytes[length] = piece.bytes[i];
            starts[length++] = view->starts != NULL ? view->starts[at] : (uint32_t)at;
        }
        at += piece.taken;
    }
    if (length == view->length) {
        free(bytes);
        free(starts);
        return false;
    }
    mask_view_finish(view);
    view->own = bytes;
    view->bytes = bytes;
    view->starts = starts;
    view->length = length;
    return true;
}

size_t mask_view_whole(const char *text, size_t length)
{
    size_t from = length > MASK_VIEW_GROWTH + 2 ? length - (MASK_VIEW_GROWTH + 2) : 0;

    for (size_t at = from; at < length; at++)
        if (strchr("\\%&", text[at]) != NULL && text[at] != '\0')
            return at;
    return length;
}
