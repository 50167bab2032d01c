/* SPDX-License-Identifier: Apache-2.0 */
/* One value of a tool's answer, as a page shows it. */
#pragma once

#include "web/page.h"

enum page_cell {
    PAGE_TEXT,
    PAGE_FOREIGN, /* written by others: a name, a message */
    PAGE_NUMBER,
    PAGE_TIME,       /* "2026-11-22T10:00:00Z" */
    PAGE_STATE,      /* of a job, a sweep, a server: a word with a mark */
    PAGE_THING,      /* an id, linked to its page */
    PAGE_DEPLOYMENT, /* a name, linked to its page */
    PAGE_CHANGE,     /* {"member": [before, after]} */
};

/* Nothing for a missing member. */
void page_cell_write(enum page_cell kind, const json_t *value, struct html *html);
/* "interval_ms: 0 → 15000", from {"interval_ms": [0, 15000]}. */
void page_cell_change(const json_t *changed, struct html *html);
/* "load.requests_running"; NULL: it is missing. */
const json_t *page_cell_member(const json_t *object, const char *path);
/* "input_tokens" as "Input tokens", "limit_ttft_ms" as "Limit TTFT, ms". */
void page_cell_label(const char *name, struct html *html);
/* The page of a run, a sweep, a job or an import: "" for other ids. */
void page_cell_url(const char *id, struct text *out);
