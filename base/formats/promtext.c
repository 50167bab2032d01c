/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/promtext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The part of a line, or of the whole text, that has not been read yet. */
struct cursor {
    const char *at, *end;
};

/* The metric family that the latest "# TYPE" line named. */
struct family {
    const char *name;
    size_t length;
    enum promtext_type type;
};

static const char *const type_names[] = {
    [PROMTEXT_UNTYPED] = "untyped",     [PROMTEXT_COUNTER] = "counter", [PROMTEXT_GAUGE] = "gauge",
    [PROMTEXT_HISTOGRAM] = "histogram", [PROMTEXT_SUMMARY] = "summary",
};

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}

static bool continues_name(char c)
{
    return starts_name(c) || (c >= '0' && c <= '9');
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

static bool skip_char(struct cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool read_name(struct cursor *cursor, const char **name, size_t *length)
{
    *name = cursor->at;
    if (cursor->at == cursor->end || !starts_name(*cursor->at))
        return false;
    while (cursor->at < cursor->end && continues_name(*cursor->at))
        cursor->at++;
    *length = (size_t)(cursor->at - *name);
    return true;
}

static void read_word(struct cursor *cursor, const char **word, size_t *length)
{
    skip_blanks(cursor);
    *word = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != ' ' && *cursor->at != '\t')
        cursor->at++;
    *length = (size_t)(cursor->at - *word);
}

/* Reads a quoted string; *value is the part between the quotes, still escaped. */
static bool read_quoted(struct cursor *cursor, const char **value, size_t *length)
{
    if (!skip_char(cursor, '"'))
        return false;
    *value = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != '"')
        cursor->at += *cursor->at == '\\' && cursor->end - cursor->at > 1 ? 2 : 1;
    *length = (size_t)(cursor->at - *value);
    return skip_char(cursor, '"');
}

struct label {
    const char *name, *value;
    size_t name_length, value_length;
};

/* Reads name="value" and the comma after it. After the last label, the comma is optional. */
static bool read_label(struct cursor *cursor, struct label *out)
{
    skip_blanks(cursor);
    if (!read_name(cursor, &out->name, &out->name_length))
        return false;
    skip_blanks(cursor);
    if (!skip_char(cursor, '='))
        return false;
    skip_blanks(cursor);
    if (!read_quoted(cursor, &out->value, &out->value_length))
        return false;
    skip_blanks(cursor);
    if (!skip_char(cursor, ','))
        return cursor->at == cursor->end || *cursor->at == '}';
    skip_blanks(cursor);
    return true;
}

static bool read_labels(struct cursor *cursor, struct promtext_sample *out)
{
    struct label label;

    out->labels = cursor->at;
    if (!skip_char(cursor, '{'))
        return true;
    out->labels = cursor->at;
    skip_blanks(cursor);
    while (cursor->at < cursor->end && *cursor->at != '}')
        if (!read_label(cursor, &label))
            return false;
    out->labels_length = (size_t)(cursor->at - out->labels);
    return skip_char(cursor, '}') && text_is_utf8(out->labels, out->labels_length);
}

