/* SPDX-License-Identifier: Apache-2.0 */
/* target_register: stores where model servers may be deployed, with which credential and limits. */

#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_target.h"
#include "handlers/answer.h"
#include "handlers/fleet/target_answer.h"
#include "handlers/values.h"

#define USD_MAX 100000
#define LIFE_MAX_S (366 * 86400)

static const struct param params[] = {
    { "name", VALUE_TEXT, .required = true, .low = 1, .high = 63, .help = "Name of the target.",
      .more = "Letters, digits, '.', '_' and '-', beginning with a letter or digit." },
    { "provider", VALUE_TEXT, .required = true, .low = 1, .high = 31,
      .help = "The platform, such as kubernetes or cloud_run." },
    { "credential", VALUE_TEXT, .required = true, .low = 1, .high = 23,
      .help = "none, workload_identity, service_account_file, kubeconfig or in_cluster.",
      .more = "Never the credential itself: it is a file in the secrets folder, or this machine's "
              "identity." },
    { "credential_file", VALUE_TEXT, .high = 63,
      .help = "Name of the file in the secrets folder, such as lab-cluster.kubeconfig." },
    { "project", VALUE_TEXT, .high = 63, .help = "Google's project id." },
    { "namespace", VALUE_TEXT, .high = 63, .help = "Kubernetes' namespace." },
    { "regions", VALUE_TEXTS, .high = 16, .item_low = 1, .item_high = 63,
      .help = "Regions or zones; the first is the default." },
    { "network", VALUE_TEXT, .high = 255, .rare = true, .help = "Network for deployments." },
    { "subnetwork", VALUE_TEXT, .high = 255, .rare = true, .help = "Its subnetwork." },
    { "source_ranges", VALUE_TEXTS, .high = 16, .item_low = 1, .item_high = 63, .rare = true,
      .help = "Networks (CIDR) that may reach deployments." },
    { "service_account", VALUE_TEXT, .high = 255, .rare = true,
      .help = "Account that a deployed server runs as." },
    { "bucket", VALUE_TEXT, .high = 127, .rare = true, .help = "Bucket with the weights." },
    { "reservation", VALUE_TEXT, .high = 63, .rare = true,
      .help = "Google's machine reservation, for capacity of the kind reserved." },
    { "door", VALUE_TEXT, .high = 15, .rare = true,
      .help = "How a server is reached: cluster, proxy or node_port (Kubernetes); external or "
              "internal (machines)." },
    { "proxy", VALUE_TEXT, .high = 255, .rare = true, .help = "Proxy for calls to the platform." },
    { "recipes", VALUE_TEXTS, .high = 64, .item_low = 1, .item_high = 63, .rare = true,
      .help = "Recipes that it allows; none: all." },
    { "usd_per_hour", VALUE_NUMBER, .high = USD_MAX, .initial = "0",
      .help = "Maximum cost of one deployment; 0: only what costs nothing." },
    { "total_usd_per_hour", VALUE_NUMBER, .high = USD_MAX, .initial = "0",
      .help = "Maximum total cost of all deployments there." },
    { "life_limit_s", VALUE_INTEGER, .high = LIFE_MAX_S, .initial = "0",
      .help = "Longest life of a deployment; 0: any." },
    { "allows_no_price", VALUE_BOOLEAN, .initial = "false", .rare = true,
      .help = "Whether a deployment's cost may be unknown." },
    { "allows_no_end", VALUE_BOOLEAN, .initial = "false", .rare = true,
      .help = "Whether a deployment may have no end." },
    { "allows_no_guard", VALUE_BOOLEAN, .initial = "false", .rare = true,
      .help = "Whether a deployment's end may depend on opsbrain alone." },
    { "needs_two", VALUE_BOOLEAN, .initial = "false", .rare = true,
      .help = "Whether two people must agree, except to a stop or destroy." },
    { "agent_usd_per_hour", VALUE_NUMBER, .high = USD_MAX, .initial = "0", .rare = true,
      .help = "USD an agent may approve without a person." },
    { "agent_usd_per_life", VALUE_NUMBER, .high = USD_MAX, .initial = "0", .rare = true,
      .help = "The same for a deployment's whole life." },
    { 0 },
};

