/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "bench/search/search.h"

static const char *const searches[] = {
    [SEARCH_FULL] = "full",
    [SEARCH_ADAPTIVE] = "adaptive",
    [SEARCH_CLIMB] = "climb",
};

static bool find_search(const char *name, enum plan_search *out)
{
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        if (strcmp(searches[i], name) == 0) {
            *out = (enum plan_search)i;
            return true;
        }
    return false;
}

static CHECKED bool read_search(const json_t *arguments, struct plan *plan, struct error *error)
{
    const char *search = json_get_text(arguments, "search", "full");
    const char *percentile = json_get_text(arguments, "limit_percentile", "p99");
    int64_t number = strtol(percentile + (percentile[0] != '\0'), NULL, 10);

    if (!find_search(search, &plan->search))
        return error_set(error, ERROR_INVALID,
                         "'search' is '%.40s': it must be full, adaptive or climb", search);
    if (percentile[0] != 'p' || strlen(percentile) != 3
        || (number != 50 && number != 90 && number != 95 && number != 99))
        return error_set(error, ERROR_INVALID,
                         "'limit_percentile' is '%.40s': it must be p50, p90, p95 or p99",
                         percentile);
    plan->limits.percentile = number;
    return true;
}

/* An answer of one token has no gap: such a cell could never meet a limit of ITL or TPOT. */
static CHECKED bool check_limits(const struct plan *plan, struct error *error)
{
    if (plan->output_tokens[0] > 1 || (plan->limits.itl_ms == 0 && plan->limits.tpot_ms == 0))
        return true;
    return error_set(error, ERROR_INVALID,
                     "'%s' needs answers of 2 tokens or more: 'output_tokens' contains 1",
                     plan->limits.itl_ms > 0 ? "limit_itl_ms" : "limit_tpot_ms");
}

bool plan_search_read(const json_t *arguments, struct plan *plan, struct error *error)
{
    return read_search(arguments, plan, error) && check_limits(plan, error);
}

void plan_search_to_json(const struct plan *plan, json_t *out)
{
    char percentile[24];

    snprintf(percentile, sizeof percentile, "p%" PRId64, plan->limits.percentile);
    json_object_set_new(out, "search", json_string(searches[plan->search]));
    json_object_set_new(out, "limit_percentile", json_string(percentile));
}

bool plan_search_may_measure(const struct plan *plan, size_t level)
{
    return plan->search == SEARCH_FULL
           || level + search_most(plan_levels(plan)) >= plan_levels(plan);
}
