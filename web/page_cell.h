/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a value from a tool's answer as a page shows it. */
#pragma once

#include "web/page.h"

enum page_cell {
    PAGE_TEXT,
    PAGE_FOREIGN, /* untrusted text, such as a name or a message that somebody else wrote */
    PAGE_NUMBER,
    PAGE_TIME,  /* "2026-11-22T10:00:00Z" */
    PAGE_STATE, /* the state of a job, a sweep or a server: a word with a mark */
    /* the id of a run, a sweep, a job, ..., as a link to its page; other text is shown as it is */
    PAGE_ID,
    PAGE_DEPLOYMENT, /* a deployment's name, as a link to its page */
    PAGE_CHANGE,     /* {"member": [before, after]} */
};

/* Writes the value. Writes nothing if it is NULL, a JSON null, or empty. */
void page_cell_write(enum page_cell kind, const json_t *value, struct html *html);
/* Writes {"interval_ms": [0, 15000]} as "interval_ms: 0 → 15000". */
void page_cell_change(const json_t *changed, struct html *html);
/* Returns the member at a path such as "load.requests_running" (borrowed), or NULL if missing. */
const json_t *page_cell_member(const json_t *object, const char *path);
/* Writes "input_tokens" as "Input tokens", "limit_ttft_ms" as "Limit TTFT, ms". */
void page_cell_label(const char *name, struct html *html);
/* Adds the path of the page for the id of a run, an import, a sweep, a job or a plan. Adds nothing
 * for other ids. */
void page_cell_url(const char *id, struct text *out);
