/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_plan: estimates what a benchmark would take, before it is started. */

#include <inttypes.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/answers/sweep_answer.h"
#include "handlers/sweeps/corrections.h"
#include "handlers/sweeps/reviewed_plans.h"
#include "handlers/sweeps/sweep_request.h"

#define PAIRS_MIN 5         /* with fewer pairs, a comparison finds only large differences */
#define SEARCH_LOADS_MIN 10 /* with fewer loads, an adaptive search saves little */

static const struct param params[] = {
    PARAM_DEPLOYMENT,        PARAM_CANDIDATE,
#include "bench/plan/plan_parameters.h"
    PARAM_PLAN_DIGEST(true), PARAMS_ORDER,    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_TEXT, .help = "Deployment that would be measured." },
    { "revision", VALUE_INTEGER, .help = "Its revision." },
    { "candidate", VALUE_TEXT, .optional = true,
      .help = "Deployment that it would alternate with; missing: none." },
    { "cells", VALUE_INTEGER,
      .help = "Cells to measure: the grid's points x repetitions x deployments. For an adaptive "
              "search, the maximum; it usually measures at most half of them." },
    { "grid_cells", VALUE_INTEGER, .sparse = true,
      .help = "Cells in the whole grid, if more than `cells`." },
    { "requests", VALUE_INTEGER, .help = "Maximum number of requests, given the assumption." },
    { "input_tokens", VALUE_INTEGER, .help = "Maximum number of prompt tokens." },
    { "output_tokens", VALUE_INTEGER, .help = "Maximum number of generated tokens." },
    { "duration_s", VALUE_NUMBER,
      .help = "Maximum duration in seconds, given the assumption and the time limit." },
    { "assumption", VALUE_TEXT, .help = "What the upper bounds assume about the server." },
    { "infeasible_cells", VALUE_INTEGER, .optional = true,
      .help = "Cells that do not fit in the model's context; missing: the context is not known, or "
              "the prompts come from a dataset." },
    { "needs_go_ahead", VALUE_BOOLEAN,
      .help =
          "True: more than 60 minutes or 10 million tokens, so sweep_start needs plan_digest." },
    { "plan_digest", VALUE_TEXT,
      .help = "Give it to sweep_start, alone or with the same arguments." },
    { "plan", VALUE_OBJECT, .defaults_of = "sweep_plan",
      .help = "The plan, without the options that have their default values." },
    { "options", VALUE_TEXT, .optional = true,
      .help = "Other `options` and their defaults; missing if the call changes any of them." },
    { "warnings", VALUE_LIST, .help = "What to consider before the start." },
    FIELD_NEXT_STEP,
    { 0 },
};

/* Adds to *out the number of cells whose prompt and output together do not fit in the model's
 * context. *known: false if the context is not known or the prompts come from a dataset; then
 * nothing is added. */
static CHECKED bool count_infeasible(const struct call *call, const struct deployment *deployment,
                                     const struct plan *plan, bool *known, int64_t *out,
                                     struct error *error)
{
    struct model_facts facts = { 0 };

    if (!model_facts_latest(call->services->store, deployment->id, &facts, known, error))
        return false;
    *known = *known && facts.revision == deployment->revision
             && facts.context_tokens > 0
             /* from a dataset, only the prompts that fit are sent */
             && plan->input_distribution != DISTRIBUTION_DATASET;
    for (size_t i = 0; *known && i < plan->input_count; i++)
        for (size_t j = 0; j < plan->output_count; j++)
            if (plan->input_tokens[i] + plan->output_tokens[j] > facts.context_tokens)
                *out += (int64_t)plan_levels(plan) * plan->repetitions;
    return true;
}

/* Counts the infeasible cells of all deployments. *known: whether the number is known for every
 * deployment. */
static CHECKED bool count_all_infeasible(const struct call *call,
                                         const struct sweep_request *request, bool *known,
                                         int64_t *out, struct error *error)
{
    const struct deployment *candidate = sweep_request_candidate(request);
    bool of_candidate = true;

    *out = 0;
    if (!count_infeasible(call, &request->deployment, &request->plan, known, out, error))
        return false;
    if (candidate != NULL
        && !count_infeasible(call, candidate, &request->plan, &of_candidate, out, error))
        return false;
    *known = *known && of_candidate;
    return true;
}

