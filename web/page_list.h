/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a tool's answer as a table or as a list of facts. */
#pragma once

#include "web/page_cell.h"

struct page_column {
    const char *heading;
    const char *member; /* the member of the row; "load.requests_running" is a nested member */
    enum page_cell kind;
    /* If set, writes the cell, and `kind` is ignored. NULL: the cell is the member, shown as
     * `kind`. */
    void (*write)(const struct page_request *request, const json_t *row, struct html *html);
};

/* Writes a table or, without rows, the sentence `none`. `columns` ends with a NULL heading. */
void page_list_write(const struct page_request *request, const char *caption,
                     const struct page_column *columns, const json_t *rows, const char *none,
                     struct html *html);
/* Writes a link to the first page of a list, unless that is the page shown, and a link to the next
 * page, if the tool's answer has next_cursor. */
void page_list_navigation(const struct page_request *request, const json_t *answer,
                          struct html *html);
/* Writes a list of facts, one for each column; columns whose member is missing are omitted. */
void page_list_facts(const struct page_request *request, const struct page_column *columns,
                     const json_t *object, struct html *html);

/* Reads from the query the arguments for the tool that returns the list: those named in `names`,
 * which ends with NULL, and the cursor. New reference. */
json_t *page_list_arguments(const struct page_request *request, const char *const *names);
/* Writes a form that filters a list by those of the tool's parameters that `names` contains. */
void page_list_filter(const struct page_request *request, const char *tool,
                      const char *const *names, struct html *html);
