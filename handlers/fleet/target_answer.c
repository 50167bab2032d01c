/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/fleet/target_answer.h"

#include <string.h>

#include "handlers/answer.h"
#include "handlers/answer_row.h"

const struct field target_answer_fields[] = {
    { "name", VALUE_TEXT, .help = "Its name.", ROW_TEXT(struct fleet_target_row, name) },
    { "revision", VALUE_INTEGER,
      .help = "Incremented by every change; a plan is valid for one revision.",
      ROW_INTEGER(struct fleet_target_row, revision) },
    { "provider", VALUE_TEXT,
      .help = "The platform: cloud_run, compute_engine, cloud_tpu, kubernetes or local.",
      ROW_TEXT(struct fleet_target_row, provider) },
    { "place", VALUE_TEXT_MAP, .sparse = true,
      .help = "Project, namespace, network and the like, as the platform needs them.",
      ROW_JSON(struct fleet_target_row, place) },
    { "regions", VALUE_TEXTS, .sparse = true,
      .help = "Regions or zones; the first is the default." },
    { "source_ranges", VALUE_TEXTS, .sparse = true,
      .help = "Networks that may reach the deployed servers." },
    { "recipes", VALUE_TEXTS, .sparse = true, .help = "Recipes that it allows; missing: all." },
    { "credential", VALUE_TEXT, .help = "Kind of its credential.",
      ROW_TEXT(struct fleet_target_row, credential) },
    { "credential_file", VALUE_TEXT, .optional = true,
      .help = "Name of the credential's file in the secrets folder.",
      ROW_TEXT_OR_NULL(struct fleet_target_row, credential_file) },
    { "proxy", VALUE_TEXT, .optional = true, .help = "Proxy for calls to the platform.",
      ROW_TEXT_OR_NULL(struct fleet_target_row, proxy) },
    { "usd_per_hour", VALUE_NUMBER, .help = "Maximum for one deployment.",
      ROW_NUMBER(struct fleet_target_row, deployment_usd) },
    { "total_usd_per_hour", VALUE_NUMBER,
      .help = "Maximum for all deployments on the target together.",
      ROW_NUMBER(struct fleet_target_row, total_usd) },
    { "life_limit_s", VALUE_INTEGER, .optional = true, .help = "Longest life; missing: no limit.",
      ROW_INTEGER_OR_NULL(struct fleet_target_row, life_limit_s) },
    { "allows_no_price", VALUE_BOOLEAN, .sparse = true, .help = "An unknown cost is allowed." },
    { "allows_no_end", VALUE_BOOLEAN, .sparse = true, .help = "A deployment may have no end." },
    { "allows_no_guard", VALUE_BOOLEAN, .sparse = true,
      .help = "A deployment may have an end that only opsbrain enforces." },
    { "needs_two", VALUE_BOOLEAN, .sparse = true,
      .help = "Two people must agree to a plan, unless it stops or destroys a deployment." },
    { "agent_usd_per_hour", VALUE_NUMBER, .sparse = true,
      .help = "Maximum that an agent may approve alone.",
      ROW_NUMBER(struct fleet_target_row, agent_usd) },
    { "agent_usd_per_life", VALUE_NUMBER, .sparse = true,
      .help = "The same for the whole life of a deployment.",
      ROW_NUMBER(struct fleet_target_row, agent_life_usd) },
    { "changed_by", VALUE_TEXT, .help = "Who made this revision.",
      ROW_TEXT(struct fleet_target_row, created_by) },
    { "changed_at", VALUE_TEXT, .optional = true, .help = "When it was made, UTC.",
      ROW_TIME(struct fleet_target_row, changed_ms) },
    { 0 },
};

static json_t *list_of(const char *json)
{
    json_t *list = json_loads(json, 0, NULL);

    return list == NULL ? json_array() : list;
}

json_t *target_answer_json(const struct fleet_target_row *row)
{
    return answer_row_take(target_answer_fields, row,
                           json_pack("{s:o, s:o, s:o, s:b, s:b, s:b, s:b}", "regions",
                                     list_of(row->regions), "source_ranges",
                                     list_of(row->source_ranges), "recipes", list_of(row->recipes),
                                     "allows_no_price", (int)row->allows_no_price, "allows_no_end",
                                     (int)row->allows_no_end, "allows_no_guard",
                                     (int)row->allows_no_guard, "needs_two", (int)row->needs_two));
}

static void describe_regions(const struct fleet_target_row *row, struct text *out)
{
    json_auto_t *regions = list_of(row->regions);
    const char *comma = "";
    const json_t *region;
    size_t i;

    json_array_foreach(regions, i, region) {
        text_addf(out, "%s%s", comma, json_string_value(region));
        comma = ", ";
    }
    if (json_array_size(regions) == 0)
        text_add(out, "none");
}

void target_answer_describe(const struct fleet_target_row *row, struct text *out)
{
    json_auto_t *place = answer_json_stored(row->place);

    text_addf(out, "%s (revision %lld): %s%s", row->name, (long long)row->revision, row->provider,
              json_object_size(place) == 0 ? "" : ", ");
    answer_describe_members(place, out);
    text_add(out, "Regions: ");
    describe_regions(row, out);
    text_addf(out,
              "; at most %.2f USD per hour for one deployment, %.2f for all. An agent may "
              "approve up to %.2f USD per hour alone.%s%s%s%s\nCredential: %s%s%s\n",
              row->deployment_usd, row->total_usd, row->agent_usd,
              row->needs_two
                  ? " Two people must agree to a plan, unless it stops or destroys a deployment."
                  : "",
              row->allows_no_end ? " Deployments without an end are allowed." : "",
              row->allows_no_guard ? " An end that only opsbrain enforces is allowed." : "",
              row->allows_no_price ? " An unknown cost is allowed." : "", row->credential,
              row->credential_file[0] == '\0' ? "" : " ", row->credential_file);
}

bool target_answer_frame(const struct call *call, const struct fleet_frame **out,
                         struct error *error)
{
    *out = call->services->fleet;
    return *out != NULL
           || error_set(error, ERROR_UNSUPPORTED,
                        "this server cannot deploy anything: it runs without the part that manages "
                        "deployments");
}
