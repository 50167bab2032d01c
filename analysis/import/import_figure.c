/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import_figure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIGURE_SIZE 64

bool import_figure_is_nothing(const char *text)
{
    static const char *const words[] = {
        "",     "-",    "--",       "---", "\xe2\x80\x93", "\xe2\x80\x94", "n/a",
        "#n/a", "na",   "n.a.",     "nan", "null",         "none",         "nil",
        "inf",  "-inf", "infinity", "?",   "unknown"
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* ---- What follows the digits ---- */

static const struct suffix {
    const char *word;
    double ms;
    enum length_unit unit;
} suffixes[] = {
    { "", NAN, LENGTH_UNKNOWN },         { "ms", 1, LENGTH_UNKNOWN },
    { "msec", 1, LENGTH_UNKNOWN },       { "s", 1000, LENGTH_UNKNOWN },
    { "sec", 1000, LENGTH_UNKNOWN },     { "secs", 1000, LENGTH_UNKNOWN },
    { "seconds", 1000, LENGTH_UNKNOWN }, { "us", 0.001, LENGTH_UNKNOWN },
    { "ns", 0.000001, LENGTH_UNKNOWN },  { "tokens", NAN, LENGTH_TOKENS },
    { "token", NAN, LENGTH_TOKENS },     { "tok", NAN, LENGTH_TOKENS },
    { "toks", NAN, LENGTH_TOKENS },      { "words", NAN, LENGTH_WORDS },
    { "users", NAN, LENGTH_UNKNOWN },    { "user", NAN, LENGTH_UNKNOWN },
    { "clients", NAN, LENGTH_UNKNOWN },  { "concurrent", NAN, LENGTH_UNKNOWN },
    { "requests", NAN, LENGTH_UNKNOWN }, { "req", NAN, LENGTH_UNKNOWN },
    { "reqs", NAN, LENGTH_UNKNOWN },     { "req/s", NAN, LENGTH_UNKNOWN },
    { "rps", NAN, LENGTH_UNKNOWN },      { "tok/s", NAN, LENGTH_UNKNOWN },
    { "tokens/s", NAN, LENGTH_UNKNOWN }, { "t/s", NAN, LENGTH_UNKNOWN },
    { "tps", NAN, LENGTH_UNKNOWN },      { "/s", NAN, LENGTH_UNKNOWN },
};

static bool read_suffix(const char *text, struct import_figure *out)
{
    while (*text == ' ')
        text++;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcasecmp(text, suffixes[i].word) == 0) {
            out->ms = suffixes[i].ms;
            out->unit = suffixes[i].unit;
            return true;
        }
    out->is_percent = strcmp(text, "%") == 0;
    return out->is_percent;
}

/* Multiplies a power of two by 1024, so that 8k is 8192, and every other value by 1000. */
static void multiply_thousands(struct import_figure *out)
{
    double power = log2(out->value);

    out->assumed = fabs(power - round(power)) < 1e-9;
    out->value *= out->assumed ? 1024 : 1000;
}

/* Applies the "k" or "M" that the text begins with, if any; returns the text after it. */
static const char *apply_multiplier(const char *text, struct import_figure *out)
{
    bool is_single = isalpha((unsigned char)text[0]) != 0 && isalpha((unsigned char)text[1]) == 0;

    if (is_single && (*text == 'k' || *text == 'K'))
        multiply_thousands(out);
    else if (is_single && *text == 'M')
        out->value *= 1e6;
    else
        return text;
    return text + 1;
}

/* ---- Digits ---- */

/* Whether `mark` separates the digits into groups of three: "1,024", "12 345.6". */
static bool is_grouped(const char *digits, char mark)
{
    size_t run = strspn(digits, "0123456789"), groups = 0;

    if (run == 0 || run > 3 || digits[0] == '0')
        return false;
    for (digits += run; *digits == mark; digits += 4, groups++)
        if (strspn(digits + 1, "0123456789") != 3)
            return false;
    return groups > 0 && (*digits == '\0' || *digits == '.' || *digits == ',');
}

static void remove_mark(char *text, char mark)
{
    char *to = text;

    for (; *text != '\0'; text++)
        if (*text != mark)
            *to++ = *text;
    *to = '\0';
}

/* Converts the digits to the form that strtod reads. */
static void normalize(char *digits, bool decimal_comma)
{
    static const char marks[] = " _'";

    for (const char *mark = marks; *mark != '\0'; mark++)
        if (is_grouped(digits, *mark))
            remove_mark(digits, *mark);
    if (decimal_comma && is_grouped(digits, '.') && strchr(digits, ',') != NULL)
        remove_mark(digits, '.');
    if (!decimal_comma && is_grouped(digits, ','))
        remove_mark(digits, ',');
    for (char *at = digits; *at != '\0'; at++)
        if (*at == ',')
            *at = '.';
}

/* Skips "c=", "ctx:" and the like. */
static const char *skip_name(const char *text)
{
    const char *at = text;

    while (isalpha((unsigned char)*at) != 0 || *at == '_')
        at++;
    if (at == text || (*at != '=' && *at != ':'))
        return text;
    for (at++; *at == ' ';)
        at++;
    return at;
}

/* Returns the length of the number at the beginning of the text, with its exponent if it has one,
 * as in "1e-05". */
static size_t digits_length(const char *text)
{
    size_t length = strspn(text, "0123456789.,_' ");

    if (length > 0 && (text[length] == 'e' || text[length] == 'E')) {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-' ? 1 : 0;
        size_t exponent = strspn(text + length + 1 + sign, "0123456789");

        if (exponent > 0)
            return length + 1 + sign + exponent;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

bool import_figure_read(const char *text, bool decimal_comma, struct import_figure *out)
{
    const char *from = skip_name(text);
    size_t length;
    char digits[FIGURE_SIZE], *end;

    from += *from == '+';
    length = digits_length(from);
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, from, length);
    digits[length] = '\0';
    normalize(digits, decimal_comma);
    *out = (struct import_figure){ .value = strtod(digits, &end), .ms = NAN };
    return *end == '\0' && isfinite(out->value)
           && read_suffix(apply_multiplier(from + length, out), out) && isfinite(out->value);
}
