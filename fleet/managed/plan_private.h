/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make a plan, and private to them. */
#pragma once

#include "fleet/managed/managed_plan.h"

/* What a plan is made from: a new wish, or a stored plan's. */
struct making {
    const struct fleet_frame *frame;
    struct managed_wish wish;
    const char *id;  /* of the stored plan; NULL: a new one */
    int64_t ends_ms; /* of the stored plan */
    int64_t created_ms;
    struct cloud *cloud;
    struct fleet_managed_row managed; /* of a deployment that exists */
    bool is_managed;
    json_t *before; /* its wish */
    struct price price;
    json_t *warnings; /* warnings of the recipe, as sentences */
};

static inline bool plan_is_ending(enum provider_verb verb)
{
    return verb == VERB_STOP || verb == VERB_DESTROY;
}

/* Completes the wish from the deployment's record, and reads what it names: target, recipe, place,
 * end and credential. */
CHECKED bool plan_wish_read(struct making *making, struct managed_plan *plan, const char **place,
                            struct error *error);

/* Whether the observed state allows the change. */
CHECKED bool plan_check_observed(const struct making *making, const struct observed *observed,
                                 struct error *error);
/* Whether something ends it without opsbrain, if the target demands that. */
CHECKED bool plan_check_guard(const struct managed_plan *plan, struct error *error);
/* The provider's own check of each request, if it has one. */
CHECKED bool plan_check_requests(const struct making *making, const struct managed_plan *plan,
                                 struct error *error);

/* Fills plan->wish, plan->document and the row's digest and document. */
void plan_document_write(const struct making *making, struct managed_plan *plan);

/* Fills plan->desired; the strings are borrowed. */
void plan_fill_desired(const struct making *making, struct managed_plan *plan, const char *place);
/* Makes the plan and frees `making`. */
CHECKED bool plan_make(struct making *making, struct managed_plan *out, struct error *error);
