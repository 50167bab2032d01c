/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan_search.h"

#include "bench/search/search.h"

/* An answer of one token has no gaps, so a cell that asks for such answers could never meet a limit
 * on ITL or TPOT. */
bool plan_check_limits(const struct plan *plan, struct error *error)
{
    if (plan->output_tokens[0] > 1 || (plan->limits.itl_ms == 0 && plan->limits.tpot_ms == 0))
        return true;
    return error_set(error, ERROR_INVALID,
                     "'%s' needs answers of 2 tokens or more: 'output_tokens' contains 1",
                     plan->limits.itl_ms > 0 ? "limit_itl_ms" : "limit_tpot_ms");
}

bool plan_search_includes_level(const struct plan *plan, size_t level)
{
    return plan->search == SEARCH_FULL
           || level + search_most(plan_levels(plan)) >= plan_levels(plan);
}
