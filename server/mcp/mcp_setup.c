/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/mcp_setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/methods.h"
#include "server/mcp/param_headers.h"
#include "server/telemetry/telemetry.h"
#include "store/ledger/request_nonces.h"

static size_t count_tools(const struct mcp_server *server)
{
    size_t count = 0;

    while (server->tools[count] != NULL)
        count++;
    return count;
}

static void add_method_rows(struct mcp_server *server, struct telemetry *telemetry)
{
    size_t count = 0;

    while (methods[count].name != NULL)
        count++;
    server->method_rows = memory_zeroed(count, sizeof(struct telemetry_row *));
    for (size_t i = 0; i < count; i++)
        server->method_rows[i] = telemetry_add_row(telemetry, methods[i].name, NULL);
}

static void prepare_tools(struct mcp_server *server, struct telemetry *telemetry)
{
    size_t count = count_tools(server);

    server->tool_rows = memory_zeroed(count + 1, sizeof(struct telemetry_row *));
    server->param_headers = memory_zeroed(count + 1, sizeof *server->param_headers);
    for (size_t i = 0; i < count; i++) {
        server->tool_rows[i] = telemetry_add_row(telemetry, "tools/call", server->tools[i]->name);
        server->param_headers[i] = param_headers_create(server->tools[i]);
    }
    server->tool_descriptions = method_tools_describe(server->tools);
}

bool mcp_setup(struct mcp_server *server, struct telemetry *telemetry, const char *instructions,
               struct error *error)
{
    atomic_init(&server->cancelling, false);
    add_method_rows(server, telemetry);
    prepare_tools(server, telemetry);
    text_add(&server->instructions, instructions);
    return request_nonce_key_load(server->services->store, "request_state", server->sealing_key,
                                  error);
}

void mcp_setup_finish(struct mcp_server *server)
{
    if (server->tools == NULL || server->param_headers == NULL)
        return;
    for (size_t i = 0; server->tools[i] != NULL; i++) {
        param_headers_destroy(server->param_headers[i]);
        text_finish(&server->tool_descriptions[i]);
    }
    free(server->tool_descriptions);
    text_finish(&server->instructions);
    free(server->method_rows);
    free(server->tool_rows);
    free(server->param_headers);
}

const struct tool *mcp_setup_find_tool(const struct mcp_server *server, const char *name)
{
    for (size_t i = 0; server->tools[i] != NULL; i++)
        if (strcmp(server->tools[i]->name, name) == 0)
            return server->tools[i];
    return NULL;
}

static size_t index_of(const struct mcp_server *server, const struct tool *tool)
{
    size_t i = 0;

    while (server->tools[i] != tool)
        i++;
    return i;
}

const struct param_headers *mcp_setup_param_headers(const struct mcp_server *server,
                                                    const struct tool *tool)
{
    return server->param_headers[index_of(server, tool)];
}

struct telemetry_row *mcp_setup_tool_row(const struct mcp_server *server, const struct tool *tool)
{
    return server->tool_rows[index_of(server, tool)];
}
