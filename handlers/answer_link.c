/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the link to the page that shows an answer to people: most hosts do not show pictures, but
 * people see a link in the text. */

#include <stdio.h>
#include <string.h>

#include "handlers/call.h"

/* Replaces the text of the first text block: if an answer has content blocks, this one contains the
 * answer's text. */
static void set_first_text(json_t *content, const char *text)
{
    json_t *block;
    size_t i;

    json_array_foreach(content, i, block) {
        if (json_object_get(block, "text") == NULL)
            continue;
        json_object_set_new(block, "text", json_string(text));
        return;
    }
}

/* Returns true if the last line might belong to a list, a table or a quote: in Markdown, a line
 * directly after such a block becomes part of the block. */
static bool ends_in_block(const struct text *text)
{
    size_t start = text->length - 1; /* start of the last line, which ends with a newline */

    while (start > 0 && text->data[start - 1] != '\n')
        start--;
    return strchr("-*|> 0123456789", text->data[start]) != NULL;
}

static void add_line(const char *url, struct text *out)
{
    if (out->length > 0 && out->data[out->length - 1] != '\n')
        text_add_char(out, '\n');
    if (out->length > 0 && ends_in_block(out))
        text_add_char(out, '\n');
    text_addf(out, "Page: %s\n", url);
}

static CHECKED bool make_url(const char *base_url, const char *path, char out[ANSWER_PAGE_SIZE])
{
    const char *base = base_url != NULL ? base_url : "";
    int length = snprintf(out, ANSWER_PAGE_SIZE, "%s%s", base, path);

    return base[0] != '\0' && length >= 0 && length < ANSWER_PAGE_SIZE;
}

void answer_link(const char *base_url, struct answer *answer)
{
    char url[ANSWER_PAGE_SIZE];

    if (answer->page[0] == '\0')
        return;
    if (!make_url(base_url, answer->page, url)) {
        answer->page[0] = '\0';
        return;
    }
    memcpy(answer->page, url, sizeof url);
    add_line(url, &answer->text);
    set_first_text(answer->content, text_string(&answer->text));
    if (answer->structured != NULL)
        json_object_set_new(answer->structured, "page", json_string(url));
}
