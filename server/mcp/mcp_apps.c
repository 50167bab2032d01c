/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/mcp_apps.h"

#include <string.h>

#include "base/json/json.h"
#include "server/mcp/protocol.h"

/* Whether a client's capabilities (NULL: none) declare that it shows apps. */
static bool declares(const json_t *capabilities)
{
    const json_t *extension =
        json_object_get(json_object_get(capabilities, "extensions"), APPS_EXTENSION);
    const json_t *types = json_object_get(extension, "mimeTypes"), *type;
    size_t i;

    if (types == NULL)
        return json_is_object(extension);
    json_array_foreach(types, i, type)
        if (json_is_string(type) && strcmp(json_string_value(type), APPS_MIME_TYPE) == 0)
            return true;
    return false;
}

bool mcp_apps_known(const struct rpc *rpc)
{
    json_auto_t *capabilities = NULL;

    if (rpc->era == ERA_MODERN)
        return declares(json_object_get(rpc_meta(rpc), MCP_META_CAPABILITIES));
    if (rpc->session == NULL)
        return false;
    capabilities = json_loads(rpc->session->capabilities, 0, NULL);
    return declares(capabilities);
}

void mcp_apps_add_meta(const struct tool *tool, struct text *out)
{
    json_auto_t *meta = NULL;

    if (tool->app == NULL)
        return;
    /* older hosts read "ui/resourceUri" instead of the member resourceUri of "ui" */
    meta = json_pack("{s:{s:s, s:[s, s*]}, s:s}", "ui", "resourceUri", tool->app, "visibility",
                     "app", tool->is_for_apps ? NULL : "model", "ui/resourceUri", tool->app);
    text_add(out, ",\"_meta\":");
    json_add(out, meta);
}
