/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/html.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_among(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

struct html html_begin(struct text *out)
{
    return (struct html){ .out = out };
}

void html_finish(struct html *html)
{
    assert(html->depth == 0);
    while (html->depth > 0)
        html_close(html, html->open[html->depth - 1]);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void add_escaped(struct text *out, const char *string, size_t length)
{
    for (size_t at = 0, plain; at < length; at += plain + 1) {
        for (plain = 0; at + plain < length && entity_of(string[at + plain]) == NULL; plain++)
            continue;
        text_add_bytes(out, string + at, plain);
        if (at + plain < length)
            text_add(out, entity_of(string[at + plain]));
    }
}

/* Appends untrusted text: makes it printable, and escapes it. */
static void add_data(struct text *out, const char *string)
{
    size_t length = strlen(string);
    TEXT_AUTO clean = { 0 };

    if (text_plain_length(string, length) == length) {
        add_escaped(out, string, length);
        return;
    }
    text_add_printable(&clean, string, length, SIZE_MAX / 2);
    add_escaped(out, text_string(&clean), clean.length);
}

void html_text(struct html *html, const char *string)
{
    add_data(html->out, string);
}

void html_textf(struct html *html, const char *format, ...)
{
    char *written;
    va_list args;
    int length;

    va_start(args, format);
    length = vasprintf(&written, format, args);
    va_end(args);
    if (length < 0)
        return;
    html_text(html, written);
    free(written);
}

/* ---- Elements -------------------------------------------------------------------------------- */

bool html_is_safe_url(const char *url)
{
    size_t before = strcspn(url, ":/?#");

    if (text_plain_length(url, strlen(url)) != strlen(url) || strpbrk(url, " \\") != NULL)
        return false;
    if (url[before] == ':')
        return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
    return strncmp(url, "//", 2) != 0;
}

/* Whether a browser treats the value of the attribute as a script, a style sheet or a document. */
static bool is_code(const char *name)
{
    return strncmp(name, "on", 2) == 0 || strcmp(name, "style") == 0 || strcmp(name, "srcdoc") == 0;
}

static void add_attribute(struct html *html, const struct html_attribute *attribute)
{
    static const char *const url_attributes[] = { "href",   "src",        "srcset",
                                                  "action", "formaction", NULL };

    if (is_code(attribute->name))
        abort(); /* a bug in the program: attribute names are constants */
    if (attribute->value == NULL
        || (is_among(attribute->name, url_attributes) && !html_is_safe_url(attribute->value)))
        return;
    text_addf(html->out, " %s", attribute->name);
    if (attribute->value[0] == '\0')
        return;
    text_add(html->out, "=\"");
    add_data(html->out, attribute->value);
    text_add_char(html->out, '"');
}

static bool has_no_content(const char *element)
{
    static const char *const elements[] = { "br",   "col",  "hr",     "img", "input",
                                            "link", "meta", "source", "wbr", NULL };

    return is_among(element, elements);
}

void html_open_with(struct html *html, const char *element, const struct html_attribute *attributes)
{
    text_addf(html->out, "<%s", element);
    for (; attributes->name != NULL; attributes++)
        add_attribute(html, attributes);
    text_add_char(html->out, '>');
    if (has_no_content(element))
        return;
    if (html->depth == HTML_DEPTH_MAX)
        abort(); /* a bug in the program: the depth does not depend on data */
    html->open[html->depth++] = element;
}

void html_close(struct html *html, const char *element)
{
    assert(html->depth > 0 && strcmp(html->open[html->depth - 1], element) == 0);
    (void)element;
    if (html->depth > 0)
        text_addf(html->out, "</%s>", html->open[--html->depth]);
}

void html_element_with(struct html *html, const char *element, const char *string,
                       const struct html_attribute *attributes)
{
    html_open_with(html, element, attributes);
    html_text(html, string);
    html_close(html, element);
}

void html_name(struct html *html, const char *name)
{
    html_element(html, "bdi", name);
}

/* ---- JSON and trusted markup ----------------------------------------------------------------- */

/* Escapes '<', '>' and '&': in JSON they occur only in strings, where an escape stands for the same
 * character. */
static void add_json(struct text *out, const char *json)
{
    for (; *json != '\0'; json++)
        if (*json == '<' || *json == '>' || *json == '&')
            text_addf(out, "\\u%04x", (unsigned char)*json);
        else
            text_add_char(out, *json);
}

void html_json(struct html *html, const char *id, const char *json)
{
    html_open(html, "script", { "type", "application/json" }, { "id", id });
    add_json(html->out, text_is_utf8(json, strlen(json)) ? json : "null");
    html_close(html, "script");
}

void html_add_trusted_markup(struct html *html, const char *markup, size_t length)
{
    text_add_bytes(html->out, markup, length);
}
