/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_plan: plans the deployment of a model server, request by request. */

#include <string.h>

#include "handlers/fleet/plan_answer.h"
#include "handlers/values.h"

#define LIFE_MAX_S (366 * 86400)

static const char *const kinds[] = { "on_demand", "spot", "flex_start", "reserved", NULL };
static const char *const ends[] = { "destroy", "stop", NULL };

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Name for the new deployment." },
    { "target", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Name from target_list." },
    { "recipe", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Name from recipe_list." },
    { "overrides", VALUE_TEXT_MAP, .high = 32, .item_high = 200,
      .help = "Other values where the recipe allows them, such as [\"max_model_len=8192\"]." },
    { "region", VALUE_TEXT, .high = 63, .help = "Region or zone; default: the target's first." },
    { "kind", VALUE_CHOICE, .choices = kinds, .initial = "\"on_demand\"",
      .help = "How its capacity is bought." },
    { "replicas", VALUE_INTEGER, .high = 64, .initial = "0",
      .help = "Number of replicas; 0: as the recipe says." },
    { "life_s", VALUE_INTEGER, .high = LIFE_MAX_S, .initial = "0",
      .help = "Seconds from now until it ends; 0: no end, where the target allows that." },
    { "at_end", VALUE_CHOICE, .choices = ends, .initial = "\"destroy\"",
      .help = "What happens when it ends." },
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct managed_wish wish = plan_answer_wish(call, VERB_CREATE);
    json_auto_t *overrides = plan_answer_overrides(call);

    wish.overrides = overrides;
    return value_check_name("deployment", wish.deployment, error)
           && plan_answer_make(call, &wish, answer, error);
}

const struct tool tool_deployment_plan = {
    .name = "deployment_plan",
    .title = "Plan a new deployment",
    .help = "Plans a model server: the exact requests, the cost and the end, checked by the "
            "platform where possible. Nothing is deployed.",
    .more = "The plan is valid for 24 hours, unless the target, the recipe, a price or an existing "
            "resource changes. deployment_apply carries it out after a go-ahead.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = plan_answer_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .open_world = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .grows = true,
    .run = run,
};
