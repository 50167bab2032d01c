/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/eight_bytes.h"
#include "base/core/memory.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void text_reserve(struct text *text, size_t more)
{
    size_t capacity = text->capacity > 0 ? text->capacity : 64;

    while (capacity - text->length <= more)
        capacity *= 2;
    if (capacity == text->capacity)
        return;
    text->data = memory_resize(text->data, capacity, 1);
    text->capacity = capacity;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
    text_reserve(text, length);
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add_char(struct text *text, char c)
{
    text_add_bytes(text, &c, 1);
}

void text_add_integer(struct text *text, int64_t value)
{
    char digits[20]; /* the length of INT64_MIN, including its sign */
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        digits[--at] = '-';
    text_add_bytes(text, digits + at, sizeof digits - at);
}

#define PROBABLE_LENGTH 48

/* Usually, the first attempt fits in the reserved room; otherwise, there is a second attempt. */
void text_addf(struct text *text, const char *format, ...)
{
    va_list args;
    size_t room;
    int length;

    text_reserve(text, PROBABLE_LENGTH);
    room = text->capacity - text->length;
    va_start(args, format);
    length = vsnprintf(text->data + text->length, room, format, args);
    va_end(args);
    if (length < 0)
        length = 0;
    if ((size_t)length >= room) {
        text_reserve(text, (size_t)length);
        va_start(args, format);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
        va_end(args);
    }
    text->length += (size_t)length;
    text->data[text->length] = '\0';
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->data != NULL)
        text->data[0] = '\0';
}

const char *text_string(const struct text *text)
{
    return text->data != NULL ? text->data : "";
}

char *text_take(struct text *text)
{
    char *string = text->data != NULL ? text->data : memory_copy_text("");

    *text = (struct text){ 0 };
    return string;
}

void text_finish(struct text *text)
{
    free(text->data);
    *text = (struct text){ 0 };
}

/* The bounds of the second byte are those in table 3-7 of the Unicode standard: no overlong forms,
 * no surrogates, nothing above U+10FFFF. */
