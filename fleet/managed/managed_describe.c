/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a plan as text for a user. */
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "fleet/managed/managed_plan.h"

/* The maximum number of bytes of a request's body that are shown. Almost every body is shorter, and
 * is shown whole, because a user agrees only to what is shown. */
#define BODY_BYTES 16384

static void describe_end(const json_t *advice, const struct fleet_plan_row *row, struct text *out)
{
    const char *end_sentence = json_get_text(advice, "ends_by", NULL);
    char at[CLOCK_TEXT_SIZE];

    if (strcmp(row->verb, "stop") == 0 || strcmp(row->verb, "destroy") == 0)
        return;
    if (end_sentence == NULL)
        text_addf(out, "If opsbrain is gone, NOTHING WILL STOP %s%s.\n", row->deployment,
                  row->ends_ms == 0 ? "" : " at its planned end");
    if (row->ends_ms == 0)
        text_addf(out, "%s has no end.\n", row->deployment);
    else
        text_addf(out, "%s ends at %s (%s)%s%s.\n", row->deployment,
                  clock_format_utc(row->ends_ms, at), row->at_end, end_sentence == NULL ? "" : ": ",
                  end_sentence == NULL ? "" : end_sentence);
}

static void describe_cost(const json_t *advice, const struct fleet_plan_row *row, struct text *out)
{
    const char *breakdown = json_get_text(advice, "price", "");

    if (row->usd_known)
        text_addf(out, "%.2f USD per hour%s%s.\n", row->usd_per_hour,
                  breakdown[0] == '\0' ? "" : ": ", breakdown);
    else
        text_addf(out, "The cost is not known%s%s.\n", breakdown[0] == '\0' ? "" : ": ", breakdown);
}

static void describe_step(const json_t *step, struct text *out)
{
    const json_t *body = json_object_get(step, "body");
    TEXT_AUTO written = { 0 };

    text_addf(out, "- %s\n  %s %s\n", json_get_text(step, "summary", ""),
              json_get_text(step, "method", ""), json_get_text(step, "url", ""));
    if (body == NULL)
        return;
    json_add(&written, body);
    text_add(out, "  ");
    text_add_printable(out, text_string(&written), written.length, BODY_BYTES);
    text_add(out, written.length > BODY_BYTES ? "...\n" : "\n");
}

static void describe_state(const struct fleet_plan_row *row, struct text *out)
{
    char until[CLOCK_TEXT_SIZE];

    text_addf(out, "state: %s%s%s, planned by %s, valid until %s\n", row->state,
              row->reason[0] == '\0' ? "" : ": ", row->reason, row->principal,
              clock_format_utc(row->good_until_ms, until));
}

void managed_plan_describe(const json_t *document, const struct fleet_plan_row *row,
                           struct text *out)
{
    const json_t *advice = json_object_get(document, "advice"), *item;
    const json_t *observed = json_object_get(document, "observed");
    size_t i;

    describe_end(advice, row, out);
    text_addf(out, "Plan %s: %s %s on %s", row->id, row->verb, row->deployment, row->target);
    text_addf(out, ", where it was %s when the plan was made.\n",
              json_get_boolean(observed, "exists", false) ? json_get_text(observed, "state", "")
                                                          : "absent");
    describe_cost(advice, row, out);
    text_addf(out, "Access: %s\n", json_get_text(advice, "lock", ""));
    json_array_foreach(json_object_get(advice, "warnings"), i, item)
        text_addf(out, "Warning: %s\n", json_string_value(item));
    json_array_foreach(json_object_get(document, "steps"), i, item)
        describe_step(item, out);
    describe_state(row, out);
}
