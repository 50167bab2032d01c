/* SPDX-License-Identifier: Apache-2.0 */
/* completion/complete. */

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/completion.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/methods.h"

static bool complete(struct rpc *rpc, const json_t *ref, const char *argument, const char *typed,
                     struct completion *out)
{
    struct mcp_server *server = rpc->server;
    const char *type = json_get_text(ref, "type", "");
    struct error error;

    if (strcmp(type, "ref/prompt") == 0) {
        if (completion_of_prompt(server->prompts, server->services, json_get_text(ref, "name", ""),
                                 argument, typed, out, &error))
            return true;
    } else if (strcmp(type, "ref/resource") == 0) {
        if (completion_of_resource(server->resources, server->services,
                                   json_get_text(ref, "uri", ""), argument, typed, out, &error))
            return true;
    } else {
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.ref.type must be ref/prompt or ref/resource");
    }
    return rpc_fail_with(rpc, &error);
}

bool method_completion_run(struct rpc *rpc)
{
    const json_t *argument = json_object_get(rpc->params, "argument");
    const char *name = json_get_text(argument, "name", NULL);
    const char *typed = json_get_text(argument, "value", NULL);
    struct completion completion = { 0 };
    FREE_AUTO char *values = NULL;

    if (name == NULL || typed == NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.argument must have \"name\" and \"value\", both strings");
    if (!complete(rpc, json_object_get(rpc->params, "ref"), name, typed, &completion))
        return false;
    values = json_write(completion.values);
    text_add(&rpc->result, "\"completion\":{\"values\":");
    text_add(&rpc->result, values);
    text_addf(&rpc->result, ",\"total\":%zu,\"hasMore\":%s}", completion.total,
              completion.total > json_array_size(completion.values) ? "true" : "false");
    json_decref(completion.values);
    return true;
}
