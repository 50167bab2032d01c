/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a document is safe HTML: its tags are balanced, its scripts contain only data, no
 * attribute runs code, and no URL names another server. */
#pragma once

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/text.h"

#define HTML_CHECK_DEPTH 64
#define HTML_CHECK_BASE "http://127.0.0.1:8080/" /* links to opsbrain's pages are allowed */

struct html_check {
    const char *what;                /* the name of the document in failure messages */
    char open[HTML_CHECK_DEPTH][32]; /* names of the open elements, outermost first */
    size_t depth, elements;
};

static inline bool html_is_among(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Does the same as strstr, which would read the entire document in each call under
 * AddressSanitizer. */
static inline const char *html_find(const char *at, const char *words)
{
    size_t length = strlen(words);

    while ((at = strchr(at, words[0])) != NULL && strncmp(at, words, length) != 0)
        at++;
    return at;
}

static inline void html_check_value(const struct html_check *check, const char *element,
                                    const char *name, const char *value)
{
    static const char *const urls[] = { "href", "src", "srcset", "action", NULL };

    if (strncmp(name, "on", 2) == 0 || strcmp(name, "style") == 0)
        fail_msg("%s: <%s %s>", check->what, element, name);
    if (strchr(value, '<') != NULL)
        fail_msg("%s: <%s %s=\"%s\">", check->what, element, name, value);
    if (strcmp(element, "a") == 0 && strncmp(value, HTML_CHECK_BASE, strlen(HTML_CHECK_BASE)) == 0)
        return;
    if (html_is_among(name, urls) && (strstr(value, ":") != NULL || strncmp(value, "//", 2) == 0)
        && strncmp(value, "data:image/png;base64,", 22) != 0)
        fail_msg("%s: <%s> has the URL %.100s", check->what, element, value);
    if (strcmp(element, "script") == 0 && strcmp(name, "type") == 0)
        assert_string_equal(value, "application/json");
}

/* Checks the attributes of a tag. `at`: the text after the tag's name. Returns the '>' or "/>" that
 * ends the tag. */
static inline const char *html_check_attributes(const struct html_check *check, const char *element,
                                                const char *at)
{
    static char value[300000];
    bool has_type = false;

    for (at += strspn(at, " \n"); *at != '>' && *at != '/'; at += strspn(at, " \n")) {
        size_t length = strcspn(at, "=> \n"), value_length = 0;
        char name[64];

        assert_in_range(length, 1, sizeof name - 1);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        value[0] = '\0';
        if (*at == '=') {
            assert_int_equal(at[1], '"');
            value_length = strcspn(at + 2, "\"");
            assert_in_range(value_length, 0, sizeof value - 1);
            memcpy(value, at + 2, value_length);
            value[value_length] = '\0';
            at += value_length + 3;
        }
        html_check_value(check, element, name, value);
        has_type |= strcmp(name, "type") == 0;
    }
    if (strcmp(element, "script") == 0 && !has_type)
        fail_msg("%s has a script", check->what);
    return at;
}

/* Checks one tag. Returns the text after the tag or, if it starts a script or a style sheet, the
 * end tag of that element. */
static inline const char *html_check_tag(struct html_check *check, const char *at)
{
    static const char *const empty[] = { "meta", "br", "img", "input", "source", "link", NULL };
    bool closes = at[1] == '/';
    char name[32];
    const char *end = at + 1 + closes;
    size_t length = strcspn(end, " >/\n");

    assert_in_range(length, 1, sizeof name - 1);
    snprintf(name, sizeof name, "%.*s", (int)length, end);
    if (closes) {
        if (check->depth == 0 || strcmp(check->open[check->depth - 1], name) != 0)
            fail_msg("%s: </%s> at %.60s", check->what, name, at);
        check->depth--;
        return strchr(at, '>') + 1;
    }
    check->elements++;
    end = html_check_attributes(check, name, end + length);
    if (*end == '/')
        return end + 2;
    if (html_is_among(name, empty))
        return end + 1;
    assert_in_range(check->depth, 0, HTML_CHECK_DEPTH - 1);
    snprintf(check->open[check->depth++], sizeof name, "%s", name);
    if (strcmp(name, "script") == 0 || strcmp(name, "style") == 0)
        return html_find(end, "</");
    return end + 1;
}

/* Checks the document. `what`: its name in failure messages. */
static inline void html_is_sound(const char *what, const struct text *document)
{
    struct html_check check = { .what = what };
    const char *at = text_string(document);

    assert_true(text_is_utf8(document->data, document->length));
    assert_int_equal(strlen(at), document->length);
    for (const char *c = at; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t')
            fail_msg("%s has the control character %d at %.60s", what, *c, c);
    if (strncmp(at, "<!doctype html>\n", 16) == 0)
        at += 16;
    for (at = strchr(at, '<'); at != NULL; at = strchr(at, '<'))
        at = html_check_tag(&check, at);
    assert_int_equal(check.depth, 0);
    assert_true(check.elements > 0);
}

/* ---- Finding text ---- */

/* Returns the text between the first `from` and the next `to`. The caller frees it. */
static inline char *html_between(const struct text *document, const char *from, const char *to)
{
    const char *begin = strstr(text_string(document), from), *end;

    if (begin == NULL)
        fail_msg("there is no %s", from);
    begin += strlen(from);
    end = strstr(begin, to);
    assert_non_null(end);
    return strndup(begin, (size_t)(end - begin));
}

/* Reads the text of a row's n-th cell, counted from 0. `row`: the HTML from the start of the row;
 * `element`: "<td" or "<th". */
static inline void html_cell_text(const char *row, const char *element, size_t n, char out[256])
{
    for (const char *at = html_find(row, element); at != NULL; at = html_find(at + 1, element)) {
        if (n-- > 0)
            continue;
        at = strchr(at, '>') + 1;
        snprintf(out, 256, "%.*s", (int)strcspn(at, "<"), at);
        return;
    }
    fail_msg("a row has too few cells");
}

/* Returns the index of the column with this heading; -1: there is none. `head`: the HTML of the
 * row of headings. */
static inline int html_column(const char *head, const char *heading)
{
    char text[256], wanted[64];

    snprintf(wanted, sizeof wanted, ">%s</th>", heading);
    if (strstr(head, wanted) == NULL)
        return -1;
    for (int i = 0;; i++) {
        html_cell_text(head, "<th", (size_t)i, text);
        if (strcmp(text, heading) == 0)
            return i;
    }
}