static const struct field fields[] = {
    { "target", VALUE_OBJECT, .help = "The target as it is stored.", .fields = target_answer_fields,
      .described_in = "target_show" },
    { "changed", VALUE_BOOLEAN, .help = "False: it was already stored like this." },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool write_list(const struct call *call, const char *name, char *out, size_t size,
                               struct error *error)
{
    const json_t *list = json_object_get(call->arguments, name);
    FREE_AUTO char *written = list == NULL ? memory_copy_text("[]") : json_write(list);

    return text_copy(out, size, written) == strlen(written)
           || error_set(error, ERROR_INVALID, "\"%s\" is too long: at most %zu bytes as JSON", name,
                        size - 1);
}

static CHECKED bool write_place(const struct call *call, char *out, size_t size,
                                struct error *error)
{
    json_auto_t *place = json_object();
    FREE_AUTO char *written = NULL;

    for (size_t i = 0; managed_target_members[i] != NULL; i++) {
        const char *value = call_text(call, managed_target_members[i]);

        if (value != NULL && value[0] != '\0')
            json_object_set_new(place, managed_target_members[i], json_string(value));
    }
    written = json_write(place);
    return text_copy(out, size, written) == strlen(written)
           || error_set(
               error, ERROR_INVALID,
               "the target's description is longer than %zu bytes: give fewer or shorter values",
               size - 1);
}

static void copy_argument(const struct call *call, const char *name, char *out, size_t size)
{
    const char *value = call_text(call, name);

    text_copy(out, size, value == NULL ? "" : value);
}

static CHECKED bool read_row(const struct call *call, struct fleet_target_row *out,
                             struct error *error)
{
    *out = (struct fleet_target_row){
        .deployment_usd = call_number(call, "usd_per_hour", 0),
        .total_usd = call_number(call, "total_usd_per_hour", 0),
        .life_limit_s = call_integer(call, "life_limit_s", 0),
        .allows_no_price = call_boolean(call, "allows_no_price", false),
        .allows_no_end = call_boolean(call, "allows_no_end", false),
        .allows_no_guard = call_boolean(call, "allows_no_guard", false),
        .needs_two = call_boolean(call, "needs_two", false),
        .agent_usd = call_number(call, "agent_usd_per_hour", 0),
        .agent_life_usd = call_number(call, "agent_usd_per_life", 0),
    };
    copy_argument(call, "name", out->name, sizeof out->name);
    copy_argument(call, "provider", out->provider, sizeof out->provider);
    copy_argument(call, "credential", out->credential, sizeof out->credential);
    copy_argument(call, "credential_file", out->credential_file, sizeof out->credential_file);
    copy_argument(call, "proxy", out->proxy, sizeof out->proxy);
    return value_check_name("name", out->name, error)
           && write_place(call, out->place, sizeof out->place, error)
           && write_list(call, "regions", out->regions, sizeof out->regions, error)
           && write_list(call, "source_ranges", out->source_ranges, sizeof out->source_ranges,
                         error)
           && write_list(call, "recipes", out->recipes, sizeof out->recipes, error);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const struct fleet_frame *frame;
    struct fleet_target_row wanted, stored;
    struct managed_target checked;
    bool changed;

    if (!target_answer_frame(call, &frame, error) || !read_row(call, &wanted, error)
        || !managed_target_read(frame, &wanted, &checked, error)
        || !fleet_target_put(call->services->store, &wanted, clock_utc_ms(), &call->change, &stored,
                             &changed, error))
        return false;
    answer->structured =
        json_pack("{s:o, s:b}", "target", target_answer_json(&stored), "changed", (int)changed);
    text_add(&answer->text, changed ? "" : "Nothing changed: it was already stored like this.\n");
    target_answer_describe(&stored, &answer->text);
    answer_next(answer, "target_show with check shows what deployments there still need");
    return true;
}

const struct tool tool_target_register = {
    .name = "target_register",
    .title = "Register a target for deployments",
    .help = "Stores where model servers may be deployed: the platform, its credential by name, "
            "what deployments may cost and how long they may run.",
    .more = "Registering it again with changes makes a new revision, which voids earlier plans. "
            "Without cost limits, nothing known to cost money can be deployed.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_ADMIN,
    .placement = PLACE_WORKER,
    .idempotent = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .run = run,
};
