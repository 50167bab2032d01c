/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan.h"

#include <string.h>

#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "bench/plan/plan_load.h"
#include "bench/plan/plan_members.h"
#include "bench/plan/plan_search.h"
#include "bench/plan/plan_workload.h"

/* These defaults are not in plan_parameters.h, because the usual grid (plan_default.c) has
 * different ones. */
#define WINDOW_S 30
#define WARMUP_LIMIT_S 30

/* Sets the default limit on requests in flight in an open loop. A closed loop has no default: its
 * plan must give the number of users. */
static void set_in_flight(struct plan *plan)
{
    if (plan->arrival == ARRIVAL_CLOSED || plan->concurrency_count > 0)
        return;
    plan->concurrency[0] = PLAN_IN_FLIGHT;
    plan->concurrency_count = 1;
}

static CHECKED bool check_levels(const char *name, size_t count, struct error *error)
{
    return count > 0
           || error_set(error, ERROR_INVALID,
                        "'%s' is missing: give a list of 1 to %d whole numbers", name, PLAN_LEVELS);
}

bool plan_read(const json_t *arguments, struct plan *out, struct error *error)
{
    struct plan plan = { .search = SEARCH_FULL,
                         .window_s = WINDOW_S,
                         .warmup_limit_s = WARMUP_LIMIT_S };

    text_copy(plan.dataset_digest, sizeof plan.dataset_digest,
              json_get_text(arguments, "dataset_digest", ""));
    if (!plan_members_read(arguments, &plan, error))
        return false;
    set_in_flight(&plan);
    if (!check_levels("concurrency", plan.concurrency_count, error)
        || !check_levels("input_tokens", plan.input_count, error) || !plan_check_load(&plan, error)
        || !plan_check_limits(&plan, error) || !plan_check_cells(&plan, 1, error)
        || !plan_check_workload(&plan, error))
        return false;
    *out = plan;
    return true;
}

json_t *plan_to_json(const struct plan *plan)
{
    json_t *json = plan_members_to_json(plan);

    json_object_set_new(json, "dataset_digest", json_string(plan->dataset_digest));
    return json;
}

void plan_digest(const struct plan *plan, const struct deployment *deployment,
                 const struct deployment *candidate, char out[65])
{
    json_auto_t *json = json_pack("{s:o, s:s, s:I, s:I}", "plan", plan_to_json(plan), "deployment",
                                  deployment->name, "id", (json_int_t)deployment->id, "revision",
                                  (json_int_t)deployment->revision);
    FREE_AUTO char *written = NULL;

    if (candidate != NULL)
        json_object_set_new(json, "candidate",
                            json_pack("{s:s, s:I, s:I}", "deployment", candidate->name, "id",
                                      (json_int_t)candidate->id, "revision",
                                      (json_int_t)candidate->revision));
    written = json_write_canonical(json);
    digest_sha256_text(written, strlen(written), out);
}
