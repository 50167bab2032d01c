/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "bench/plan/plan_load.h"
#include "bench/plan/plan_search.h"
#include "bench/plan/plan_workload.h"

#define REQUESTS_LIMIT 10000000
#define STREAMS_LIMIT 1000

/* ---- Reading --------------------------------------------------------------------------------- */

struct list_field {
    const char *name;
    int64_t low, high, fallback; /* fallback 0: must be given */
    size_t values, count;        /* where in struct plan */
};

static const struct list_field lists[] = {
    { "concurrency", 1, 10000, 0, offsetof(struct plan, concurrency),
      offsetof(struct plan, concurrency_count) },
    { "input_tokens", 1, 1000000, 0, offsetof(struct plan, input_tokens),
      offsetof(struct plan, input_count) },
    { "output_tokens", 1, 100000, 128, offsetof(struct plan, output_tokens),
      offsetof(struct plan, output_count) },
};

struct number_field {
    const char *name;
    double low, high, fallback;
    size_t value; /* where in struct plan */
};

static const struct number_field numbers[] = {
    { "window_s", 1, 600, 30, offsetof(struct plan, window_s) },
    { "window_limit_s", 0, 3600, 0, offsetof(struct plan, window_limit_s) },
    { "ci_width", 0, 1, 0, offsetof(struct plan, ci_width) },
    { "burstiness", 0.01, 100, 1, offsetof(struct plan, burstiness) },
    { "think_time_s", 0, 3600, 0, offsetof(struct plan, think_time_s) },
    { "ramp_s", 0, 3600, 0, offsetof(struct plan, ramp_s) },
    { "warmup_limit_s", 0, 600, 30, offsetof(struct plan, warmup_limit_s) },
    { "time_limit_s", 1, 604800, 21600, offsetof(struct plan, time_limit_s) },
    { "ttft_timeout_s", 1, 3600, PLAN_TTFT_TIMEOUT_S, offsetof(struct plan, ttft_timeout_s) },
    { "idle_timeout_s", 1, 3600, PLAN_IDLE_TIMEOUT_S, offsetof(struct plan, idle_timeout_s) },
    { "request_timeout_s", 1, 3600, 600, offsetof(struct plan, request_timeout_s) },
    { "goodput_ttft_ms", 0, 3600000, 0, offsetof(struct plan, goodput_ttft_ms) },
    { "goodput_tpot_ms", 0, 3600000, 0, offsetof(struct plan, goodput_tpot_ms) },
    { "limit_ttft_ms", 0, 3600000, 0, offsetof(struct plan, limits.ttft_ms) },
    { "limit_itl_ms", 0, 3600000, 0, offsetof(struct plan, limits.itl_ms) },
    { "limit_tpot_ms", 0, 3600000, 0, offsetof(struct plan, limits.tpot_ms) },
    { "limit_e2e_ms", 0, 3600000, 0, offsetof(struct plan, limits.e2e_ms) },
    { "limit_error_rate", 0, 1, 0, offsetof(struct plan, limits.error_rate) },
    { "input_spread", 0, 2, 0, offsetof(struct plan, input_spread) },
    { "output_spread", 0, 2, 0, offsetof(struct plan, output_spread) },
    { "temperature", 0, 2, 0, offsetof(struct plan, temperature) },
    { "top_p", 0, 1, 0, offsetof(struct plan, top_p) },
    { "presence_penalty", -2, 2, 0, offsetof(struct plan, presence_penalty) },
    { "frequency_penalty", -2, 2, 0, offsetof(struct plan, frequency_penalty) },
};

struct integer_field {
    const char *name;
    int64_t low, high, fallback;
    size_t value; /* where in struct plan */
};

static const struct integer_field integers[] = {
    { "repetitions", 1, 20, 1, offsetof(struct plan, repetitions) },
    { "requests", 0, REQUESTS_LIMIT, 0, offsetof(struct plan, requests) },
    { "http2_streams", 0, STREAMS_LIMIT, 0, offsetof(struct plan, http2_streams) },
    { "shared_prefix_tokens", 0, 1000000, 0, offsetof(struct plan, shared_prefix_tokens) },
    { "prefix_pools", 1, 100000, 1, offsetof(struct plan, prefix_pools) },
    { "top_k", 0, 1000000, 0, offsetof(struct plan, top_k) },
};

struct choice_field {
    const char *name;
    const char *choices[5]; /* by number; the first is the default */
    size_t value;           /* where in struct plan: an enum */
};

static const struct choice_field choices[] = {
    { "api", { "completions", "chat" }, offsetof(struct plan, api) },
    { "input_distribution",
      { "fixed", "uniform", "lognormal", "dataset" },
      offsetof(struct plan, input_distribution) },
    { "output_distribution",
      { "fixed", "uniform", "lognormal", "dataset" },
      offsetof(struct plan, output_distribution) },
};

