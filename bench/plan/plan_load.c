/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/plan_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

#define RATE_LOW 0.001
#define RATE_HIGH 20000

bool plan_arrival_read(const json_t *arguments, enum arrival *out, struct error *error)
{
    const char *given = json_get_text(arguments, "arrival", arrival_name(ARRIVAL_CLOSED));

    for (enum arrival arrival = ARRIVAL_CLOSED; arrival < ARRIVAL_COUNT; arrival++)
        if (strcmp(given, arrival_name(arrival)) == 0) {
            *out = arrival;
            return true;
        }
    return error_set(error, ERROR_INVALID,
                     "'arrival' is '%.40s': it must be closed, constant, poisson or gamma", given);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Ascending, each once. */
static size_t sort_rates(double *rates, size_t count)
{
    size_t kept = 0;

    qsort(rates, count, sizeof *rates, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || rates[kept - 1] < rates[i])
            rates[kept++] = rates[i];
    return kept;
}

static CHECKED bool read_rates(const json_t *list, struct plan *plan, struct error *error)
{
    const json_t *value;
    size_t i;

    if (json_array_size(list) > PLAN_LEVELS)
        return error_set(error, ERROR_INVALID, "'request_rate' has %zu values: give at most %d",
                         json_array_size(list), PLAN_LEVELS);
    json_array_foreach(list, i, value) {
        plan->request_rate[i] = json_number_value(value);
        if (!json_is_number(value)
            || !(plan->request_rate[i] >= RATE_LOW && plan->request_rate[i] <= RATE_HIGH))
            return error_set(error, ERROR_INVALID,
                             "'request_rate' contains %g: it must be from %g to %d requests per "
                             "second",
                             plan->request_rate[i], RATE_LOW, RATE_HIGH);
    }
    plan->rate_count = sort_rates(plan->request_rate, json_array_size(list));
    return true;
}

/* What belongs to the other kind of loop is refused, not ignored. */
static CHECKED bool check_open(const struct plan *plan, struct error *error)
{
    if (plan->rate_count == 0)
        return error_set(error, ERROR_INVALID,
                         "'request_rate' is missing: 'arrival' %s needs a list of 1 to %d rates in "
                         "requests per second",
                         arrival_name(plan->arrival), PLAN_LEVELS);
    if (plan->concurrency_count > 1)
        return error_set(error, ERROR_INVALID,
                         "'concurrency' has %zu values: with 'arrival' %s it is the most requests "
                         "in flight, so give one, or none (%d)",
                         plan->concurrency_count, arrival_name(plan->arrival), PLAN_IN_FLIGHT);
    if (plan->think_time_s > 0)
        return error_set(error, ERROR_INVALID,
                         "'think_time_s' is %g: it is for 'arrival' closed, where users think "
                         "between requests; leave it out",
                         plan->think_time_s);
    return true;
}

static CHECKED bool check_closed(const struct plan *plan, struct error *error)
{
    return plan->rate_count == 0
           || error_set(error, ERROR_INVALID,
                        "'request_rate' is for an open loop: say 'arrival' constant, poisson or "
                        "gamma, or leave it out");
}

static CHECKED bool check(const struct plan *plan, struct error *error)
{
    if (plan->burstiness < 1 || plan->burstiness > 1)
        if (plan->arrival != ARRIVAL_GAMMA)
            return error_set(error, ERROR_INVALID,
                             "'burstiness' is %g: it is for 'arrival' gamma; leave it out",
                             plan->burstiness);
    if (plan->window_limit_s > 0 && plan->window_limit_s < plan->window_s)
        return error_set(error, ERROR_INVALID,
                         "'window_limit_s' is %g: it must not be below 'window_s', which is %g",
                         plan->window_limit_s, plan->window_s);
    return plan->arrival == ARRIVAL_CLOSED ? check_closed(plan, error) : check_open(plan, error);
}

bool plan_load_read(const json_t *arguments, struct plan *plan, struct error *error)
{
    const char *think = json_get_text(arguments, "think_time", "fixed");

    plan->thinks_exponential = strcmp(think, "exponential") == 0;
    if (!plan->thinks_exponential && strcmp(think, "fixed") != 0)
        return error_set(error, ERROR_INVALID,
                         "'think_time' is '%.40s': it must be fixed or exponential", think);
    return read_rates(json_object_get(arguments, "request_rate"), plan, error)
           && check(plan, error);
}

void plan_load_to_json(const struct plan *plan, json_t *json)
{
    json_t *rates = json_array();

    for (size_t i = 0; i < plan->rate_count; i++)
        json_array_append_new(rates, json_real(plan->request_rate[i]));
    json_object_set_new(json, "arrival", json_string(arrival_name(plan->arrival)));
    json_object_set_new(json, "request_rate", rates);
    json_object_set_new(json, "think_time",
                        json_string(plan->thinks_exponential ? "exponential" : "fixed"));
}
