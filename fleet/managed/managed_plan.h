/* SPDX-License-Identifier: Apache-2.0 */
/* A plan to change a deployment. It is made from a wish and the observed state, and lists the
 * requests to send. A plan to stop or destroy begins as soon as it is made. Any other plan is made
 * again before it begins (managed_plan_again), because something might have changed. */
#pragma once

#include "fleet/managed/managed_target.h"

#define PLAN_GOOD_MS (24 * 3600000LL)

/* What the caller wants. The strings are borrowed; a string that was not given is "". */
struct managed_wish {
    enum provider_verb verb;
    const char *deployment;
    const char *target;       /* for VERB_CREATE */
    const char *recipe;       /* for VERB_CREATE, or a different one for VERB_UPDATE */
    const json_t *overrides;  /* NULL: none */
    const char *place, *kind; /* `kind`: how the hardware is bought, such as "on_demand" */
    /* How long the server runs from now on. 0: for VERB_CREATE, the server has no end; for
     * VERB_EXTEND, an error; for any other verb, the end is unchanged. */
    int64_t life_s;
    const char *at_end; /* "stop" or "destroy" */
    /* 0: the number in the deployment's record; if that is 0, too, the recipe's maximum */
    int64_t replicas;
};

struct managed_plan {
    struct managed_target target;
    struct recipe recipe; /* with the overrides; recipe.document is NULL if there is no recipe */
    struct observed observed;
    struct desired desired; /* points into the other members and the frame */
    struct step *steps;
    size_t step_count;
    json_t *wish; /* for fleet_managed_row.wish: recipe, overrides, place, kind, replicas, at_end */
    json_t *document; /* for row.document: what the digest covers, and "advice" */
    struct fleet_plan_row row;
};
/* Frees the plan's members; does nothing for a zeroed plan. */
void managed_plan_finish(struct managed_plan *plan);

/* Makes a plan: reads the target, the recipe and the cloud, and has the platform check the requests
 * that it can check (dry run). Changes and stores nothing. Free with managed_plan_finish. */
CHECKED bool managed_plan_make(const struct fleet_frame *frame, const struct managed_wish *wish,
                               struct managed_plan *out, struct error *error);
/* Makes a stored plan again from the present state. CONFLICT if the new plan differs; the message
 * names what has changed. Free with managed_plan_finish. */
CHECKED bool managed_plan_again(const struct fleet_frame *frame, const struct fleet_plan_row *row,
                                struct managed_plan *out, struct error *error);

/* Reads a stored plan as it was made, but with its target as it is now. Observes nothing. Free with
 * managed_plan_finish. */
CHECKED bool managed_plan_load(const struct fleet_frame *frame, const struct fleet_plan_row *row,
                               struct managed_plan *out, struct error *error);

/* Appends the plan as text for a user: the deployment's end, what the plan changes, the cost, how
 * access is protected, the warnings, the requests, and the plan's state. */
void managed_plan_describe(const json_t *document, const struct fleet_plan_row *row,
                           struct text *out);