static bool read_special(const char *word, double *out)
{
    bool negative = word[0] == '-';
    const char *unsigned_word = word + (word[0] == '-' || word[0] == '+');

    if (strcasecmp(unsigned_word, "nan") == 0)
        *out = NAN;
    else if (strcasecmp(unsigned_word, "inf") == 0 || strcasecmp(unsigned_word, "infinity") == 0)
        *out = negative ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

/* Reads a decimal number, NaN or infinity. (strtod alone would also accept hexadecimal numbers and
 * "nan(...)".) */
static bool read_number(struct cursor *cursor, double *out)
{
    char digits[64], *end;
    const char *word;
    size_t length;

    read_word(cursor, &word, &length);
    if (length == 0 || length >= sizeof digits || memchr(word, '\0', length) != NULL)
        return false;
    memcpy(digits, word, length);
    digits[length] = '\0';
    if (read_special(digits, out))
        return true;
    if (digits[strspn(digits, "0123456789.eE+-")] != '\0')
        return false;
    *out = strtod(digits, &end);
    return *end == '\0' && isfinite(*out);
}

/* Skips what can follow the value: a timestamp, and an OpenMetrics exemplar ("# {...}"). */
static bool skip_after_value(struct cursor *cursor)
{
    double timestamp;

    skip_blanks(cursor);
    if (cursor->at < cursor->end && *cursor->at != '#' && !read_number(cursor, &timestamp))
        return false;
    skip_blanks(cursor);
    return cursor->at == cursor->end || *cursor->at == '#';
}

/* Whether the sample's name is the family's name, alone or with a suffix that the family's type
 * allows, such as "_total" for a counter. */
static bool belongs_to(const struct promtext_sample *sample, const struct family *family)
{
    static const struct {
        enum promtext_type type;
        const char *ending;
    } endings[] = {
        { PROMTEXT_COUNTER, "_total" }, { PROMTEXT_HISTOGRAM, "_bucket" },
        { PROMTEXT_HISTOGRAM, "_sum" }, { PROMTEXT_HISTOGRAM, "_count" },
        { PROMTEXT_SUMMARY, "_sum" },   { PROMTEXT_SUMMARY, "_count" },
    };
    const char *ending = sample->name + family->length;
    size_t length = sample->name_length - family->length;

    if (sample->name_length < family->length
        || memcmp(sample->name, family->name, family->length) != 0)
        return false;
    if (length == 0)
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (endings[i].type == family->type && strlen(endings[i].ending) == length
            && memcmp(endings[i].ending, ending, length) == 0)
            return true;
    return false;
}

static bool read_sample(struct cursor *cursor, const struct family *family,
                        struct promtext_sample *out)
{
    *out = (struct promtext_sample){ 0 };
    if (!read_name(cursor, &out->name, &out->name_length))
        return false;
    skip_blanks(cursor);
    if (!read_labels(cursor, out) || !read_number(cursor, &out->value) || !skip_after_value(cursor))
        return false;
    if (family->length > 0 && belongs_to(out, family))
        out->type = family->type;
    return true;
}

/* Reads a comment: "# TYPE name type" sets the family; other comments are skipped. */
static void read_comment(struct cursor *cursor, struct family *family)
{
    const char *word;
    size_t length;

    read_word(cursor, &word, &length); /* the '#' */
    read_word(cursor, &word, &length);
    if (length != 4 || memcmp(word, "TYPE", 4) != 0)
        return;
    read_word(cursor, &family->name, &family->length);
    read_word(cursor, &word, &length);
    family->type = PROMTEXT_UNTYPED;
    for (enum promtext_type type = PROMTEXT_COUNTER; type <= PROMTEXT_SUMMARY; type++)
        if (strlen(type_names[type]) == length && memcmp(type_names[type], word, length) == 0)
            family->type = type;
}

/* Returns the next line, without its indentation and line break, and moves `text` past it. */
static struct cursor next_line(struct cursor *text)
{
    const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    struct cursor line = { text->at, newline != NULL ? newline : text->end };

    text->at = newline != NULL ? newline + 1 : text->end;
    if (line.end > line.at && line.end[-1] == '\r')
        line.end--;
    skip_blanks(&line);
    return line;
}

bool promtext_read(const char *bytes, size_t length,
                   bool (*each)(void *context, const struct promtext_sample *sample), void *context,
                   size_t *skipped)
{
    struct cursor text = { bytes, bytes + length };
    struct family family = { 0 };
    struct promtext_sample sample;
    size_t malformed = 0;
    bool wants_more = true;

    while (wants_more && text.at < text.end) {
        struct cursor line = next_line(&text);

        if (line.at == line.end)
            continue;
        if (*line.at == '#')
            read_comment(&line, &family);
        else if (read_sample(&line, &family, &sample))
            wants_more = each(context, &sample);
        else
            malformed++;
    }
    if (skipped != NULL)
        *skipped = malformed;
    return wants_more;
}

/* Copies the value unescaped: "\n" is a newline, and a backslash before any other character is
 * dropped. Returns the length. */
static size_t unescape(const struct label *label, char *out)
{
    size_t length = 0;

    for (size_t i = 0; i < label->value_length; i++) {
        bool escaped = label->value[i] == '\\' && i + 1 < label->value_length;

        i += escaped;
        out[length] = label->value[i];
        if (escaped && label->value[i] == 'n')
            out[length] = '\n';
        length++;
    }
    return length;
}

bool promtext_label(const struct promtext_sample *sample, const char *name, char *out, size_t size)
{
    struct cursor cursor = { sample->labels, sample->labels + sample->labels_length };
    struct label label;

    while (cursor.at < cursor.end && read_label(&cursor, &label)) {
        if (strlen(name) != label.name_length || memcmp(name, label.name, label.name_length) != 0)
            continue;
        if (label.value_length >= size)
            return false;
        out[unescape(&label, out)] = '\0';
        return true;
    }
    return false;
}

static void add_escaped(struct text *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\n')
            text_add(out, "\\n");
        else if (*value == '\\')
            text_add(out, "\\\\");
        else
            text_add_char(out, *value);
    }
}

void promtext_family(struct text *out, const char *name, enum promtext_type type, const char *help)
{
    text_addf(out, "# HELP %s ", name);
    add_escaped(out, help);
    text_addf(out, "\n# TYPE %s %s\n", name, type_names[type]);
}

/* Writes the number with up to 15 digits, or with 17 if it would otherwise read back
 * differently. */
static void add_number(struct text *out, double value)
{
    char digits[32];

    if (isnan(value) || isinf(value)) {
        text_add(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
        return;
    }
    snprintf(digits, sizeof digits, "%.15g", value);
    if (strtod(digits, NULL) != value)
        snprintf(digits, sizeof digits, "%.17g", value);
    text_add(out, digits);
}

void promtext_value(struct text *out, const char *name, const char *labels, double value)
{
    text_add(out, name);
    if (labels != NULL && labels[0] != '\0')
        text_addf(out, "{%s}", labels);
    text_add_char(out, ' ');
    add_number(out, value);
    text_add_char(out, '\n');
}
