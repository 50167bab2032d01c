/* SPDX-License-Identifier: Apache-2.0 */
/* target_show: shows a target, and what is missing to deploy there. */

#include "base/json/json.h"
#include "fleet/managed/managed_target.h"
#include "handlers/answer.h"
#include "handlers/fleet/target_answer.h"

static const struct param params[] = {
    { "target", VALUE_TEXT, .required = true, .low = 1, .high = 63, .help = "Its name." },
    { "check", VALUE_BOOLEAN, .initial = "true",
      .help = "Ask the platform whether everything that deployments need is there." },
    { 0 },
};

static const struct field finding_fields[] = {
    { "need", VALUE_TEXT, .foreign = true, .help = "What deployments need." },
    { "ok", VALUE_BOOLEAN, .help = "Whether it is there." },
    { "fix", VALUE_TEXT, .optional = true, .foreign = true, .help = "What to grant or to enable." },
    { 0 },
};

static const struct field fields[] = {
    { "target", VALUE_OBJECT, .help = "The target as an admin described it.",
      .fields = target_answer_fields },
    { "findings", VALUE_LIST, .optional = true,
      .help = "What the platform reports about each requirement.", .fields = finding_fields },
    { "lock", VALUE_TEXT, .help = "How access to servers there is protected." },
    FIELD_NEXT_STEP,
    { 0 },
};

static void write_findings(const json_t *findings, struct text *out)
{
    size_t i;
    json_t *finding;

    json_array_foreach(findings, i, finding) {
        const char *fix = json_get_text(finding, "fix", "");

        text_addf(out, "%s %s", json_get_boolean(finding, "ok", false) ? "ok:     " : "MISSING:",
                  json_get_text(finding, "need", ""));
        text_addf(out, "%s%s\n", fix[0] == '\0' ? "" : ": ", fix);
    }
}

static CHECKED bool check(const struct fleet_frame *frame, const struct managed_target *target,
                          json_t *findings, struct error *error)
{
    struct cloud *cloud;

    return frame->cloud(frame->context, &target->plain, &cloud, error)
           && target->provider->check(cloud, &target->plain, findings, error);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *findings = json_array();
    const struct fleet_frame *frame;
    struct managed_target target;

    if (!target_answer_frame(call, &frame, error)
        || !managed_target_find(frame, call_text(call, "target"), &target, error)
        || (call_boolean(call, "check", true) && !check(frame, &target, findings, error)))
        return false;
    answer->structured = json_pack("{s:o, s:O, s:s}", "target", target_answer_json(&target.row),
                                   "findings", findings, "lock", target.provider->lock);
    target_answer_describe(&target.row, &answer->text);
    text_addf(&answer->text, "Access: %s\n", target.provider->lock);
    write_findings(findings, &answer->text);
    answer_next(answer, "deployment_plan with this target and a recipe");
    return true;
}

const struct tool tool_target_show = {
    .name = "target_show",
    .title = "Show a target and what it lacks",
    .help = "Shows a target, and asks the platform whether each permission, quota "
            "and resource that deployments need is there.",
    .more = "It changes nothing. It names the fix for whatever is missing.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .idempotent = true,
    .open_world = true,
    .run = run,
};
