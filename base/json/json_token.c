/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_token.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the four hexadecimal digits after \u; -1 if there are no such digits. */
static int read_hex(const char *at, const char *end)
{
    int value = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = at[i] != '\0' ? strchr(digits, at[i]) : NULL;

        if (digit == NULL)
            return -1;
        value = value * 16 + (int)(digit - digits < 16 ? digit - digits : digit - digits - 6);
    }
    return value;
}

int32_t json_escape_read(const char *at, const char *end, size_t *length)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name = at < end && *at != '\0' ? strchr(names, *at) : NULL;
    int high, low = -1;

    *length = 1;
    if (name != NULL)
        return values[name - names];
    if (at == end || *at != 'u')
        return -1;
    *length = 5;
    high = read_hex(at + 1, end);
    if (high <= 0 || (high >= 0xdc00 && high < 0xe000))
        return -1;
    if (high < 0xd800 || high >= 0xe000)
        return high;
    if (end - at >= 11 && at[5] == '\\' && at[6] == 'u')
        low = read_hex(at + 7, end);
    if (low < 0xdc00 || low >= 0xe000)
        return -1;
    *length = 11;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

bool json_number_is_integer(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '.' || text[i] == 'e' || text[i] == 'E')
            return false;
    return true;
}

bool json_number_to_integer(const char *text, size_t length, int64_t *out)
{
    bool negative = text[0] == '-';
    int64_t value = 0;

    for (size_t i = negative; i < length; i++) /* keeps value negative, so that INT64_MIN fits */
        if (__builtin_mul_overflow(value, 10, &value)
            || __builtin_sub_overflow(value, text[i] - '0', &value))
            return false;
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *out = value;
    return true;
}

#define DIGITS 320 /* the smallest integer that is too large for a double has 309 digits */

/* The number without its sign: 0.digits x 10^exponent. `digits` has no leading zeros. If there are
 * more than DIGITS digits, a 1 at the end stands for the rest, unless the rest is all zeros. */
struct decimal {
    char digits[DIGITS + 2];
    size_t length;
    int64_t exponent;
};

static void add_digit(struct decimal *decimal, char digit)
{
    if (decimal->length < DIGITS)
        decimal->digits[decimal->length++] = digit;
    else if (digit != '0')
        decimal->digits[DIGITS] = '1';
}

static int64_t read_exponent(const char *text, const char *end)
{
    /* A larger exponent makes no difference: no input has enough digits to offset it. */
    static const int64_t enough = INT64_C(1) << 40;
    bool negative = text < end && *text == '-';
    int64_t value = 0;

    for (text += text < end && (*text == '-' || *text == '+'); text < end; text++)
        value = value < enough ? value * 10 + (*text - '0') : enough;
    return negative ? -value : value;
}

static void split_number(const char *text, size_t length, struct decimal *out)
{
    const char *end = text + length;
    bool fraction = false;

    *out = (struct decimal){ 0 };
    for (text += *text == '-'; text < end && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        if (out->length > 0 || *text != '0')
            add_digit(out, *text);
        if (!fraction && out->length > 0)
            out->exponent++;
        if (fraction && out->length == 0)
            out->exponent--;
    }
    if (text < end)
        out->exponent += read_exponent(text + 1, end);
}

double json_number_to_real(const char *text, size_t length)
{
    char written[DIGITS + 40];
    struct decimal decimal;
    double value;

    split_number(text, length, &decimal);
    if (decimal.exponent > 400 && decimal.length > 0) {
        value = INFINITY;
    } else if (decimal.exponent < -400 || decimal.length == 0) {
        value = 0;
    } else {
        snprintf(written, sizeof written, "0.%se%d", decimal.digits, (int)decimal.exponent);
        value = strtod(written, NULL);
    }
    return text[0] == '-' ? -value : value;
}
