/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the cost of `run`, and of `candidate` if it is given, at the prices that the call or an
 * import states. */

#include <math.h>
#include <string.h>

#include "handlers/charts/chart_request_parts.h"

#define SIDES_MAX 2

struct priced_sides {
    struct chart_request_subject subjects[SIDES_MAX];
    struct text names[SIDES_MAX];
    struct chart_price prices[SIDES_MAX];
};

static double given_price(const struct call *call, size_t index)
{
    const json_t *given = json_array_get(json_object_get(call->arguments, "usd_per_hour"), index);

    return given != NULL ? json_number_value(given) : NAN;
}

static CHECKED bool find_price(const struct call *call, size_t index, const char *id,
                               struct chart_price *out, struct error *error)
{
    double given = given_price(call, index);

    if (given > 0) {
        out->usd_per_hour = given;
        out->source = "given in the call";
        return true;
    }
    return chart_price_stated(&out->runs, out)
           || error_set(error, ERROR_INVALID,
                        "no price is known for %s: give \"usd_per_hour\", a list with the price "
                        "of all the run's chips together and, if there is a candidate, the price "
                        "of all the candidate's chips",
                        id);
}

static CHECKED bool add(struct call *call, size_t index, const char *id, struct priced_sides *sides,
                        struct error *error)
{
    struct chart_request_subject *subject = &sides->subjects[index];
    struct chart_price *price = &sides->prices[index];

    if (!chart_request_subject_find(call, id, subject, error))
        return false;
    price->runs = (struct chart_runs){ subject->runs, subject->count, NULL };
    price->date = "";
    chart_name(&price->runs, &sides->names[index]);
    price->name = text_string(&sides->names[index]);
    return find_price(call, index, id, price, error);
}

/* Makes the names of the two sides different if they are the same, as they are for runs of one
 * model on the same hardware. */
static void make_names_differ(struct priced_sides *sides)
{
    static const char *const roles[SIDES_MAX] = { " (run)", " (candidate)" };

    if (strcmp(sides->prices[0].name, sides->prices[1].name) != 0)
        return;
    for (size_t i = 0; i < SIDES_MAX; i++) {
        text_add(&sides->names[i], roles[i]);
        sides->prices[i].name = text_string(&sides->names[i]);
    }
}

static void finish(struct priced_sides *sides)
{
    for (size_t i = 0; i < SIDES_MAX; i++) {
        chart_request_subject_finish(&sides->subjects[i]);
        text_finish(&sides->names[i]);
    }
}

bool chart_request_cost(struct call *call, struct chart *out, struct error *error)
{
    const char *run = call_text(call, "run"), *candidate = call_text(call, "candidate");
    struct priced_sides sides = { 0 };
    bool found;

    if (run == NULL)
        return error_set(error, ERROR_INVALID,
                         "\"run\" is missing: cost draws a run (run_..., imp_... or swp_...)");
    found = add(call, 0, run, &sides, error)
            && (candidate == NULL || add(call, 1, candidate, &sides, error));
    if (found && candidate != NULL)
        make_names_differ(&sides);
    if (found)
        chart_cost(sides.prices, candidate == NULL ? 1 : 2, out);
    finish(&sides);
    return found;
}
