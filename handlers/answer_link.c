/* SPDX-License-Identifier: Apache-2.0 */
/* The link to the page that shows an answer's thing to people. Most hosts show a person no picture,
 * but every one shows a link. */

#include <stdio.h>
#include <string.h>

#include "handlers/call.h"

/* Of an answer with blocks of its own, the first text is the answer's. */
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

static void add_line(const char *url, struct text *out)
{
    if (out->length > 0 && out->data[out->length - 1] != '\n')
        text_add_char(out, '\n');
    text_addf(out, "Page: %s\n", url);
}

static CHECKED bool make_url(const struct call *call, const char *path, char out[ANSWER_PAGE_SIZE])
{
    const char *base = call->base_url != NULL ? call->base_url : "";
    int length = snprintf(out, ANSWER_PAGE_SIZE, "%s%s", base, path);

    return base[0] != '\0' && length >= 0 && length < ANSWER_PAGE_SIZE;
}

void answer_link(const struct call *call, struct answer *answer)
{
    char url[ANSWER_PAGE_SIZE];

    if (answer->page[0] == '\0')
        return;
    if (!make_url(call, answer->page, url)) {
        answer->page[0] = '\0';
        return;
    }
    memcpy(answer->page, url, sizeof url);
    add_line(url, &answer->text);
    set_first_text(answer->content, text_string(&answer->text));
    if (answer->structured != NULL)
        json_object_set_new(answer->structured, "page", json_string(url));
}
