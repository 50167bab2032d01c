/* SPDX-License-Identifier: Apache-2.0 */
#include "web/param_hint.h"

#include <string.h>

#include "web/page_cell.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

static const struct param *find_param(const struct tool *tool, const char *name)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

/* Many parameters have ordinary words as names, so a word counts as a name only if it is in
 * backquotes or contains an underscore. */
static void write_word(const struct tool *tool, const char *word, bool is_marked, struct html *html)
{
    bool is_name = is_marked || strchr(word, '_') != NULL;
    const struct tool *other = is_name ? tool_find(word) : NULL;

    if (is_name && find_param(tool, word) != NULL) {
        html_text(html, "“");
        page_cell_label(word, html);
        html_text(html, "”");
    } else if (other != NULL) {
        html_textf(html, "“%s”", other->title);
    } else {
        html_text(html, word);
    }
}

/* Whether to drop a character because it only marks a name or a list. Quotation marks are dropped
 * only within a list. */
static bool is_dropped(char c, bool in_list)
{
    return c == '`' || c == '[' || c == ']' || (c == '"' && in_list);
}

void param_hint_write(const struct tool *tool, const char *help, struct html *html)
{
    bool in_list = false;

    for (const char *at = help; *at != '\0';) {
        size_t length = strspn(at, NAME_CHARACTERS), plain;
        TEXT_AUTO piece = { 0 };

        text_add_bytes(&piece, at, length);
        if (length > 0)
            write_word(tool, text_string(&piece), at > help && at[-1] == '`', html);
        at += length;
        text_clear(&piece);
        for (plain = 0; at[plain] != '\0' && strchr(NAME_CHARACTERS, at[plain]) == NULL; plain++) {
            in_list = at[plain] == '[' || (in_list && at[plain] != ']');
            if (!is_dropped(at[plain], in_list))
                text_add_char(&piece, at[plain]);
        }
        html_text(html, text_string(&piece));
        at += plain;
    }
}
