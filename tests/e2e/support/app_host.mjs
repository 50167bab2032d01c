// SPDX-License-Identifier: Apache-2.0
// A host of MCP Apps: the official AppBridge, with the app in a frame of a browser's page.
import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import { until } from './harness.mjs';

export const APPS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

// Passes JSON messages between the bridge and the frame, which has an origin of its own, through the page.
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

// openApp(page, html, callTool, theme): {bridge, sizes, frame}, once the app is initialized: the bridge, the sizes that the
// app reports, and the app's frame.
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
    await until('the app', () => isReady);
    return { bridge, sizes, frame: page.frames()[1] };
}
