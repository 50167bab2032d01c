/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make a plan. Private to them. */
#pragma once

#include "fleet/managed/managed_plan.h"

/* A plan that is being made, from a new wish or from the wish in a stored plan. */
struct making {
    const struct fleet_frame *frame;
    struct managed_wish wish;
    const char *id;  /* of the stored plan; NULL if the plan is new */
    int64_t ends_ms; /* of the stored plan */
    int64_t created_ms;
    struct cloud *cloud;
    struct fleet_managed_row managed; /* the deployment, if is_managed */
    bool is_managed;
    json_t *before; /* the wish in the deployment's record; NULL: none, or not read */
    struct price price;
    json_t *warnings; /* warnings about the recipe, as sentences */
};

static inline bool plan_ends_server(enum provider_verb verb)
{
    return verb == VERB_STOP || verb == VERB_DESTROY;
}

/* Completes the wish from the deployment's record. Then finds the plan's target, recipe, place and
 * end, and the target's cloud. */
CHECKED bool plan_wish_read(struct making *making, struct managed_plan *plan, const char **place,
                            struct error *error);

/* Checks that the observed state allows the change. */
CHECKED bool plan_check_observed(const struct making *making, const struct observed *observed,
                                 struct error *error);
/* If the server has an end and the target requires a guard, checks that there is a guard: something
 * that ends the server even without opsbrain. */
CHECKED bool plan_check_guard(const struct managed_plan *plan, struct error *error);
/* Has the platform check each request that it can check (dry run). */
CHECKED bool plan_check_requests(const struct making *making, const struct managed_plan *plan,
                                 struct error *error);

/* Fills plan->wish, plan->document and the row's digest and document. */
void plan_document_write(const struct making *making, struct managed_plan *plan);

/* Fills plan->desired; the strings are borrowed. */
void plan_fill_desired(const struct making *making, struct managed_plan *plan, const char *place);
/* Makes the plan and frees what was read into `making`. Free *out with managed_plan_finish. */
CHECKED bool managed_plan_build(struct making *making, struct managed_plan *out,
                                struct error *error);
