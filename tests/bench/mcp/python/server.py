# SPDX-License-Identifier: Apache-2.0
"""The official Python SDK with an echo tool: server.py PORT legacy|modern"""

import sys

from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent

server = MCPServer("peer", log_level="ERROR")


@server.tool(description="Repeats the text.")
def echo(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])


server.run(
    "streamable-http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    json_response=True,
    stateless_http=sys.argv[2] == "modern",
)
