/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan_settings.h"

#include <inttypes.h>

#include "bench/plan/plan_members.h"

static CHECKED bool check_percentile(const struct plan *plan, struct error *error)
{
    const struct slo *limits = &plan->limits;

    if (plan_members_is_default(plan, "limit_percentile") || limits->ttft_ms > 0
        || limits->itl_ms > 0 || limits->tpot_ms > 0 || limits->e2e_ms > 0)
        return true;
    return error_set(error, ERROR_INVALID,
                     "'limit_percentile' is p%" PRId64
                     ", but no latency limit is given: give limit_ttft_ms, limit_itl_ms, "
                     "limit_tpot_ms or limit_e2e_ms too, or omit limit_percentile",
                     limits->percentile);
}

static CHECKED bool check_think_time(const struct plan *plan, struct error *error)
{
    if (plan->think_time == THINK_FIXED || plan->think_time_s > 0)
        return true;
    return error_set(error, ERROR_INVALID,
                     "'think_time' is exponential, but 'think_time_s' is 0: %s",
                     plan->arrival == ARRIVAL_CLOSED
                         ? "give think_time_s too, or omit think_time"
                         : "omit think_time, since an open loop has no users who pause");
}

/* Refuses a timeout that is longer than request_timeout_s, unless it is the default. */
static CHECKED bool check_timeout(const struct plan *plan, const char *name, double value,
                                  struct error *error)
{
    if (plan_members_is_default(plan, name) || value <= plan->request_timeout_s)
        return true;
    return error_set(
        error, ERROR_INVALID,
        "'%s' is %g, longer than 'request_timeout_s' (%g), the limit for the whole request: "
        "give a shorter timeout, or a longer request_timeout_s",
        name, value, plan->request_timeout_s);
}

bool plan_check_settings(const struct plan *plan, struct error *error)
{
    return check_percentile(plan, error) && check_think_time(plan, error)
           && check_timeout(plan, "ttft_timeout_s", plan->ttft_timeout_s, error)
           && check_timeout(plan, "idle_timeout_s", plan->idle_timeout_s, error);
}
