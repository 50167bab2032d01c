/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://deployments/{name}: a deployment as it is registered, and what is known about it. */

#include "handlers/answers/deployment_answer.h"
#include "handlers/answers/sweep_answer.h"
#include "handlers/resource_answer.h"

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    struct store *store = call->services->store;
    struct deployment deployment;
    struct model_facts facts;
    struct sweep_row *sweeps = NULL;
    json_auto_t *json = NULL;
    size_t count;
    bool known;

    if (!deployment_find(store, value, &deployment, error)
        || !model_facts_latest(store, deployment.id, &facts, &known, error)
        || !sweep_list(store, value, 0, 1, &sweeps, &count, error))
        return false;
    json = json_pack("{s:o, s:o, s:o}", "deployment", deployment_answer_json(&deployment), "model",
                     known ? deployment_answer_facts_json(&facts) : json_null(), "last_sweep",
                     count > 0 ? sweep_answer_json(&sweeps[0]) : json_null());
    sweep_answer_rows_free(sweeps, count);
    resource_answer_add_json(json, out);
    return true;
}

const struct resource resource_deployment = {
    .name = "deployment",
    .uri = "opsbrain://deployments/{name}",
    .title = "Deployment",
    .help =
        "A model server as it is registered, what it last reported about its model and engine, and "
        "its newest sweep. The server is not queried: the tool deployment_show reports its current "
        "state.",
    .mime_type = "application/json",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &deployment_instances,
    .read = read,
};
