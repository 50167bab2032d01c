// SPDX-License-Identifier: Apache-2.0
// The official Go SDK with an echo tool: peer PORT legacy|modern
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type echoArguments struct {
	Text string `json:"text" jsonschema:"what to say"`
}

func echo(_ context.Context, _ *mcp.CallToolRequest, arguments echoArguments) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: arguments.Text}}}, nil, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Repeats the text."}, echo)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: os.Args[2] == "modern"})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], handler))
}
