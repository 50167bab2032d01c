/* SPDX-License-Identifier: Apache-2.0 */
#include "web/page_list.h"

#include <string.h>

#include "base/json/json.h"
#include "handlers/values.h"

/* ---- Tables ---- */

static const char *class_of(const struct page_column *column)
{
    return column->write == NULL && column->kind == PAGE_NUMBER ? "number" : NULL;
}

static void write_headings(const struct page_column *columns, struct html *html)
{
    html_open(html, "thead");
    html_open(html, "tr");
    for (; columns->heading != NULL; columns++)
        html_element(html, "th", columns->heading, { "scope", "col" },
                     { "class", class_of(columns) });
    html_close(html, "tr");
    html_close(html, "thead");
}

static void write_value(const struct page_request *request, const struct page_column *column,
                        const json_t *row, struct html *html)
{
    if (column->write != NULL)
        column->write(request, row, html);
    else
        page_cell_write(column->kind, page_cell_member(row, column->member), html);
}

/* In a narrow window, each row becomes a card, and the style sheet shows the column's heading
 * (data-name) next to each value. */
static void write_row(const struct page_request *request, const struct page_column *columns,
                      const json_t *row, struct html *html)
{
    html_open(html, "tr");
    for (; columns->heading != NULL; columns++) {
        html_open(html, "td", { "class", class_of(columns) }, { "data-name", columns->heading });
        write_value(request, columns, row, html);
        html_close(html, "td");
    }
    html_close(html, "tr");
}

void page_list_write(const struct page_request *request, const char *caption,
                     const struct page_column *columns, const json_t *rows, const char *none,
                     struct html *html)
{
    const json_t *row;
    size_t i;

    if (json_array_size(rows) == 0) {
        html_element(html, "p", none, { "class", "soft" });
        return;
    }
    html_open(html, "div", { "class", "scroll" }, { "tabindex", "0" }, { "role", "region" },
              { "aria-label", caption });
    html_open(html, "table", { "class", "list" });
    html_element(html, "caption", caption);
    write_headings(columns, html);
    html_open(html, "tbody");
    json_array_foreach(rows, i, row)
        write_row(request, columns, row, html);
    html_close(html, "tbody");
    html_close(html, "table");
    html_close(html, "div");
}

/* Writes a link to the page of the list that begins at `cursor`; NULL: to the first page. */
static void write_link(const struct page_request *request, const char *cursor, const char *words,
                       struct html *html)
{
    TEXT_AUTO url = { 0 };

    page_url_add_path(&url, request->path);
    for (size_t i = 0; i < request->query.count; i++)
        if (strcmp(request->query.at[i].name, "cursor") != 0
            && request->query.at[i].value[0] != '\0')
            page_url_add(&url, request->query.at[i].name, request->query.at[i].value);
    page_url_add(&url, "cursor", cursor);
    html_element(html, "a", words, { "href", text_string(&url) });
}

void page_list_navigation(const struct page_request *request, const json_t *answer,
                          struct html *html)
{
    const char *next = json_get_text(answer, "next_cursor", NULL);

    if (next == NULL && page_query(request, "cursor") == NULL)
        return;
    html_open(html, "nav", { "class", "pages" }, { "aria-label", "Pages of the list" });
    if (page_query(request, "cursor") != NULL)
        write_link(request, NULL, "First page", html);
    if (next != NULL)
        write_link(request, next, "Next page", html);
    html_close(html, "nav");
}

/* ---- Facts ---- */

void page_list_facts(const struct page_request *request, const struct page_column *columns,
                     const json_t *object, struct html *html)
{
    html_open(html, "dl", { "class", "facts" });
    for (; columns->heading != NULL; columns++) {
        if (columns->member != NULL && page_cell_member(object, columns->member) == NULL)
            continue;
        html_element(html, "dt", columns->heading);
        html_open(html, "dd");
        write_value(request, columns, object, html);
        html_close(html, "dd");
    }
    html_close(html, "dl");
}

/* ---- Filters ---- */

json_t *page_list_arguments(const struct page_request *request, const char *const *names)
{
    json_t *arguments = json_object();

    for (; *names != NULL; names++)
        if (page_query(request, *names) != NULL)
            json_object_set_new(arguments, *names, json_string(page_query(request, *names)));
    if (page_query(request, "cursor") != NULL)
        json_object_set_new(arguments, "cursor", json_string(page_query(request, "cursor")));
    return arguments;
}

static void write_choices(const struct param *param, const char *chosen, struct html *html)
{
    html_open(html, "select", { "name", param->name });
    for (const char *const *choice = param->choices; *choice != NULL; choice++)
        html_element(html, "option", *choice, { "value", *choice },
                     { "selected", chosen != NULL && strcmp(chosen, *choice) == 0 ? "" : NULL });
    html_close(html, "select");
}

void page_list_filter(const struct page_request *request, const char *tool,
                      const char *const *names, struct html *html)
{
    html_open(html, "form", { "method", "get" }, { "action", request->path }, { "class", "row" },
              { "role", "search" });
    for (; *names != NULL; names++) {
        const struct param *param = value_param_find(tool_find(tool), *names);
        const char *value = page_query(request, *names);

        html_open(html, "label");
        page_cell_label(*names, html);
        if (param->choices != NULL)
            write_choices(param, value, html);
        else
            html_open(html, "input", { "type", "text" }, { "name", *names }, { "value", value });
        html_close(html, "label");
    }
    html_element(html, "button", "Filter", { "class", "quiet" });
    html_close(html, "form");
}