static void warn_of_comparison(const struct sweep_request *request, json_t *warnings)
{
    if (request->subjects < 2)
        return;
    if (request->plan.repetitions < PAIRS_MIN)
        json_array_append_new(
            warnings, json_string("with fewer than 5 pairs of runs, a comparison finds only large "
                                  "differences: increase \"repetitions\""));
    if (request->same_server)
        json_array_append_new(
            warnings,
            json_string("both deployments have the same host and port: if the model is the same "
                        "too, this sweep compares a server with itself and shows only noise"));
}

/* Returns true if the plan is a closed loop, and its `requests` are fewer than two for each user at
 * the largest concurrency: a window with so few requests sees a burst, not a steady load. */
static bool is_burst(const struct plan *plan)
{
    return plan->requests > 0 && plan->arrival == ARRIVAL_CLOSED
           && plan->requests < 2 * plan->concurrency[plan->concurrency_count - 1];
}

static json_t *list_warnings(const struct call *call, const struct sweep_request *request,
                             int64_t infeasible)
{
    const struct plan *plan = &request->plan;
    json_t *warnings = json_array();

    if (plan->output_tokens[0] < 16)
        json_array_append_new(warnings,
                              json_string("answers under 16 tokens say nothing about generation "
                                          "speed or speculative decoding"));
    if (plan->repetitions == 1 && request->subjects == 1)
        json_array_append_new(
            warnings,
            json_string(
                "one repetition shows no spread: it takes 3 or more to tell a real difference "
                "from noise"));
    if (plan->window_s < 5)
        json_array_append_new(warnings, json_string("a window under 5 s holds few long requests"));
    if (is_burst(plan))
        json_array_append_new(
            warnings, json_string("\"requests\" is less than twice the largest concurrency: such "
                                  "a window sees a burst, not a steady load"));
    if (plan->search == SEARCH_ADAPTIVE && plan_levels(plan) < SEARCH_LOADS_MIN)
        json_array_append_new(
            warnings,
            json_string("an adaptive search saves little with fewer than 10 loads: give a "
                        "finer list, such as 24 loads from 1 to 512"));
    if (infeasible > 0)
        json_array_append_new(warnings,
                              json_string("some cells do not fit in the model's context: they "
                                          "will be reported as infeasible"));
    if (sweep_request_digest_differs(call, request))
        json_array_append_new(warnings,
                              json_string("the given plan_digest belongs to a different plan: "
                                          "pass the one returned here to sweep_start"));
    warn_of_comparison(request, warnings);
    return warnings;
}

static void write_text(const struct sweep_request *request, const json_t *plan,
                       const json_t *warnings, struct text *out)
{
    const struct plan_estimate *estimate = &request->estimate;
    char duration[DURATION_SHOWN_SIZE], input[DURATION_SHOWN_SIZE], output[DURATION_SHOWN_SIZE];
    size_t i;
    json_t *warning;

    text_add(out, "Plan for ");
    sweep_request_name(request, out);
    if (estimate->cells < estimate->grid_cells)
        text_addf(out, ": at most %" PRId64 " of %" PRId64 " cells, by adaptive search.\n",
                  estimate->cells, estimate->grid_cells);
    else
        text_addf(out, ": %" PRId64 " cell%s.\n", estimate->cells, estimate->cells == 1 ? "" : "s");
    text_addf(out,
              "At most %s, %" PRId64 " requests, %s input and %s output tokens (assumed: %s).\n",
              answer_duration(estimate->duration_s, duration), estimate->requests,
              answer_count(estimate->input_tokens, input),
              answer_count(estimate->output_tokens, output), estimate->assumption);
    sweep_answer_describe_plan(plan, out);
    json_array_foreach(warnings, i, warning)
        text_addf(out, "Warning: %s.\n", json_string_value(warning));
    text_addf(out, "plan_digest: %s\n", request->digest);
}

