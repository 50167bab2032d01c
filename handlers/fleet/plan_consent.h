/* SPDX-License-Identifier: Apache-2.0 */
/* The go-ahead for a plan: a person's, or an agent's if the target allows that. */
#pragma once

#include "handlers/tool.h"
#include "store/fleet/fleet_plans.h"

/* Shows the plan's requests to the client's user, and asks for consent. Only for a tool's
 * go_ahead(). FORBIDDEN: the client cannot ask its user; the error message says how a person
 * can agree elsewhere. */
CHECKED bool plan_consent_ask(struct call *call, const struct fleet_plan_row *row,
                              struct error *error);
/* *way: NULL if the plan needs no further go-ahead; FLEET_WAY_AGENT if the call gives an agent's
 * go-ahead with `confirm`; otherwise FLEET_WAY_PERSON: a person has to be asked. INVALID: `confirm`
 * is not the plan's digest. FORBIDDEN: an agent may not approve the plan alone. */
CHECKED bool plan_consent_way(const struct call *call, const struct fleet_plan_row *row,
                              const char **way, struct error *error);
/* Returns true if the plan has all the approvals that it needs, including this call's approval in
 * the given way (NULL: this call does not approve the plan). Otherwise `error` says what is
 * missing. */
CHECKED bool plan_consent_check(const struct call *call, const struct fleet_plan_row *row,
                                const char *way, struct error *error);
