// SPDX-License-Identifier: Apache-2.0
// A host for MCP Apps: the official AppBridge, with the app in a frame on a browser page.
import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import { until } from './harness.mjs';

export const APPS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

// Passes JSON messages between the bridge, which runs in Node, and the frame in the page.
class FrameTransport {
    constructor(page) {
        this.page = page;
    }

    async start() {
        await this.page.exposeFunction('toBridge', (message) => this.onmessage?.(JSON.parse(message)));
        await this.page.evaluate(() =>
            window.addEventListener('message', ({ data }) => window.toBridge(JSON.stringify(data))),
        );
    }

    async send(message) {
        await this.page.evaluate((sent) => document.querySelector('iframe').contentWindow.postMessage(sent, '*'), message);
    }

    async close() {
        this.onclose?.();
    }
}

// openApp(page, html, callTool, theme): opens the app, and waits until it is initialized. Returns {bridge, sizes, frame}: the
// bridge, the sizes that the app has reported, and the app's frame.
export async function openApp(page, html, callTool, theme) {
    const bridge = new AppBridge(null, { name: 'a-host', version: '1' }, { serverTools: {} }, { hostContext: { theme } });
    const sizes = [];
    let isReady = false;
    bridge.oncalltool = ({ name, arguments: args }) => callTool(name, args);
    bridge.oninitialized = () => (isReady = true);
    bridge.onsizechange = (size) => sizes.push(size);
    await bridge.connect(new FrameTransport(page));
    await page.evaluate((source) => {
        const frame = document.createElement('iframe');
        frame.sandbox = 'allow-scripts';
        frame.srcdoc = source;
        frame.style = 'width:100%;height:700px;border:0';
        document.body.append(frame);
    }, html);
    await until('the app to be initialized', () => isReady);
    return { bridge, sizes, frame: page.frames()[1] };
}
