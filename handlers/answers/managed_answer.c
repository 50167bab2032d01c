/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/managed_answer.h"

#include "base/json/json.h"
#include "fleet/managed/managed_check.h"
#include "handlers/answer.h"
#include "handlers/answer_row.h"

const struct field managed_answer_fields[] = {
    { "deployment", VALUE_TEXT, .help = "Its name.",
      ROW_TEXT(struct fleet_managed_row, deployment) },
    { "target", VALUE_TEXT, .help = "Where it runs.", ROW_TEXT(struct fleet_managed_row, target) },
    { "state", VALUE_TEXT,
      .help = "creating, running, stopped or failed, as last known to opsbrain.",
      ROW_TEXT(struct fleet_managed_row, state) },
    { "rights", VALUE_TEXT,
      .help = "created: deployed by opsbrain; adopted: was already running, and opsbrain may stop "
              "and destroy it; watched: was already running, and opsbrain never changes it.",
      ROW_TEXT(struct fleet_managed_row, rights) },
    { "actual", VALUE_TEXT, .optional = true,
      .help = "The platform's last report: absent, pending, starting, ready, stopping, stopped, "
              "failed or deleting." },
    { "drift", VALUE_TEXT, .optional = true, .foreign = true,
      .help = "What changed since the last completed plan, and who changed it last, if known." },
    { "problem", VALUE_TEXT, .optional = true, .foreign = true,
      .help = "What is wrong, or why it could not be observed.",
      ROW_TEXT_OR_NULL(struct fleet_managed_row, problem) },
    { "seen_at", VALUE_TEXT, .optional = true, .help = "When it was last observed, UTC.",
      ROW_TIME(struct fleet_managed_row, observed_ms) },
    { "usd_per_hour", VALUE_NUMBER, .optional = true,
      .help = "What it costs while it runs; missing: not known." },
    { "spent_usd", VALUE_NUMBER, .help = "What it has cost so far, as far as the price is known.",
      ROW_NUMBER(struct fleet_managed_row, spent_usd) },
    { "ends_at", VALUE_TEXT, .optional = true, .help = "When it ends, UTC; missing: never.",
      ROW_TIME(struct fleet_managed_row, ends_ms) },
    { "at_end", VALUE_TEXT, .optional = true, .help = "What happens at `ends_at`: stop or destroy.",
      ROW_TEXT_OR_NULL(struct fleet_managed_row, at_end) },
    { "plan", VALUE_TEXT, .optional = true, .help = "The newest plan that changed it." },
    { 0 },
};

static json_t *actual_of(const struct fleet_managed_row *row)
{
    json_auto_t *observed = answer_json_stored(row->observed);

    return answer_json_text(json_get_text(observed, "state", ""));
}

json_t *managed_answer_json(const struct fleet_managed_row *row)
{
    TEXT_AUTO drift = { 0 };

    managed_check_drift(row, &drift);
    return answer_row_take(managed_answer_fields, row,
                           json_pack("{s:o, s:o, s:o, s:o}", "actual", actual_of(row), "drift",
                                     answer_json_text(text_string(&drift)), "usd_per_hour",
                                     row->usd_known ? json_real(row->usd_per_hour) : json_null(),
                                     "plan", answer_json_text(row->plan_id)));
}

void managed_answer_describe(const struct fleet_managed_row *row, struct text *out)
{
    char time[TIME_SHOWN_SIZE];
    TEXT_AUTO drift = { 0 };

    managed_check_drift(row, &drift);
    text_addf(out, "%s on %s (%s)", row->state, row->target, row->rights);
    if (row->usd_known)
        text_addf(out, ", %.2f USD per hour, %.2f so far", row->usd_per_hour, row->spent_usd);
    if (row->ends_ms != 0)
        text_addf(out, "; %s at %s UTC", row->at_end, answer_time(row->ends_ms, time));
    else
        text_add(out, "; no end");
    if (drift.length > 0)
        text_addf(out, "; drift: %s", text_string(&drift));
    if (row->problem[0] != '\0')
        text_addf(out, "; %s", row->problem);
    text_add(out, "\n");
}
