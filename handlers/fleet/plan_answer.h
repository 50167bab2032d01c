/* SPDX-License-Identifier: Apache-2.0 */
/* Plans in answers, and functions that tools for plans share. */
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
/* Structure and text. */
CHECKED bool plan_answer_write(struct store *store, const struct fleet_plan_row *row,
                               struct answer *answer, struct error *error);
/* The same, with the page that shows it. */
CHECKED bool plan_answer(const struct call *call, const struct fleet_plan_row *row,
                         struct answer *answer, struct error *error);

/* Makes the plan, stores it and answers with it. */
CHECKED bool plan_answer_make(struct call *call, const struct managed_wish *wish,
                              struct answer *answer, struct error *error);
/* The members of a wish that the call gives under the usual names; the others are empty. */
struct managed_wish plan_answer_wish(const struct call *call, enum provider_verb verb);
/* Its argument `overrides`, {} without one. New reference. */
json_t *plan_answer_overrides(const struct call *call);

/* Makes and stores the plan of a change to a managed deployment, which only its owner and admins
 * may plan, and answers with it. */
CHECKED bool plan_answer_change(struct call *call, enum provider_verb verb, struct answer *answer,
                                struct error *error);

/* Only its owner and admins may change a managed deployment. */
CHECKED bool plan_answer_check_owner(const struct call *call, const char *name,
                                     struct error *error);
/* CONFLICT while a sweep measures it: its cells would be measured on two servers, or on none. */
CHECKED bool plan_answer_check_idle(const struct call *call, const char *name, struct error *error);
/* FORBIDDEN while the database only reads the clouds. */
CHECKED bool plan_answer_check_place(const struct fleet_frame *frame, struct error *error);

/* Begins a stored plan, wakes the jobs, and answers with the job. */
CHECKED bool plan_answer_begin(struct call *call, const struct fleet_plan_row *row, const char *way,
                               struct answer *answer, struct error *error);
extern const struct field plan_answer_begun_fields[];