struct boolean_field {
    const char *name;
    size_t value; /* where in struct plan; false by default */
};

static const struct boolean_field booleans[] = {
    { "natural_output", offsetof(struct plan, natural_output) },
    { "unique_prompts", offsetof(struct plan, unique_prompts) },
};

#define LISTS (sizeof lists / sizeof *lists)
#define NUMBERS (sizeof numbers / sizeof *numbers)
#define INTEGERS (sizeof integers / sizeof *integers)
#define CHOICES (sizeof choices / sizeof *choices)
#define BOOLEANS (sizeof booleans / sizeof *booleans)

static void *member(struct plan *plan, size_t offset)
{
    return (char *)plan + offset;
}

static const void *member_of(const struct plan *plan, size_t offset)
{
    return (const char *)plan + offset;
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* Ascending, each once. */
static size_t sort_levels(int64_t *levels, size_t count)
{
    size_t kept = 0;

    qsort(levels, count, sizeof *levels, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || levels[kept - 1] != levels[i])
            levels[kept++] = levels[i];
    return kept;
}

static CHECKED bool read_level(const struct list_field *field, const json_t *value, int64_t *out,
                               struct error *error)
{
    if (!json_is_integer(value))
        return error_set(error, ERROR_INVALID, "'%s' is a list of whole numbers", field->name);
    if (json_integer_value(value) < field->low || json_integer_value(value) > field->high)
        return error_set(error, ERROR_INVALID, "'%s' contains %lld: it must be from %ld to %ld",
                         field->name, (long long)json_integer_value(value), field->low,
                         field->high);
    *out = json_integer_value(value);
    return true;
}

/* In a closed loop the users must be given. */
static int64_t in_flight_limit(const struct plan *plan)
{
    return plan->arrival == ARRIVAL_CLOSED ? 0 : PLAN_IN_FLIGHT;
}

static CHECKED bool read_list(const json_t *arguments, const struct list_field *field,
                              struct plan *plan, struct error *error)
{
    const json_t *list = json_object_get(arguments, field->name), *value;
    int64_t *levels = member(plan, field->values);
    size_t *count = member(plan, field->count), i;
    int64_t fallback = field == &lists[0] ? in_flight_limit(plan) : field->fallback;

    if (list == NULL && fallback > 0) {
        levels[0] = fallback;
        *count = 1;
        return true;
    }
    if (!json_is_array(list) || json_array_size(list) == 0)
        return error_set(error, ERROR_INVALID,
                         "'%s' is missing: give a list of 1 to %d whole numbers from %ld to %ld",
                         field->name, PLAN_LEVELS, field->low, field->high);
    if (json_array_size(list) > PLAN_LEVELS)
        return error_set(error, ERROR_INVALID, "'%s' has %zu values: give at most %d", field->name,
                         json_array_size(list), PLAN_LEVELS);
    json_array_foreach(list, i, value)
        if (!read_level(field, value, &levels[i], error))
            return false;
    *count = sort_levels(levels, json_array_size(list));
    return true;
}

static CHECKED bool read_number(const json_t *arguments, const struct number_field *field,
                                struct plan *plan, struct error *error)
{
    double value = json_get_number(arguments, field->name, field->fallback);

    if (!(value >= field->low && value <= field->high))
        return error_set(error, ERROR_INVALID, "'%s' is %g: it must be from %g to %g", field->name,
                         value, field->low, field->high);
    *(double *)member(plan, field->value) = value;
    return true;
}

static CHECKED bool read_integer(const json_t *arguments, const struct integer_field *field,
                                 struct plan *plan, struct error *error)
{
    int64_t value = json_get_integer(arguments, field->name, field->fallback);

    if (value < field->low || value > field->high)
        return error_set(error, ERROR_INVALID, "'%s' is %ld: it must be from %ld to %ld",
                         field->name, value, field->low, field->high);
    *(int64_t *)member(plan, field->value) = value;
    return true;
}

static CHECKED bool refuse_choice(const struct choice_field *field, const char *given,
                                  struct error *error)
{
    TEXT_AUTO names = { 0 };

    for (size_t i = 0; field->choices[i] != NULL; i++)
        text_addf(&names, "%s%s", i == 0 ? "" : " or ", field->choices[i]);
    return error_set(error, ERROR_INVALID, "'%s' is '%.40s': it must be %s", field->name, given,
                     text_string(&names));
}

static CHECKED bool read_choice(const json_t *arguments, const struct choice_field *field,
                                struct plan *plan, struct error *error)
{
    const char *given = json_get_text(arguments, field->name, field->choices[0]);

    for (int i = 0; field->choices[i] != NULL; i++)
        if (strcmp(given, field->choices[i]) == 0) {
            *(int *)member(plan, field->value) = i;
            return true;
        }
    return refuse_choice(field, given, error);
}

static CHECKED bool read_stops(const json_t *arguments, struct plan *plan, struct error *error)
{
    const json_t *list = json_object_get(arguments, "stop"), *stop;
    size_t i;

    if (json_array_size(list) > PLAN_STOPS)
        return error_set(error, ERROR_INVALID, "'stop' has %zu texts: give at most %d",
                         json_array_size(list), PLAN_STOPS);
    json_array_foreach(list, i, stop) {
        size_t length = json_string_length(stop);

        if (length == 0 || length >= PLAN_STOP_SIZE)
            return error_set(error, ERROR_INVALID,
                             "'stop' contains a text of %zu bytes: it must have 1 to %d", length,
                             PLAN_STOP_SIZE - 1);
        text_copy(plan->stop[i], PLAN_STOP_SIZE, json_string_value(stop));
    }
    plan->stop_count = json_array_size(list);
    return true;
}

static void read_dataset(const json_t *arguments, struct plan *plan)
{
    text_copy(plan->dataset, sizeof plan->dataset, json_get_text(arguments, "dataset", ""));
    text_copy(plan->dataset_digest, sizeof plan->dataset_digest,
              json_get_text(arguments, "dataset_digest", ""));
}

static CHECKED bool read_seed(const json_t *arguments, struct plan *plan, struct error *error)
{
    int64_t seed = json_get_integer(arguments, "seed", 1);

    if (seed < 0)
        return error_set(error, ERROR_INVALID, "'seed' is %ld: it must not be negative", seed);
    plan->seed = (uint64_t)seed;
    return true;
}

static CHECKED bool read_tables(const json_t *arguments, struct plan *plan, struct error *error)
{
    for (size_t i = 0; i < LISTS; i++)
        if (!read_list(arguments, &lists[i], plan, error))
            return false;
    for (size_t i = 0; i < NUMBERS; i++)
        if (!read_number(arguments, &numbers[i], plan, error))
            return false;
    for (size_t i = 0; i < INTEGERS; i++)
        if (!read_integer(arguments, &integers[i], plan, error))
            return false;
    for (size_t i = 0; i < CHOICES; i++)
        if (!read_choice(arguments, &choices[i], plan, error))
            return false;
    for (size_t i = 0; i < BOOLEANS; i++)
        *(bool *)member(plan, booleans[i].value) =
            json_get_boolean(arguments, booleans[i].name, false);
    read_dataset(arguments, plan);
    return true;
}

bool plan_read(const json_t *arguments, struct plan *out, struct error *error)
{
    struct plan plan = { 0 };

    if (!plan_arrival_read(arguments, &plan.arrival, error) || !read_tables(arguments, &plan, error)
        || !read_seed(arguments, &plan, error) || !read_stops(arguments, &plan, error)
        || !plan_load_read(arguments, &plan, error) || !plan_search_read(arguments, &plan, error)
        || !plan_check_cells(&plan, 1, error) || !plan_check_workload(&plan, error))
        return false;
    *out = plan;
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static json_t *list_to_json(const struct plan *plan, const struct list_field *field)
{
    const int64_t *levels = member_of(plan, field->values);
    size_t count = *(const size_t *)member_of(plan, field->count);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(levels[i]));
    return list;
}

static json_t *stops_to_json(const struct plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->stop_count; i++)
        json_array_append_new(list, json_string(plan->stop[i]));
    return list;
}

