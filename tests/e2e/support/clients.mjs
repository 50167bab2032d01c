// SPDX-License-Identifier: Apache-2.0
// The official MCP clients behind one small interface, so that a test can be run with each of them.
import { test } from 'node:test';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';

const INFO = { name: 'end-to-end', version: '1.0.0' };

const MAKERS = {
    'legacy-1x': { create: (options) => new Client1(INFO, options), Transport: Transport1 },
    '2x-legacy': { create: (options) => new Client2(INFO, options), Transport: Transport2 },
    '2x-auto': { create: (options) => negotiating('auto', options), Transport: Transport2 },
    '2x-2026': { create: (options) => negotiating({ pin: '2026-07-28' }, options), Transport: Transport2 },
};

export const KINDS = Object.keys(MAKERS);

function negotiating(mode, options) {
    return new Client2(INFO, { ...options, versionNegotiation: { mode } });
}

// isStateless(kind): whether a client of this kind speaks protocol 2026-07-28, which has no sessions.
export function isStateless(kind) {
    return kind === '2x-auto' || kind === '2x-2026';
}

// forEachClient(title, body): defines one test for each kind of client, which runs body(t, kind).
export function forEachClient(title, body) {
    for (const kind of KINDS) test(`${title} (${kind})`, (t) => body(t, kind));
}

// connect(kind, url, {key, onForm, onPage, extensions, headers}): a connected client; the caller closes it. `key` is sent as the
// bearer token. onForm(params) returns the client's answer to a form. onPage(params) returns its answer to a URL that the user should
// open; it is not used if there is an onForm. If neither is given, the server cannot send the client a form or a URL.
export async function connect(kind, url, { key, onForm, onPage, extensions, headers: more } = {}) {
    const { create, Transport } = MAKERS[kind];
    const headers = { ...more, ...(key && { Authorization: `Bearer ${key}` }) };
    const transport = new Transport(new URL(url), { requestInit: { headers } });
    const elicitation = onForm ? { elicitation: {} } : onPage && { elicitation: { url: {} } };
    const client = create({ capabilities: { ...elicitation, ...(extensions && { extensions }) } });
    if (elicitation)
        client.setRequestHandler(
            client instanceof Client1 ? ElicitRequestSchema : 'elicitation/create',
            async ({ params }) => (onForm ?? onPage)(params),
        );
    await client.connect(transport);
    return new Connection(kind, client, transport);
}

class Connection {
    constructor(kind, client, transport) {
        this.kind = kind;
        this.client = client;
        this.transport = transport;
    }

    serverInfo() {
        return this.client.getServerVersion();
    }

    instructions() {
        return this.client.getInstructions();
    }

    async listTools() {
        return (await this.client.listTools()).tools;
    }

    // callTool(name, arguments, {onprogress, signal, timeout}): the complete result, even if isError is set.
    callTool(name, args = {}, options = {}) {
        const call = { name, arguments: args };
        return this.client instanceof Client1
            ? this.client.callTool(call, undefined, options)
            : this.client.callTool(call, options);
    }

    // call(name, arguments): the structured content of a call that must succeed.
    async call(name, args, options) {
        const result = await this.callTool(name, args, options);
        if (result.isError) throw new Error(`${name}: ${text(result)}`);
        return result.structuredContent;
    }

    // refusal(name, arguments): the error text of a call that must be refused.
    async refusal(name, args) {
        const result = await this.callTool(name, args).catch((error) => ({
            isError: true,
            content: [{ type: 'text', text: error.message }],
        }));
        if (!result.isError) throw new Error(`${name} was not refused: ${text(result)}`);
        return text(result);
    }

    onNotification(handler) {
        this.client.fallbackNotificationHandler = async (notification) => handler(notification);
    }

    // onUpdated(handler): from now on, handler(uri) is called when the server reports that a resource has changed.
    onUpdated(handler) {
        const notified = ({ params }) => handler(params.uri);
        if (this.client instanceof Client1) this.client.setNotificationHandler(ResourceUpdatedNotificationSchema, notified);
        else this.client.setNotificationHandler('notifications/resources/updated', notified);
    }

    // subscribe(uri): subscribes to a resource, with the method that the client's protocol version has for it.
    subscribe(uri) {
        return isStateless(this.kind)
            ? this.client.listen({ resourceSubscriptions: [uri] })
            : this.client.subscribeResource({ uri });
    }

    async close() {
        if (this.transport.sessionId) await this.transport.terminateSession();
        await this.client.close();
    }
}

export function text(result) {
    return result.content.map((part) => part.text ?? '').join('\n');
}
