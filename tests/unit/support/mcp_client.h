/* SPDX-License-Identifier: Apache-2.0 */
/* Sends JSON-RPC as MCP clients do, using http_client.h, and looks up members of the answers. */
#pragma once

#include <jansson.h>

#include "base/json/json.h"
#include "tests/unit/support/http_client.h"

#define MCP_HEADERS                                                                                \
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

/* The params of a request in the protocol without sessions (2026-07-28): first `members`, which is
 * "" or "\"name\":...,", then `_meta`. */
#define MODERN_PARAMS(members)                                                                     \
    "\"params\":{" members                                                                         \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"unit\",\"version\":\"2\"},"                \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}"
#define MODERN_HEADERS(method)                                                                     \
    MCP_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method "\r\n"

#define LEGACY_INITIALIZE                                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"unit\",\"version\":\"1\"}}}"

/* Posts a body and reads the complete answer. Returns the answer's JSON, a new reference, or NULL
 * if no answer arrives or it is empty or not JSON. If `headers` is NULL, MCP_HEADERS are sent. */
static inline json_t *mcp_post_on(struct http_client *client, const char *headers, const char *body,
                                  int *status)
{
    TEXT_AUTO reply = { 0 };
    struct error error;
    json_t *json = NULL;

    *status = http_exchange(client, "POST", "/mcp", headers != NULL ? headers : MCP_HEADERS, body,
                            &reply);
    if (!json_parse(text_string(&reply), reply.length, &json, &error))
        return NULL;
    return json;
}

static inline json_t *mcp_post_once(unsigned port, const char *headers, const char *body,
                                    int *status)
{
    struct http_client client;
    json_t *reply;

    http_open(&client, port);
    reply = mcp_post_on(&client, headers, body, status);
    http_close(&client);
    return reply;
}

/* Sends initialize. Returns the session's id, which the caller frees, or NULL if the server sends
 * none. */
static inline char *mcp_initialize(unsigned port, const char *more_headers)
{
    struct http_client client;
    TEXT_AUTO headers = { 0 };
    json_t *reply;
    char *session;
    int status;

    text_addf(&headers, MCP_HEADERS "%s", more_headers != NULL ? more_headers : "");
    http_open(&client, port);
    reply = mcp_post_on(&client, text_string(&headers), LEGACY_INITIALIZE, &status);
    session = http_header(&client, "Mcp-Session-Id");
    json_decref(reply);
    http_close(&client);
    return session;
}

/* Finds a member by its path, such as "result.content.0.text". Returns a borrowed reference, or
 * NULL if there is no such member. */
static inline const json_t *json_at(const json_t *value, const char *path)
{
    char name[128];

    while (value != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");

        snprintf(name, sizeof name, "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10))
                                     : json_object_get(value, name);
        path += length + (path[length] == '.');
    }
    return value;
}

/* Finds a string by its path. Returns it, borrowed, or "(none)" if there is no string. */
static inline const char *text_at(const json_t *value, const char *path)
{
    const char *text = json_string_value(json_at(value, path));

    return text != NULL ? text : "(none)";
}

/* Finds an integer by its path. Returns 0 if there is none. */
static inline int64_t integer_at(const json_t *value, const char *path)
{
    return json_integer_value(json_at(value, path));
}
