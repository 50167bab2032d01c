/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the data for the report on a run, an import, a sweep or a comparison. The report is
 * written as an HTML file, and web pages show the same sections
 * (analysis/document/document_parts.h). */
#pragma once

#include "analysis/document/document.h"
#include "handlers/answers/sweep_material.h"
#include "handlers/runs/compare_request.h"

struct report_document {
    struct document document; /* points into the members below */
    struct sweep_material sweep;
    struct compare_request compared;
    struct comparison_names {
        struct text of[SIDES];
    } names;
    struct chart_comparison comparison;
    struct report_document_side {
        struct sweep_material rows; /* the side's part of `sweep` */
        struct report_input report;
        struct evidence *runs;     /* heap */
        struct findings *findings; /* heap; one for each run */
        size_t count;
    } sides[SIDES];
    struct document_part parts[SIDES];
    char page[ANSWER_PAGE_SIZE]; /* the URL of the page with the same report; "": not known */
};
/* Initialize the variable with { 0 }. */
#define REPORT_DOCUMENT_AUTO __attribute__((cleanup(report_document_finish))) struct report_document
void report_document_finish(struct report_document *document);

/* Collects the data for the report on the run, import or sweep with this id. An A/B sweep has two
 * sides. They are not compared if run_compare would fail, as it does until one repetition is
 * finished on both deployments. *out must not be moved; finish it even after a failure. NOT_FOUND:
 * the message names the id. */
CHECKED bool report_document_find(struct call *call, const char *id, struct report_document *out,
                                  struct error *error);
/* Does the same for the comparison that run_compare would make with these arguments. */
CHECKED bool report_document_compare(struct call *call, const json_t *arguments,
                                     struct report_document *out, struct error *error);