json_t *plan_to_json(const struct plan *plan)
{
    json_t *json = json_object();

    for (size_t i = 0; i < LISTS; i++)
        json_object_set_new(json, lists[i].name, list_to_json(plan, &lists[i]));
    for (size_t i = 0; i < INTEGERS; i++)
        json_object_set_new(json, integers[i].name,
                            json_integer(*(const int64_t *)member_of(plan, integers[i].value)));
    for (size_t i = 0; i < CHOICES; i++) {
        int value = *(const int *)member_of(plan, choices[i].value);

        json_object_set_new(json, choices[i].name, json_string(choices[i].choices[value]));
    }
    for (size_t i = 0; i < BOOLEANS; i++)
        json_object_set_new(json, booleans[i].name,
                            json_boolean(*(const bool *)member_of(plan, booleans[i].value)));
    plan_load_to_json(plan, json);
    json_object_set_new(json, "seed", json_integer((json_int_t)plan->seed));
    plan_search_to_json(plan, json);
    json_object_set_new(json, "stop", stops_to_json(plan));
    json_object_set_new(json, "dataset", json_string(plan->dataset));
    json_object_set_new(json, "dataset_digest", json_string(plan->dataset_digest));
    for (size_t i = 0; i < NUMBERS; i++) {
        double value = *(const double *)member_of(plan, numbers[i].value);

        json_object_set_new(json, numbers[i].name, json_real(value));
    }
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
