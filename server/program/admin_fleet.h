/* SPDX-License-Identifier: Apache-2.0 */
/* The administration requests about the fleet; see admin.h. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

struct access;

/* {"command": "plan_show", "plan"}: the reply has "text" (the plan's requests, and the cost and the
 * planned end of its deployment), "digest", and "plan" as the tool plan_show returns it. */
CHECKED bool admin_fleet_show_plan(const struct access *access, const json_t *request,
                                   json_t **reply, struct error *error);
/* {"command": "plan_approve", "plan"}: approves the plan; the reply is as for plan_show. */
CHECKED bool admin_fleet_approve_plan(const struct access *access, const json_t *request,
                                      json_t **reply, struct error *error);
/* {"command": "fleet_resume"}: lets opsbrain change a moved database's clouds again
 * (fleet_place.h). */
CHECKED bool admin_fleet_resume(const struct access *access, const json_t *request, json_t **reply,
                                struct error *error);
