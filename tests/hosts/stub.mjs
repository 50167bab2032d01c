// SPDX-License-Identifier: Apache-2.0
// A scripted model API on loopback for hosts (the programs that run agents), in Anthropic's and Gemini's protocols. It records
// what a host shows its model: the tools, the prompt, and each tool's result.
import http from 'node:http';
import { once } from 'node:events';
import { atEnd } from '../e2e/support/harness.mjs';

const OURS = /opsbrain/;
const TEXT = 'All done.';

// For each protocol, `read` returns what a request shows the model, and `send` writes the model's turn, a tool call or a text.
const PROTOCOLS = [
    {
        route: /\/v1\/messages(\?|$)/,
        read: ({ tools = [], system = '', messages = [] }) => ({
            tools: tools.filter(({ name }) => OURS.test(name)),
            prompt: `${JSON.stringify(system)}${JSON.stringify(messages)}`,
            results: parts(messages).filter(({ type }) => type === 'tool_result').map(({ content }) => asText(content)),
        }),
        send: sendAnthropic,
    },
    {
        route: /:(stream)?[gG]enerateContent/,
        read: ({ tools = [], systemInstruction, contents = [] }) => ({
            tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations).filter(({ name }) => OURS.test(name)),
            prompt: `${JSON.stringify(systemInstruction)}${JSON.stringify(contents)}`,
            results: contents.flatMap(({ parts = [] }) => parts).filter(({ functionResponse }) => functionResponse)
                .map(({ functionResponse }) => asText(functionResponse.response)),
        }),
        send: sendGemini,
    },
];

const parts = (messages) => messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));

// asText(content): a tool's result as the model reads it.
function asText(content) {
    if (Array.isArray(content)) return content.map(asText).join('\n');
    return typeof content === 'string' ? content : (content.text ?? content.output ?? JSON.stringify(content));
}

function sendAnthropic(response, turn, { model, stream }) {
    const block = turn.call
        ? { type: 'tool_use', id: `toolu_${turn.id}`, name: turn.name, input: turn.args }
        : { type: 'text', text: TEXT };
    const message = { id: `msg_${turn.id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
    const stop_reason = turn.call ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    if (!stream) return response.setHeader('Content-Type', 'application/json').end(
        JSON.stringify({ ...message, content: [block], stop_reason, usage }));
    const event = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    response.setHeader('Content-Type', 'text/event-stream');
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage } });
    event('content_block_start', { index: 0, content_block: turn.call ? { ...block, input: {} } : { type: 'text', text: '' } });
    event('content_block_delta', { index: 0, delta: turn.call
        ? { type: 'input_json_delta', partial_json: JSON.stringify(turn.args) }
        : { type: 'text_delta', text: TEXT } });
    event('content_block_stop', { index: 0 });
    event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
    event('message_stop', {});
    response.end();
}

function sendGemini(response, turn, _, url) {
    const part = turn.call ? { functionCall: { name: turn.name, args: turn.args } } : { text: TEXT };
    const answer = {
        candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    const streams = url.includes('alt=sse');
    response.setHeader('Content-Type', streams ? 'text/event-stream' : 'application/json');
    response.end(streams ? `data: ${JSON.stringify(answer)}\n\n` : JSON.stringify(answer));
}

// startModel(t, script): starts the model; returns {url, shown}. For each tool call, `script` has a function that gets the results
// so far and returns [tool, arguments]. After the last result, and to a request without our tools, the model answers with a text.
export async function startModel(t, script) {
    const shown = { tools: [], prompt: '', results: [] };
    let turns = 0;
    const server = http.createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request) body += chunk;
        const protocol = PROTOCOLS.find(({ route }) => route.test(request.url));
        if (!protocol) return response.writeHead(404).end('{}');
        const asked = JSON.parse(body);
        const seen = protocol.read(asked);
        const step = seen.tools.length > 0 && script[seen.results.length];
        const turn = { id: `${++turns}`, call: Boolean(step) };
        if (seen.tools.length > 0) Object.assign(shown, seen);
        if (step) {
            const [name, args] = step(seen.results);
            Object.assign(turn, { name: seen.tools.find((tool) => tool.name.endsWith(name)).name, args });
        }
        protocol.send(response, turn, asked, request.url);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(t, () => {
        server.closeAllConnections();
        server.close();
    });
    return { url: `http://127.0.0.1:${server.address().port}`, shown };
}
