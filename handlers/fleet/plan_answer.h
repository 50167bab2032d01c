/* SPDX-License-Identifier: Apache-2.0 */
/* Shows deployment plans in answers, and has the functions that the tools for plans share. */
#pragma once

#include "fleet/managed/managed_plan.h"
#include "handlers/tool.h"

#define PARAM_MANAGED_DEPLOYMENT                                                                   \
    {                                                                                              \
        "deployment", VALUE_TEXT, .required = true, .low = 1, .high = 63,                          \
                                  .help = "A managed deployment."                                  \
    }

#define PLAN_VERB_HELP                                                                             \
    "What it does to the deployment: create, update, start, stop, scale, extend or destroy."

extern const struct field plan_answer_fields[];
/* Writes the plan to `answer`, as structure and as text. */
CHECKED bool plan_answer_write(struct store *store, const struct fleet_plan_row *row,
                               struct answer *answer, struct error *error);
/* Does the same, and sets the page that shows the plan. */
CHECKED bool plan_answer(const struct call *call, const struct fleet_plan_row *row,
                         struct answer *answer, struct error *error);

/* Makes the plan, stores it and answers with it. */
CHECKED bool plan_answer_make(struct call *call, const struct managed_wish *wish,
                              struct answer *answer, struct error *error);
/* Fills a wish from the arguments deployment, target, recipe, region, kind, at_end, life_s and
 * replicas. An argument that the call does not give has its default; if it has no default, it is
 * "" or 0. The strings are borrowed from the call. */
struct managed_wish plan_answer_wish(const struct call *call, enum provider_verb verb);
/* The argument `overrides`, with numbers and booleans in place of strings such as "8" or "true"; {}
 * if the call does not give it. New reference. */
json_t *plan_answer_overrides(const struct call *call);

/* Makes and stores a plan to change a managed deployment, and answers with it. FORBIDDEN: as for
 * plan_answer_check_owner. */
CHECKED bool plan_answer_change(struct call *call, enum provider_verb verb, struct answer *answer,
                                struct error *error);

/* FORBIDDEN: the caller is not an admin, and somebody else planned the creation of the managed
 * deployment, or adopted it. Returns true if no managed deployment has that name. */
CHECKED bool plan_answer_check_owner(const struct call *call, const char *name,
                                     struct error *error);
/* FORBIDDEN: the database was moved or restored, so that opsbrain only reads the clouds, and
 * changes nothing there, until an administrator runs `opsbrain fleet resume`. */
CHECKED bool plan_answer_check_not_moved(const struct fleet_frame *frame, struct error *error);

/* Begins a stored plan unless it has already begun, wakes the workers, and answers with the plan's
 * job. `way`: how this call gives the go-ahead (FLEET_WAY_...); NULL: the plan already has it. */
CHECKED bool plan_answer_begin(struct call *call, const struct fleet_plan_row *row, const char *way,
                               struct answer *answer, struct error *error);
extern const struct field plan_answer_begun_fields[];
