/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by the files in store/fleet/. They run in the caller's transaction. */
#pragma once

#include "base/core/random.h"
#include "store/engine/sql_types.h"
#include "store/ledger/change.h"

struct fleet_approval;
struct fleet_managed_row;
struct fleet_plan_row;
struct fleet_target_row;

/* Like fleet_target_find. */
CHECKED bool fleet_target_read(struct sql_connection *connection, const char *name,
                               struct fleet_target_row *out, struct error *error);
/* Like fleet_plan_find. */
CHECKED bool fleet_plan_read(struct sql_connection *connection, const char *id,
                             struct fleet_plan_row *out, struct error *error);
/* CONFLICT: the plan has already begun, or has expired. */
CHECKED bool fleet_plan_check_good(const struct fleet_plan_row *plan, int64_t now_ms,
                                   struct error *error);
/* Like fleet_plan_approvals. */
CHECKED bool fleet_plan_read_approvals(struct sql_connection *connection, const char *id,
                                       struct fleet_approval **out, size_t *count,
                                       struct error *error);
/* Stores an approval, like fleet_plan_approve, but does not check whether the plan has begun or has
 * expired. */
CHECKED bool fleet_plan_insert_approval(struct sql_connection *connection, const char *id,
                                        const char *way, int64_t now_ms,
                                        const struct change *change, struct error *error);
/* Adds the job that carries out the plan, and sets the plan's state to "applying". */
CHECKED bool fleet_plan_queue(struct sql_connection *connection, const struct fleet_plan_row *plan,
                              const char *principal, int64_t now_ms, char job_id[ID_SIZE],
                              struct error *error);
/* *found false: no deployment of that name is currently managed. Free with
 * fleet_managed_finish. */
CHECKED bool fleet_managed_read(struct sql_connection *connection, const char *deployment,
                                struct fleet_managed_row *out, bool *found, struct error *error);
/* Adds the row under a new id. CONFLICT: the deployment is already managed. */
CHECKED bool fleet_managed_insert(struct sql_connection *connection,
                                  const struct fleet_managed_row *row, struct error *error);
/* Updates spent_usd up to `now_ms` for the deployment whose row has this plan_id. */
CHECKED bool fleet_managed_count_cost(struct sql_connection *connection, const char *plan_id,
                                      int64_t now_ms, struct error *error);
