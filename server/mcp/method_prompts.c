/* SPDX-License-Identifier: Apache-2.0 */
/* prompts/list and prompts/get. */

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/methods.h"
#include "server/mcp/multi_round.h"

bool method_prompts_list_run(struct rpc *rpc)
{
    json_auto_t *list = NULL;
    FREE_AUTO char *json = NULL;

    if (json_object_get(rpc->params, "cursor") != NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.cursor is not valid: the list has one page");
    list = prompts_list(rpc->server->prompts);
    json = json_write(list);
    text_add(&rpc->result, "\"prompts\":");
    text_add(&rpc->result, json);
    return true;
}

bool method_prompts_get_run(struct rpc *rpc)
{
    struct call call = method_make_call(rpc);
    const char *name = json_get_text(rpc->params, "name", NULL);
    const struct prompt *prompt;
    json_auto_t *messages = NULL;
    FREE_AUTO char *json = NULL;
    struct error error;

    if (name == NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.name is missing, or not a string");
    if (call.arguments != NULL && !json_is_object(call.arguments))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.arguments must be an object");
    if (!multi_round_read(rpc, name))
        return false;
    if (!prompt_get(rpc->server->prompts, &call, name, &prompt, &messages, &error))
        return multi_round_answer(rpc, &error) || rpc_fail_with(rpc, &error);
    json = json_write(messages);
    text_add(&rpc->result, "\"description\":");
    json_add_string(&rpc->result, prompt->help, strlen(prompt->help));
    text_add(&rpc->result, ",\"messages\":");
    text_add(&rpc->result, json);
    return true;
}
