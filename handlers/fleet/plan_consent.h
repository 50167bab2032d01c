/* SPDX-License-Identifier: Apache-2.0 */
/* The go-ahead to a plan: a person's, or an agent's if the target allows that. */
#pragma once

#include "handlers/tool.h"
#include "store/fleet/fleet_plans.h"

/* Asks the person at the client, showing the requests. Only for a tool's go_ahead(). FORBIDDEN says
 * how a person agrees if the client cannot ask. */
CHECKED bool plan_consent_ask(struct call *call, const struct fleet_plan_row *row,
                              struct error *error);
/* How this call agrees: FLEET_WAY_AGENT by `confirm`, NULL if the go-ahead is already complete,
 * else FLEET_WAY_PERSON, who has to be asked. */
CHECKED bool plan_consent_way(const struct call *call, const struct fleet_plan_row *row,
                              const char **way, struct error *error);
/* Whether the plan has its go-ahead once this call agrees in that way. */
CHECKED bool plan_consent_check(const struct call *call, const struct fleet_plan_row *row,
                                const char *way, struct error *error);
