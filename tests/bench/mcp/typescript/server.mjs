// SPDX-License-Identifier: Apache-2.0
// The official TypeScript SDK with an echo tool: server.mjs PORT legacy|modern
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';

const [port, era] = process.argv.slice(2);

function makeServer() {
    const server = new McpServer({ name: 'peer', version: '1.0.0' });
    server.registerTool('echo', { description: 'Repeats the text.', inputSchema: z.object({ text: z.string() }) },
        ({ text }) => ({ content: [{ type: 'text', text }] }));
    return server;
}

const sessions = new Map();

async function beginSession() {
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await makeServer().connect(transport);
    return transport;
}

async function serveSession(request, response) {
    const transport = sessions.get(request.headers['mcp-session-id']) ?? (await beginSession());
    await transport.handleRequest(request, response);
}

createServer(era === 'modern' ? toNodeHandler(createMcpHandler(makeServer)) : serveSession)
    .listen(Number(port), '127.0.0.1');
