/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the pages that show a report or offer files: writes the report's sections, and the
 * report as a file. */
#pragma once

#include "handlers/runs/report_document.h"
#include "web/page.h"

/* A chart is written into a page only if the page then has at most this many bytes. Together with
 * its style sheet and script, a page must have at most 150,000 bytes. */
#define REPORT_PAGE_CHART_BYTES ((size_t)80000)

/* Collects the report on a run, an import or a sweep. If that fails, writes an audit row for the
 * refusal. Free *out even after a failure. */
CHECKED bool report_page_find(const struct page_request *request, const char *id,
                              struct report_document *out, struct error *error);

/* Writes the verdict, takeaways, audit, charts and cells of one part of a report. The first chart
 * is in the page unless it is too large; the others are images whose URLs begin with `base`
 * ("/runs/run_..."). */
void report_page_write_part(const struct document_part *part, const char *base, struct html *html);
/* Writes what has been measured so far: the first chart and the cells. `version` must change
 * whenever they change. */
void report_page_write_progress(const struct document_part *part, const char *base,
                                const char *version, struct html *html);
/* Writes links to the files of a report or a chart, such as "/runs/run_1.csv?a=b". `query` is
 * "?a=b" or "". `ends` lists the files' extensions, such as ".html .json"; for a chart, it is
 * REPORT_PAGE_CHART_ENDS. */
void report_page_write_files(const char *base, const char *query, const char *ends,
                             struct html *html);
#define REPORT_PAGE_CHART_ENDS ".svg .png .csv .json"

/* Splits a value from the query, such as "a,b", into a list of strings, a new reference. Returns
 * NULL if the value is NULL or has no entries. */
json_t *report_page_names(const char *value);

/* GET "/runs/{id}.html" and "/sweeps/{id}.html": the report as a file to save. */
CHECKED bool report_page_file(const struct page_request *request, struct page_answer *answer,
                              struct error *error);
/* Fills the answer with a report as a file named `name`.html. */
void report_page_save(const struct report_document *document, const char *name,
                      struct page_answer *answer);
/* Fills the answer with the cells of the run or sweep in the path, as a CSV file to save. `kind` is
 * "runs" or "sweeps". */
CHECKED bool report_page_cells(const struct page_request *request, const char *kind,
                               struct page_answer *answer, struct error *error);
