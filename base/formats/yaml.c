/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/json/json.h"

#define LINES_MAX 20000
#define DEPTH_MAX 32

struct line {
    size_t number; /* counted from 1 */
    size_t indent; /* in spaces */
    char *text;    /* without indentation and trailing whitespace; not empty */
};

struct yaml {
    struct line *lines;
    size_t count, at;
    unsigned depth;
    struct error *error;
};

static json_t *read_node(struct yaml *yaml, size_t indent);
static json_t *read_flow(struct yaml *yaml, const char **at);

static json_t *refuse(struct yaml *yaml, const char *what)
{
    size_t line = yaml->at < yaml->count ? yaml->lines[yaml->at].number : 0;

    error_set(yaml->error, ERROR_INVALID, "line %zu: %s", line, what);
    return NULL;
}

static json_t *refuse_depth(struct yaml *yaml)
{
    char what[48];

    snprintf(what, sizeof what, "it is nested deeper than %d levels", DEPTH_MAX);
    return refuse(yaml, what);
}

/* ---- Scalars --------------------------------------------------------------------------------- */

static bool is_empty_or_comment(const char *text)
{
    text += strspn(text, " ");
    return *text == '\0' || *text == '#';
}

static json_t *make_plain(const char *bytes, size_t length)
{
    while (length > 0 && bytes[length - 1] == ' ')
        length--;
    if (length == 0 || (length == 1 && *bytes == '~')
        || (length == 4 && memcmp(bytes, "null", 4) == 0))
        return json_null();
    if (length == 4 && memcmp(bytes, "true", 4) == 0)
        return json_true();
    if (length == 5 && memcmp(bytes, "false", 5) == 0)
        return json_false();
    return json_stringn(bytes, length);
}

/* Reads the quoted string at *at, and moves *at past it. A string in double quotes can have JSON's
 * escapes; in single quotes, '' stands for one quote. */
static json_t *read_quoted(struct yaml *yaml, const char **at)
{
    const char *start = *at, *end = start + 1;
    TEXT_AUTO text = { 0 };
    json_t *out = NULL;

    for (; *end != '\0' && (*end != *start || (*start == '\'' && end[1] == '\'')); end++) {
        if (*start == '"' && *end == '\\' && end[1] != '\0')
            end++;
        else if (*start == '\'' && *end == '\'')
            end++;
        if (*start == '\'')
            text_add_char(&text, *end);
    }
    if (*end == '\0')
        return refuse(yaml, "a quoted string must end on the line on which it begins");
    *at = end + 1;
    if (*start == '\'')
        return json_stringn(text_string(&text), text.length);
    out = json_loadb(start, (size_t)(end + 1 - start), JSON_DECODE_ANY, NULL);
    return out != NULL ? out : refuse(yaml, "a string in double quotes must be valid JSON");
}

/* The length of the unquoted string at the start of `text`. The string ends at a comment. In a flow
 * collection ({...} or [...]), it also ends at the ':' after a key, and at the characters in
 * `stops`; elsewhere, `stops` is "". */
static size_t plain_length(const char *text, const char *stops)
{
    size_t length = 0;

    while (text[length] != '\0' && strchr(stops, text[length]) == NULL
           && !(text[length] == '#' && length > 0 && text[length - 1] == ' ')
           && !(*stops != '\0' && text[length] == ':' && strchr(" ,]}", text[length + 1]) != NULL))
        length++;
    return length;
}

/* ---- Flow collections ------------------------------------------------------------------------ */

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " ");
}

static json_t *refuse_open_collection(struct yaml *yaml)
{
    return refuse(yaml, "a {...} or [...] must end on the line on which it begins");
}

static json_t *read_flow_scalar(struct yaml *yaml, const char **at)
{
    size_t length;

    if (**at == '"' || **at == '\'')
        return read_quoted(yaml, at);
    if (**at == '\0')
        return refuse_open_collection(yaml);
    if (strchr("&*!|>%@`", **at) != NULL)
        return refuse(
            yaml, "a key or value in {...} or [...] cannot begin with &, *, !, |, >, %, @ or `");
    length = plain_length(*at, ",[]{}");
    *at += length;
    return make_plain(*at - length, length);
}

/* Reads one member of {...}, up to the ',' or '}' after it. */
static bool read_flow_member(struct yaml *yaml, const char **at, json_t *object)
{
    json_auto_t *key = read_flow_scalar(yaml, at);
    json_t *value;

    if (key == NULL)
        return false;
    skip_blanks(at);
    if (**at != ':' || !json_is_string(key))
        return refuse(yaml, "each member of a {...} must be \"key: value\"") != NULL;
    ++*at;
    skip_blanks(at);
    value = read_flow(yaml, at);
    if (value == NULL || json_object_get(object, json_string_value(key)) != NULL) {
        json_decref(value);
        return value != NULL && refuse(yaml, "a key occurs twice") != NULL;
    }
    json_object_set_new(object, json_string_value(key), value);
    return true;
}

