/* SPDX-License-Identifier: Apache-2.0 */
/* rpc_read and rpc_write: any message is classified, and the answer to it is JSON that repeats the
 * message's id, if the id is valid. */
#include <jansson.h>
#include <string.h>

#include "base/json/json.h"
#include "server/mcp/rpc.h"
#include "tests/fuzz/fuzz.h"

static void check_answer(const struct rpc *rpc, const json_t *message)
{
    TEXT_AUTO text = { 0 };
    json_auto_t *answer = NULL;
    struct error error;

    rpc_write(rpc, &text);
    must(json_parse(text_string(&text), text.length, &answer, &error));
    if (rpc->id != NULL)
        must(json_equal(json_object_get(answer, "id"), json_object_get(message, "id")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rpc rpc = { .era = ERA_LEGACY };
    json_auto_t *message = NULL;
    struct error error;

    if (!json_parse((const char *)data, size, &message, &error))
        return 0;
    rpc_read(&rpc, message);
    must((rpc.kind == RPC_BROKEN) == (rpc.error_code != 0));
    must(rpc.kind != RPC_REQUEST || (rpc.id != NULL && rpc.name != NULL));
    must(rpc.kind != RPC_NOTIFICATION || (rpc.id == NULL && rpc.name != NULL));
    check_answer(&rpc, message);
    rpc_finish(&rpc);
    return 0;
}
