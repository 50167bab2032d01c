/* SPDX-License-Identifier: Apache-2.0 */
/* Writes HTML. Text and the values of attributes are treated as data: they are escaped, control
 * characters (except \n and \t) and invalid UTF-8 become U+FFFD, and invisible characters are
 * dropped. Markup comes only from the elements that the functions below write, and from
 * html_add_trusted_markup().
 *
 *     html_open(&html, "p", { "class", "note" });
 *     html_element(&html, "a", name, { "href", url });
 *     html_text(&html, " is ready");
 *     html_close(&html, "p");
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/text.h"

#define HTML_DEPTH_MAX 32

struct html {
    struct text *out;
    const char *open[HTML_DEPTH_MAX]; /* the open elements, outermost first */
    size_t depth;
};

/* An attribute whose value is NULL is omitted; one whose value is "" is written without a value.
 * `href`, `src`, `srcset` (one URL), `action` and `formaction` are omitted if their value is not a
 * safe URL (html_is_safe_url). The names of elements and attributes must be constants in the
 * program. The program aborts on attributes whose value browsers treat as code: `style`, `srcdoc`,
 * and every name that begins with "on". */
struct html_attribute {
    const char *name, *value;
};

#define HTML_ATTRIBUTES(...) ((const struct html_attribute[]){ __VA_ARGS__ __VA_OPT__(, ){ 0 } })

/* Begins to append HTML to `out`, which is borrowed. html_finish() closes elements that are still
 * open. Leaving an element open is a bug, and so is closing one that is not the innermost: in
 * either case, a build with assertions aborts. */
struct html html_begin(struct text *out);
void html_finish(struct html *html);

/* An element without content (<input>, <meta>, <img>, ...) is complete after this call, and must
 * not be closed. */
#define html_open(html, element, ...) html_open_with(html, element, HTML_ATTRIBUTES(__VA_ARGS__))
void html_open_with(struct html *html, const char *element,
                    const struct html_attribute *attributes);
void html_close(struct html *html, const char *element);

/* Writes an element that contains only the text `string`. */
#define html_element(html, element, string, ...)                                                   \
    html_element_with(html, element, string, HTML_ATTRIBUTES(__VA_ARGS__))
void html_element_with(struct html *html, const char *element, const char *string,
                       const struct html_attribute *attributes);

void html_text(struct html *html, const char *string);
void html_textf(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a name that comes from outside the program. The name is put into <bdi>, so that a
 * right-to-left name cannot reorder the text around it. */
void html_name(struct html *html, const char *name);
/* Writes a JSON document as <script type="application/json" id="...">, which browsers do not run.
 * Writes null instead if the document is not UTF-8. */
void html_json(struct html *html, const char *id, const char *json);

/* Adds markup unchanged: a chart's SVG, or a style sheet or script that belongs to this program.
 * Anything in it that comes from outside the program must already be escaped. */
void html_add_trusted_markup(struct html *html, const char *markup, size_t length);

/* Whether this URL is allowed in an attribute. It must be http, https, or relative (without a
 * scheme, and not "//host", which means another server), and consist of printable ASCII without
 * spaces or backslashes. */
bool html_is_safe_url(const char *url);
