/* SPDX-License-Identifier: Apache-2.0 */
/* What sweep_plan and sweep_start have in common: reads the deployments and the plan, estimates
 * what the sweep would take, and checks that a large sweep has a go-ahead (a plan_digest). */
#pragma once

#include "bench/plan/plan.h"
#include "handlers/answer.h"

/* A sweep that could take longer than this, or use more tokens than this, starts only if the call
 * gives the digest of a reviewed plan. */
#define GO_AHEAD_MINUTES 60
#define GO_AHEAD_TOKENS 10000000

/* Turns each row of bench/plan/plan_parameters.h into a param. A tool includes that file among its
 * params. */
#define PLAN_PARAMETER(name, kind, place, ...) { name, VALUE_##kind, __VA_ARGS__ },
#define VALUE_PERCENTILE VALUE_CHOICE

#define PARAM_CANDIDATE                                                                            \
    {                                                                                              \
        "candidate", VALUE_TEXT,                                                                   \
            .low = 1, .high = 63,                                                                  \
            .help = "A second deployment to alternate with (A/B sweep), for run_compare.",         \
            .more = "The two take turns cell by cell with the same plan, so that drift affects "   \
                    "both alike; run_compare with this sweep then says whether the candidate is "  \
                    "faster. Set repetitions to 5 or more."                                        \
    }

#define PARAM_PLAN_DIGEST(unlisted)                                                                \
    {                                                                                              \
        "plan_digest", VALUE_TEXT, .rare = unlisted, .low = 64, .high = 64,                        \
                                   .help = "From sweep_plan: starts that plan.",                   \
                                   .more = "Required above 60 minutes or 10 million tokens. "      \
                                           "Any other arguments must match the same plan."         \
    }

/* Arguments that are not part of the plan. sweep_plan accepts them too, so that an agent can plan
 * and start with the same arguments. */
#define PARAMS_ORDER                                                                               \
    {                                                                                              \
        "purpose",   VALUE_TEXT,   .low = 1,                                                       \
        .high = 300, .rare = true, .help = "Why you measure, in one sentence; kept with the runs." \
    },                                                                                             \
    {                                                                                              \
        "corrects", VALUE_TEXT,                                                                    \
            .low = 1, .high = 39, .rare = true,                                                    \
            .help =                                                                                \
                "An earlier run (run_...) or sweep (swp_...) with the same deployments and cells " \
                "that turned out wrong or partly failed: this sweep replaces it. The earlier "     \
                "one is kept, marked as corrected. For a run, set repetitions to 1."               \
    }

struct sweep_request {
    struct deployment deployment, candidate;
    size_t subjects;  /* number of deployments: 2 with a candidate, else 1 */
    bool same_server; /* both deployments have the same host and port */
    struct plan plan;
    struct plan_estimate estimate;
    char digest[65];
    bool needs_go_ahead;
};

/* Reads and checks the call's deployments and plan, and estimates what the sweep would take. */
CHECKED bool sweep_request_read(const struct call *call, struct sweep_request *out,
                                struct error *error);
/* Returns true if the call's plan_digest belongs to a different plan. */
bool sweep_request_digest_differs(const struct call *call, const struct sweep_request *request);
/* Checks the go-ahead. INVALID: the sweep is large, and the call has no plan_digest; the error says
 * what the sweep would take. CONFLICT: the digest belongs to a different plan. */
CHECKED bool sweep_request_check(const struct call *call, const struct sweep_request *request,
                                 struct error *error);
/* The second deployment; NULL: there is none. */
const struct deployment *sweep_request_candidate(const struct sweep_request *request);
/* Adds the deployments' names and revisions: "demo (revision 1)" or, with a candidate, "demo
 * (revision 1), alternating with new (revision 2)". */
void sweep_request_name(const struct sweep_request *request, struct text *out);
