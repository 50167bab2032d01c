/* SPDX-License-Identifier: Apache-2.0 */
/* The plots that have files of their own, and what they share with chart_request.c. Private to
 * handlers/charts/. */
#pragma once

#include "handlers/charts/chart_request.h"

/* Runs that are repetitions of each other. */
struct chart_request_subject {
    struct evidence *runs; /* heap; finish each */
    size_t count;
};
#define CHART_SUBJECT_AUTO                                                                         \
    __attribute__((cleanup(chart_request_subject_finish))) struct chart_request_subject

/* Reads a run, an import, or the runs of a sweep (in an A/B sweep, only the baseline's). *out
 * must be zeroed; finish it even after a failure. */
CHECKED bool chart_request_subject_find(struct call *call, const char *id,
                                        struct chart_request_subject *out, struct error *error);
void chart_request_subject_finish(struct chart_request_subject *subject);

/* Each draws one plot from the call's arguments. */
CHECKED bool chart_request_forest(struct call *call, struct chart *out, struct error *error);
CHECKED bool chart_request_history(struct call *call, struct chart *out, struct error *error);
CHECKED bool chart_request_cost(struct call *call, struct chart *out, struct error *error);