/* Refuses a `corrects` that sweep_start would refuse. */
static CHECKED bool check_corrections(const struct call *call, const struct sweep_request *request,
                                      struct error *error)
{
    FREE_AUTO struct correction *corrections = NULL;
    size_t count;

    return corrections_find(call->services->store, call_text(call, "corrects"), request,
                            &corrections, &count, error);
}

static bool is_at_default(const struct call *call, const struct param *param)
{
    const json_t *value = json_object_get(call->arguments, param->name);
    json_auto_t *initial =
        param->initial == NULL ? NULL : json_loads(param->initial, JSON_DECODE_ANY, NULL);

    return value == NULL || json_equal(value, initial);
}

/* Tells the agent which other options there are. An agent that set one of them to a value other
 * than its default already knows them: then nothing is added. */
static void add_options(const struct call *call, struct answer *answer)
{
    TEXT_AUTO options = { 0 }, aside = { 0 };

    for (const struct param *param = params; param->name != NULL; param++) {
        if (!param->rare)
            continue;
        if (!is_at_default(call, param))
            return;
        text_addf(&options, "%s%s=%s", options.length == 0 ? "" : ", ", param->name,
                  param->initial != NULL ? param->initial : "");
    }
    json_object_set_new(answer->structured, "options", json_string(text_string(&options)));
    text_addf(&aside, "More `options` (opsbrain://arguments/sweep_plan): %s.\n",
              text_string(&options));
    answer_aside(answer, text_string(&aside));
}

/* Remembers the plan for sweep_start, which may be called with the digest alone. */
static void keep(const struct call *call, const char *digest)
{
    json_auto_t *arguments = json_copy(json_iterable(call->arguments));

    json_object_del(arguments, "plan_digest");
    reviewed_plans_keep(call->services->reviewed_plans, call->principal.name, digest, arguments);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct sweep_request request;
    const struct plan_estimate *estimate = &request.estimate;
    const char *next;
    bool known = false;
    int64_t infeasible;
    json_t *warnings, *plan;

    if (!sweep_request_read(call, &request, error) || !check_corrections(call, &request, error)
        || !count_all_infeasible(call, &request, &known, &infeasible, error))
        return false;
    next = request.needs_go_ahead
               ? "show the estimate to whoever decides; then sweep_start with this plan_digest"
               : "sweep_start with this plan_digest";
    warnings = list_warnings(call, &request, infeasible);
    plan = plan_to_json(&request.plan);
    write_text(&request, plan, warnings, &answer->text);
    answer->structured = json_pack(
        "{s:s, s:I, s:s?, s:I, s:I, s:I, s:I, s:I, s:f, s:s, s:o, s:b, s:s, s:o, s:o}",
        "deployment", request.deployment.name, "revision", (json_int_t)request.deployment.revision,
        "candidate", request.subjects > 1 ? request.candidate.name : NULL, "cells",
        (json_int_t)estimate->cells, "grid_cells",
        (json_int_t)(estimate->grid_cells > estimate->cells ? estimate->grid_cells : 0), "requests",
        (json_int_t)estimate->requests, "input_tokens", (json_int_t)estimate->input_tokens,
        "output_tokens", (json_int_t)estimate->output_tokens, "duration_s", estimate->duration_s,
        "assumption", estimate->assumption, "infeasible_cells",
        known ? json_integer(infeasible) : json_null(), "needs_go_ahead", request.needs_go_ahead,
        "plan_digest", request.digest, "plan", plan, "warnings", warnings);
    answer_next(answer, next);
    add_options(call, answer);
    keep(call, request.digest);
    return true;
}

const struct tool tool_sweep_plan = {
    .name = "sweep_plan",
    .title = "Plan a benchmark",
    .help = "Estimates a benchmark over users x input tokens x output tokens: cells, time, "
            "tokens, warnings, plan_digest. Sends nothing to the server.",
    .more = "The figures are upper bounds. With the plan_digest, sweep_start starts exactly this "
            "plan; large plans (over 60 minutes or 10 million tokens) require it. With `search` "
            "adaptive and limit_... options, the sweep searches for the saturation point and the "
            "largest load within the limits, in a fraction of the cells. With `candidate`, it is "
            "an A/B sweep that alternates between two deployments.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
