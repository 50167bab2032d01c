/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan_load.h"

static CHECKED bool check_open(const struct plan *plan, struct error *error)
{
    if (plan->rate_count == 0)
        return error_set(error, ERROR_INVALID,
                         "'request_rate' is missing: 'arrival' %s needs a list of 1 to %d rates, "
                         "in requests per second",
                         arrival_names[plan->arrival], PLAN_LEVELS);
    if (plan->concurrency_count > 1)
        return error_set(error, ERROR_INVALID,
                         "'concurrency' has %zu values: with 'arrival' %s it is the limit on "
                         "requests in flight, so give one value, or omit it (default: %d)",
                         plan->concurrency_count, arrival_names[plan->arrival], PLAN_IN_FLIGHT);
    if (plan->think_time_s > 0)
        return error_set(error, ERROR_INVALID,
                         "'think_time_s' is %g: it is only for 'arrival' closed, where users think "
                         "between requests; omit it",
                         plan->think_time_s);
    return true;
}

static CHECKED bool check_closed(const struct plan *plan, struct error *error)
{
    return plan->rate_count == 0
           || error_set(error, ERROR_INVALID,
                        "'request_rate' is for an open loop: give 'arrival' constant, poisson or "
                        "gamma, or omit request_rate");
}

bool plan_check_load(const struct plan *plan, struct error *error)
{
    if (plan->burstiness < 1 || plan->burstiness > 1)
        if (plan->arrival != ARRIVAL_GAMMA)
            return error_set(error, ERROR_INVALID,
                             "'burstiness' is %g: it is only for 'arrival' gamma; omit it",
                             plan->burstiness);
    if (plan->window_limit_s > 0 && plan->window_limit_s < plan->window_s)
        return error_set(error, ERROR_INVALID,
                         "'window_limit_s' is %g: it must not be below 'window_s', which is %g",
                         plan->window_limit_s, plan->window_s);
    return plan->arrival == ARRIVAL_CLOSED ? check_closed(plan, error) : check_open(plan, error);
}