static bool read_flow_item(struct yaml *yaml, const char **at, json_t *list)
{
    json_t *value = read_flow(yaml, at);

    if (value == NULL)
        return false;
    json_array_append_new(list, value);
    return true;
}

static json_t *read_flow_collection(struct yaml *yaml, const char **at)
{
    json_auto_t *out = **at == '{' ? json_object() : json_array();
    char end = **at == '{' ? '}' : ']';

    ++*at;
    for (skip_blanks(at); **at != end; skip_blanks(at)) {
        if (!(end == '}' ? read_flow_member : read_flow_item)(yaml, at, out))
            return NULL;
        skip_blanks(at);
        if (**at == ',')
            ++*at;
        else if (**at == '\0')
            return refuse_open_collection(yaml);
        else if (**at != end)
            return refuse(yaml, "the values in a {...} or [...] need a ',' between them");
    }
    ++*at;
    return json_incref(out);
}

static json_t *read_flow(struct yaml *yaml, const char **at)
{
    json_t *out;

    if (**at != '{' && **at != '[')
        return read_flow_scalar(yaml, at);
    if (++yaml->depth > DEPTH_MAX)
        return refuse_depth(yaml);
    out = read_flow_collection(yaml, at);
    yaml->depth--;
    return out;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static bool is_deeper(const struct yaml *yaml, size_t indent)
{
    return yaml->at < yaml->count && yaml->lines[yaml->at].indent > indent;
}

/* Reads a block scalar ("|" or ">"): all lines that are indented deeper than `indent`, joined by
 * `between`. */
static json_t *read_lines(struct yaml *yaml, size_t indent, char between)
{
    TEXT_AUTO text = { 0 };

    for (; is_deeper(yaml, indent); yaml->at++) {
        if (text.length > 0)
            text_add_char(&text, between);
        text_add(&text, yaml->lines[yaml->at].text);
    }
    return json_stringn(text_string(&text), text.length);
}

/* Reads an unquoted string of several lines: `first`, and all following lines that are indented
 * deeper than `indent`, without their comments. */
static json_t *read_plain_lines(struct yaml *yaml, size_t indent, const char *first)
{
    TEXT_AUTO text = { 0 };

    text_add_bytes(&text, first, plain_length(first, ""));
    for (; is_deeper(yaml, indent); yaml->at++) {
        const char *line = yaml->lines[yaml->at].text;

        while (text.length > 0 && text.data[text.length - 1] == ' ')
            text.length--;
        text_add_char(&text, ' ');
        text_add_bytes(&text, line, plain_length(line, ""));
    }
    return make_plain(text_string(&text), text.length);
}

/* Reads the value that begins on the same line as its "key:" or "- ", in a block that is indented
 * by `indent`. Moves to the line after the value. */
static json_t *read_inline(struct yaml *yaml, size_t indent, const char *text)
{
    const char *at = text;
    json_t *out;

    if (strchr("&*!%@`", *text) != NULL)
        return refuse(yaml,
                      "anchors, aliases, tags, and unquoted strings that begin with %, @ or ` are "
                      "not supported");
    if (*text == '|' || *text == '>') {
        yaml->at++;
        return read_lines(yaml, indent, *text == '|' ? '\n' : ' ');
    }
    if (strchr("{[\"'", *text) != NULL) {
        out = read_flow(yaml, &at);
        if (out != NULL && !is_empty_or_comment(at)) {
            json_decref(out);
            return refuse(yaml, "there is more text after the value");
        }
        yaml->at++;
        return out;
    }
    yaml->at++;
    return is_deeper(yaml, indent) ? read_plain_lines(yaml, indent, text)
                                   : make_plain(text, plain_length(text, ""));
}

static bool is_item(const struct line *line)
{
    return line->text[0] == '-' && (line->text[1] == ' ' || line->text[1] == '\0');
}

/* The length of the key that `text` begins with, including its quotes; 0 if `text` is not a member
 * of a mapping. */
static size_t key_length(const char *text)
{
    size_t length = 0;

    if (*text == '"' || *text == '\'') {
        const char *end = strchr(text + 1, *text);

        return end != NULL && end[1] == ':' ? (size_t)(end + 1 - text) : 0;
    }
    while (text[length] != '\0' && !(text[length] == ':' && strchr(" ", text[length + 1]) != NULL))
        length++;
    return text[length] == ':' && strchr("?&*!{[|>", *text) == NULL ? length : 0;
}

/* Reads the value after "key:" (if `of_key` is true) or "-". Under a key, a list need not be
 * indented deeper than the key. */
static json_t *read_value(struct yaml *yaml, size_t indent, const char *text, bool of_key)
{
    text += strspn(text, " ");
    if (!is_empty_or_comment(text))
        return read_inline(yaml, indent, text);
    yaml->at++;
    if (is_deeper(yaml, indent))
        return read_node(yaml, yaml->lines[yaml->at].indent);
    if (of_key && yaml->at < yaml->count && yaml->lines[yaml->at].indent == indent
        && is_item(&yaml->lines[yaml->at]))
        return read_node(yaml, indent);
    return json_null();
}

static json_t *read_mapping(struct yaml *yaml, size_t indent)
{
    json_auto_t *out = json_object();

    while (yaml->at < yaml->count && yaml->lines[yaml->at].indent == indent
           && !is_item(&yaml->lines[yaml->at])) {
        char *text = yaml->lines[yaml->at].text;
        size_t length = key_length(text), quotes = *text == '"' || *text == '\'';
        FREE_AUTO char *key = NULL;
        json_t *value;

        if (length == 0)
            return refuse(yaml, "\"key: value\" or \"- item\" was expected");
        key = strndup(text + quotes, length - 2 * quotes);
        if (json_object_get(out, key) != NULL)
            return refuse(yaml, "a key occurs twice");
        value = read_value(yaml, indent, text + length + 1, true);
        if (value == NULL)
            return NULL;
        json_object_set_new(out, key, value);
    }
    return json_incref(out);
}

static json_t *read_item(struct yaml *yaml, size_t indent)
{
    struct line *line = &yaml->lines[yaml->at];
    size_t skipped = 1 + strspn(line->text + 1, " ");

    if (is_empty_or_comment(line->text + 1) || key_length(line->text + skipped) == 0) {
        if (!(line->text[skipped] == '-' && line->text[skipped + 1] == ' '))
            return read_value(yaml, indent, line->text + 1, false);
    }
    line->indent += skipped; /* what follows the dash is a block of its own */
    line->text += skipped;
    return read_node(yaml, line->indent);
}

static json_t *read_sequence(struct yaml *yaml, size_t indent)
{
    json_auto_t *out = json_array();

    while (yaml->at < yaml->count && yaml->lines[yaml->at].indent == indent
           && is_item(&yaml->lines[yaml->at])) {
        json_t *value = read_item(yaml, indent);

        if (value == NULL)
            return NULL;
        json_array_append_new(out, value);
    }
    return json_incref(out);
}

static json_t *read_node(struct yaml *yaml, size_t indent)
{
    json_t *out;

    if (++yaml->depth > DEPTH_MAX)
        return refuse_depth(yaml);
    out =
        is_item(&yaml->lines[yaml->at]) ? read_sequence(yaml, indent) : read_mapping(yaml, indent);
    yaml->depth--;
    return out;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool split_lines(char *text, struct yaml *yaml)
{
    size_t number = 0;
    char *line;

    while ((line = strsep(&text, "\n")) != NULL) {
        size_t indent = strspn(line, " "), length = strlen(line);

        number++;
        while (length > indent && strchr(" \r\t", line[length - 1]) != NULL)
            line[--length] = '\0';
        if (is_empty_or_comment(line) || (yaml->count == 0 && strcmp(line, "---") == 0))
            continue;
        if (yaml->count == LINES_MAX)
            return error_set(yaml->error, ERROR_INVALID, "it has more than %d lines", LINES_MAX);
        if (line[indent] == '\t')
            return error_set(yaml->error, ERROR_INVALID, "line %zu: it is indented with a tab",
                             number);
        yaml->lines[yaml->count++] = (struct line){ number, indent, line + indent };
    }
    return true;
}

static bool read_document(struct yaml *yaml, json_t **out)
{
    json_t *value;

    if (yaml->count == 0)
        return error_set(yaml->error, ERROR_INVALID, "it is empty");
    value = read_node(yaml, yaml->lines[0].indent);
    if (value != NULL && yaml->at < yaml->count) {
        json_decref(value);
        value = refuse(yaml,
                       "it does not belong to any mapping or list above it: check its indentation, "
                       "and whether it needs a \"-\"");
    }
    if (value == NULL)
        return false;
    *out = value;
    return true;
}

static bool begins_like_json(const char *bytes, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", *bytes) != NULL) {
        bytes++;
        length--;
    }
    return length > 0 && *bytes == '{';
}

bool yaml_parse(const char *bytes, size_t length, json_t **out, struct error *error)
{
    struct yaml yaml = { .error = error };
    char *text;
    bool done;

    error->kind = ERROR_NONE;
    if (begins_like_json(bytes, length))
        return json_parse(bytes, length, out, error)
               || error_set(error, ERROR_INVALID, "it begins like JSON, but is not valid JSON");
    if (memchr(bytes, '\0', length) != NULL)
        return error_set(error, ERROR_INVALID, "it has a NUL byte");
    if (!text_is_utf8(bytes, length))
        return error_set(error, ERROR_INVALID, "it is not UTF-8");
    text = memory_zeroed(length + 1, 1);
    memcpy(text, bytes, length);
    yaml.lines = memory_zeroed(LINES_MAX, sizeof *yaml.lines);
    done = split_lines(text, &yaml) && read_document(&yaml, out);
    explicit_bzero(text, length);
    free(text);
    free(yaml.lines);
    return done;
}
