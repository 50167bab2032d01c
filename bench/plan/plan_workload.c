/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan_workload.h"

#include <string.h>

#include "base/json/json.h"

const char *const distribution_names[] = {
    [DISTRIBUTION_FIXED] = "fixed",
    [DISTRIBUTION_UNIFORM] = "uniform",
    [DISTRIBUTION_LOGNORMAL] = "lognormal",
    [DISTRIBUTION_DATASET] = "dataset",
    NULL,
};

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_drawn(enum distribution distribution)
{
    return distribution == DISTRIBUTION_UNIFORM || distribution == DISTRIBUTION_LOGNORMAL;
}

/* `name` is "input" or "output". */
static CHECKED bool check_spread(const char *name, enum distribution distribution, double spread,
                                 struct error *error)
{
    if (!is_drawn(distribution) && spread != 0)
        return error_set(error, ERROR_INVALID,
                         "'%s_spread' is %g, but the lengths are not drawn at random: give "
                         "%s_distribution uniform or lognormal, or omit %s_spread",
                         name, spread, name, name);
    if (is_drawn(distribution) && spread == 0)
        return error_set(error, ERROR_INVALID,
                         "'%s_spread' is missing: %s lengths need one, such as 0.5", name,
                         distribution == DISTRIBUTION_UNIFORM ? "uniform" : "lognormal");
    if (distribution == DISTRIBUTION_UNIFORM && spread > 1)
        return error_set(error, ERROR_INVALID,
                         "'%s_spread' is %g: for uniform lengths it must be at most 1", name,
                         spread);
    return true;
}

static CHECKED bool check_prefix(const struct plan *plan, struct error *error)
{
    int64_t prefix = plan->shared_prefix_tokens, shortest = plan->input_tokens[0];

    if (prefix == 0 && plan->prefix_pools > 1)
        return error_set(error, ERROR_INVALID,
                         "'prefix_pools' is %ld, but nothing is shared: give shared_prefix_tokens "
                         "too",
                         plan->prefix_pools);
    if (prefix >= shortest)
        return error_set(error, ERROR_INVALID,
                         "'shared_prefix_tokens' is %ld: it must be less than every value of "
                         "input_tokens (the smallest is %ld), as these include the prefix",
                         prefix, shortest);
    if (prefix * plan->prefix_pools > PLAN_PREFIX_TOKENS)
        return error_set(error, ERROR_INVALID,
                         "%ld 'prefix_pools' of %ld shared_prefix_tokens are %ld tokens: at most "
                         "%d are allowed in total",
                         plan->prefix_pools, prefix, prefix * plan->prefix_pools,
                         PLAN_PREFIX_TOKENS);
    return true;
}

static CHECKED bool check_dataset(const struct plan *plan, struct error *error)
{
    bool by_dataset = plan->input_distribution == DISTRIBUTION_DATASET;

    if (plan->dataset[0] == '\0'
        && (by_dataset || plan->output_distribution == DISTRIBUTION_DATASET
            || plan->unique_prompts))
        return error_set(
            error, ERROR_INVALID,
            "'dataset' is missing: the distribution 'dataset' and unique_prompts need a dataset");
    if (plan->dataset[0] != '\0' && !by_dataset)
        return error_set(error, ERROR_INVALID,
                         "a dataset's prompts have lengths of their own: omit input_distribution");
    if (plan->dataset[0] != '\0' && plan->shared_prefix_tokens > 0)
        return error_set(
            error, ERROR_INVALID,
            "'shared_prefix_tokens' cannot be combined with a dataset: omit one of them");
    return true;
}

bool plan_check_workload(const struct plan *plan, struct error *error)
{
    if (plan->stop_count > 0 && !plan->natural_output)
        return error_set(error, ERROR_INVALID,
                         "'stop' ends answers early: give natural_output true, so that short "
                         "answers are not failures");
    return check_spread("input", plan->input_distribution, plan->input_spread, error)
           && check_spread("output", plan->output_distribution, plan->output_spread, error)
           && check_prefix(plan, error) && check_dataset(plan, error);
}

/* ---- Writing --------------------------------------------------------------------------------- */

json_t *plan_workload_specification(const struct plan *plan)
{
    static const char *const members[] = {
        "seed",           "input_distribution",   "input_spread",      "output_distribution",
        "output_spread",  "shared_prefix_tokens", "prefix_pools",      "natural_output",
        "dataset_digest", "unique_prompts",       "temperature",       "top_p",
        "top_k",          "presence_penalty",     "frequency_penalty", "stop",
    };
    json_auto_t *all = plan_to_json(plan);
    json_t *json = json_object();

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set(json, members[i], json_object_get(all, members[i]));
    return json;
}

static void add_number(struct text *out, const char *name, double value)
{
    if (value != 0)
        text_addf(out, ",\"%s\":%.15g", name, value);
}

void plan_sampling(const struct plan *plan, struct text *out)
{
    text_addf(out, "\"temperature\":%.15g", plan->temperature);
    add_number(out, "top_p", plan->top_p);
    add_number(out, "top_k", (double)plan->top_k);
    add_number(out, "presence_penalty", plan->presence_penalty);
    add_number(out, "frequency_penalty", plan->frequency_penalty);
    for (size_t i = 0; i < plan->stop_count; i++) {
        text_add(out, i == 0 ? ",\"stop\":[" : ",");
        json_add_string(out, plan->stop[i], strlen(plan->stop[i]));
    }
    text_add(out, plan->stop_count > 0 ? "]" : "");
}

bool plan_has_sampling(const struct plan *plan)
{
    return plan->top_p != 0 || plan->top_k != 0 || plan->presence_penalty != 0
           || plan->frequency_penalty != 0 || plan->stop_count > 0;
}