size_t text_utf8_sequence(const char *bytes, size_t length)
{
    const unsigned char *b = (const unsigned char *)bytes;
    unsigned char low = 0x80, high = 0xbf;
    size_t size;

    if (length == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    if (b[0] < 0xc2 || b[0] > 0xf4)
        return 0;
    size = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (b[0] == 0xe0)
        low = 0xa0;
    if (b[0] == 0xed)
        high = 0x9f;
    if (b[0] == 0xf0)
        low = 0x90;
    if (b[0] == 0xf4)
        high = 0x8f;
    if (length < size || b[1] < low || b[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

bool text_is_utf8(const char *bytes, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        size = text_utf8_sequence(bytes + at, length - at);
        if (size == 0)
            return false;
    }
    return true;
}

void text_add_utf8(struct text *text, const char *bytes, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        size = bytes[at] == '\0' ? 0 : text_utf8_sequence(bytes + at, length - at);
        if (size > 0)
            text_add_bytes(text, bytes + at, size);
        else
            text_add(text, REPLACEMENT);
        size += size == 0;
    }
}

/* Decodes a well-formed sequence. */
static uint32_t character_of(const char *bytes, size_t size)
{
    uint32_t character = (unsigned char)bytes[0] & (size == 1 ? 0x7fU : 0x7fU >> size);

    for (size_t i = 1; i < size; i++)
        character = character << 6 | ((unsigned char)bytes[i] & 0x3f);
    return character;
}

/* Default_Ignorable_Code_Point of Unicode 15, and the interlinear annotations. */
size_t text_invisible_sequence(const char *bytes, size_t length)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        { 0xad, 0xad },       { 0x34f, 0x34f },   { 0x61c, 0x61c },     { 0x115f, 0x1160 },
        { 0x17b4, 0x17b5 },   { 0x180b, 0x180f }, { 0x200b, 0x200f },   { 0x202a, 0x202e },
        { 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
        { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
        { 0xe0000, 0xe0fff },
    };
    size_t size =
        length > 0 && (unsigned char)bytes[0] >= 0xc2 ? text_utf8_sequence(bytes, length) : 0;
    uint32_t character = size > 0 ? character_of(bytes, size) : 0;

    for (size_t i = 0; size > 0 && i < sizeof ranges / sizeof *ranges; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return size;
    return 0;
}

size_t text_copy(char *out, size_t size, const char *string)
{
    size_t length = strlen(string);

    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)string[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(out, string, length);
    out[length] = '\0';
    return length;
}

bool text_to_integer(const char *string, int64_t low, int64_t high, int64_t *out)
{
    bool negative = string[0] == '-';
    const char *digits = string + negative;
    int64_t value = 0;

    if (digits[0] == '\0')
        return false;
    for (; *digits != '\0'; digits++) {
        int digit = *digits - '0';

        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value)
            || __builtin_sub_overflow(value, digit, &value)) /* negative, so that INT64_MIN fits */
            return false;
    }
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    if (value < low || value > high)
        return false;
    *out = value;
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool text_is_name(const char *string)
{
    size_t length = 0;

    if (!is_letter_or_digit(string[0]))
        return false;
    for (; string[length] != '\0'; length++)
        if (length == 63 || !(is_letter_or_digit(string[length]) || strchr("._-", string[length])))
            return false;
    return true;
}

bool text_equal_constant_time(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    volatile unsigned char difference = a_length != b_length;

    for (size_t i = 0; i < b_length; i++)
        difference |= (unsigned char)(a[i < a_length ? i : a_length] ^ b[i]);
    return difference == 0;
}

/* Whether a sequence is a control character (C0 other than \n and \t; DEL; or C1, U+0080 to U+009F)
 * or a line or paragraph separator (U+2028, U+2029). Separators count as control characters because
 * callers that quote a text put a mark at the start of each line, but recognize only \n as the end
 * of a line. */
static bool is_control(const char *sequence)
{
    unsigned char first = (unsigned char)sequence[0];

    if (first < 0x20)
        return first != '\n' && first != '\t';
    return first == 0x7f || (first == 0xc2 && (unsigned char)sequence[1] < 0xa0)
           || (first == 0xe2
               && (memcmp(sequence + 1, "\x80\xa8", 2) == 0
                   || memcmp(sequence + 1, "\x80\xa9", 2) == 0));
}

size_t text_plain_length(const char *bytes, size_t length)
{
    size_t at = 0;

    for (; length - at >= 8; at += 8) {
        uint64_t eight = eight_bytes(bytes + at);
        uint64_t others =
            bytes_below(eight, ' ') | bytes_equal(eight, 0x7f) | bytes_beyond_ascii(eight);

        if (others != 0)
            return at + bytes_before(others);
    }
    while (at < length && bytes[at] >= ' ' && bytes[at] < 0x7f)
        at++;
    return at;
}

void text_add_printable(struct text *text, const char *bytes, size_t length, size_t limit)
{
    size_t end = text->length + limit;

    for (size_t at = 0; at < length;) {
        size_t plain = text_plain_length(bytes + at, length - at);

        if (plain > end - text->length)
            plain = end - text->length;
        text_add_bytes(text, bytes + at, plain);
        at += plain;
        if (at == length)
            return;
        size_t invisible = text_invisible_sequence(bytes + at, length - at);
        size_t size = text_utf8_sequence(bytes + at, length - at);
        bool shown = size > 0 && !is_control(bytes + at);
        size_t added = shown ? size : sizeof REPLACEMENT - 1;

        if (invisible > 0) {
            at += invisible;
            continue;
        }
        if (text->length + added > end)
            return;
        text_add_bytes(text, shown ? bytes + at : REPLACEMENT, added);
        at += size > 0 ? size : 1;
    }
}
