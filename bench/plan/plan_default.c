/* SPDX-License-Identifier: Apache-2.0 */
/* The grid for a caller who only wants to know how much load a server can handle. */
#include <string.h>

#include "base/json/json.h"
#include "bench/plan/plan.h"

#define INPUT_TOKENS ((json_int_t)512)

static void set_default_take(json_t *arguments, const char *name, json_t *value)
{
    if (json_object_get(arguments, name) == NULL)
        json_object_set_new(arguments, name, value);
    else
        json_decref(value);
}

void plan_set_usual_grid(json_t *arguments, int64_t context_tokens)
{
    bool is_short_context = context_tokens > 1 && context_tokens / 2 < INPUT_TOKENS;
    const char *arrival = json_get_text(arguments, "arrival", arrival_names[ARRIVAL_CLOSED]);
    bool closed = strcmp(arrival, arrival_names[ARRIVAL_CLOSED]) == 0;

    if (closed && json_object_get(arguments, "concurrency") == NULL) {
        set_default_take(arguments, "concurrency",
                         json_pack("[i,i,i,i,i,i,i,i,i,i,i,i,i,i,i]", 1, 2, 4, 6, 8, 12, 16, 24, 32,
                                   48, 64, 96, 128, 192, 256));
        set_default_take(arguments, "search", json_string("climb"));
        set_default_take(arguments, "window_s", json_integer(10));
        set_default_take(arguments, "warmup_limit_s", json_integer(10));
    }
    if (json_get_text(arguments, "dataset", NULL) == NULL)
        set_default_take(
            arguments, "input_tokens",
            json_pack("[I]", is_short_context ? (json_int_t)(context_tokens / 2) : INPUT_TOKENS));
}
