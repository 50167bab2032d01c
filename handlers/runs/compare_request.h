/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out a call of run_compare: reads the runs of both sides, and compares them. */
#pragma once

#include "analysis/compare/compare.h"
#include "handlers/tool.h"
#include "store/ledger/sweeps.h"

#define COMPARE_REQUEST_NAMES_MAX 32 /* entries in `factors` or `accepted`, with the final NULL */

struct compare_request {
    struct evidence *runs;       /* heap; first the baseline's */
    size_t counts[SIDES], count; /* runs of each side; runs of both together */
    struct sweep_row sweep;      /* the A/B sweep that was given; without one, its id is "" */
    size_t pairs_left_out;       /* repetitions that are not finished on both deployments */
    enum pairing pairing;
    const char *factors[COMPARE_REQUEST_NAMES_MAX], *accepted[COMPARE_REQUEST_NAMES_MAX];
    struct compare_input input;   /* points into the members above */
    struct comparison comparison; /* points into the members above */
};

/* Reads and compares the runs that the call's arguments name. The arguments are those of
 * run_compare, as tool_check returns them. Free *out with compare_request_finish, even after a
 * failure. */
CHECKED bool compare_request_run(const struct call *call, struct compare_request *out,
                                 struct error *error);
void compare_request_finish(struct compare_request *request);
/* Adds a name for a side, taken from its first run. If that run was measured here, the side is
 * named after the deployment, because both sides often have the same model. If the run was
 * imported, or its deployment is not known, chart_name names the side. */
void compare_request_name_side(const struct compare_request *request, enum side side,
                               struct text *out);
