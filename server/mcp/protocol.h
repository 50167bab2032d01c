/* SPDX-License-Identifier: Apache-2.0 */
/* Names that MCP defines, and texts that several files send: the server's description of itself,
 * and its refusal of requests while it is stopping. */
#pragma once

#define MCP_MODERN_VERSION "2026-07-28"
#define MCP_META_VERSION "io.modelcontextprotocol/protocolVersion"
#define MCP_META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define MCP_META_LOG_LEVEL "io.modelcontextprotocol/logLevel"
#define MCP_META_CLIENT "io.modelcontextprotocol/clientInfo"

#define SERVER_STOPPING "the server is stopping: try again in a moment"

#define SERVER_COMMON_MEMBERS                                                                      \
    "\"name\":\"opsbrain\",\"title\":\"opsbrain\",\"version\":\"" OPSBRAIN_VERSION "\""
#define SERVER_INFO "{" SERVER_COMMON_MEMBERS "}"
/* The full description, which initialize (in revision 2025-11-25) and server/discover send. The
 * icon is an SVG of a curve on a screen. */
#define SERVER_DETAILS                                                                             \
    "{" SERVER_COMMON_MEMBERS                                                                      \
    ",\"description\":\"Registers, watches and benchmarks deployments of language "                \
    "models, and explains the measurements.\",\"icons\":[{\"mimeType\":\"image/svg+xml\","         \
    "\"sizes\":[\"any\"],\"src\":\"data:image/svg+xml;base64,"                                     \
    "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAy"                 \
    "NCI+PHJlY3Qgd2lkdGg9IjI0IiBoZWlnaHQ9IjI0IiByeD0iNSIgZmlsbD0iIzEyMjYzYSIvPjxw"                 \
    "YXRoIGQ9Ik0zIDEzaDRsMy04IDQgMTQgMy02aDQiIGZpbGw9Im5vbmUiIHN0cm9rZT0iIzRmZDE4"                 \
    "YiIgc3Ryb2tlLXdpZHRoPSIyIi8+PC9zdmc+"                                                         \
    "\"}]}"
