/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the pages that show a report or offer files: the report's sections, and the report as
 * a file. */
#pragma once

#include "handlers/runs/report_document.h"
#include "web/page.h"

/* A chart is written into a page only if the page then has at most this many bytes: with its style
 * sheet and script it shall have at most 150,000. */
#define REPORT_PAGE_CHART_BYTES ((size_t)80000)

/* Collects the report of a run, an import or a sweep; if that fails, writes the audit row of the
 * refusal. Free *out also after a failure. */
CHECKED bool report_page_find(const struct page_request *request, const char *id,
                              struct report_document *out, struct error *error);

/* Writes verdict, takeaways, audit, charts and cells of a part. The first chart is in the page
 * unless it is too large; the others are pictures under `base` ("/runs/run_..."). */
void report_page_write_part(const struct document_part *part, const char *base, struct html *html);
/* Writes what is measured so far: the first chart and the cells. `version` must change when they
 * change. */
void report_page_write_progress(const struct document_part *part, const char *base,
                                const char *version, struct html *html);
/* Writes links to a report or a chart as files, "/runs/run_1.csv?a=b" and so on: `query` is "?a=b"
 * or "", `ends` lists the files' endings (".html .json", REPORT_PAGE_CHART_ENDS for a chart). */
void report_page_write_files(const char *base, const char *query, const char *ends,
                             struct html *html);
#define REPORT_PAGE_CHART_ENDS ".svg .png .csv .json"

/* Splits a query's value "a,b" into a list of strings, a new reference; NULL if it is NULL or has
 * no entry. */
json_t *report_page_names(const char *value);

/* GET "/runs/{id}.html" and "/sweeps/{id}.html": the report as a file to save. */
CHECKED bool report_page_file(const struct page_request *request, struct page_answer *answer,
                              struct error *error);
/* Fills the answer with a report as a file named `name`.html. */
void report_page_save(const struct report_document *document, const char *name,
                      struct page_answer *answer);
/* The cells of the path's id as CSV to save; `kind`: "runs" or "sweeps". */
CHECKED bool report_page_cells(const struct page_request *request, const char *kind,
                               struct page_answer *answer, struct error *error);
