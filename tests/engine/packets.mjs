// SPDX-License-Identifier: Apache-2.0
// Finds the times of requests in the packets that tcpdump captures on the loopback interface.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { temporaryFolder } from '../e2e/support/harness.mjs';

const CONTENT = /"(?:text|content)":"[^"]/;
const ETHERNET = 14; // the length of an Ethernet header, which packets on the loopback interface have too

// canCapture(): whether tcpdump is installed and allowed to capture.
export function canCapture() {
    return spawnSync('tcpdump', ['-i', 'lo', '-d', 'tcp']).status === 0;
}

// capture(t, port): captures packets from now on; returns a function that stops capturing and returns the requests to that port
// whose streamed answer has text and is complete, as {sent_ms, first_ms, end_ms}.
export async function capture(t, port) {
    const file = path.join(await temporaryFolder(t), 'capture.pcap');
    const args = ['-i', 'lo', '-s', '0', '-B', '65536', '-U', '-w', file, `tcp port ${port}`];
    const child = spawn('tcpdump', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'close');
    await once(child.stderr, 'data'); // "listening on lo"
    return async () => {
        child.kill('SIGINT');
        await ended;
        return requestsOf(await readFile(file), port);
    };
}

// Yields every TCP segment that has data, as {at_ms, clientPort, toServer, bytes}; omits retransmissions.
function* segments(file, port) {
    const nanoseconds = file.readUInt32LE(0) === 0xa1b23c4d;
    const seen = new Set();
    for (let at = 24; at + 16 <= file.length; ) {
        const at_ms = file.readUInt32LE(at) * 1000 + file.readUInt32LE(at + 4) / (nanoseconds ? 1e6 : 1e3);
        const length = file.readUInt32LE(at + 8);
        const ip = at + 16 + ETHERNET;
        const tcp = ip + (file[ip] & 15) * 4;
        const data = tcp + (file[tcp + 12] >> 4) * 4;
        const bytes = file.subarray(data, ip + file.readUInt16BE(ip + 2));
        const toServer = file.readUInt16BE(tcp + 2) === port;
        const clientPort = file.readUInt16BE(toServer ? tcp : tcp + 2);
        const id = `${clientPort} ${toServer} ${file.readUInt32BE(tcp + 4)}`;
        at += 16 + length;
        if (bytes.length === 0 || seen.has(id)) continue;
        seen.add(id);
        yield { at_ms, clientPort, toServer, bytes: bytes.toString('latin1') };
    }
}

function requestsOf(file, port) {
    const requests = [];
    const open = new Map(); // by the client's port
    for (const { at_ms, clientPort, toServer, bytes } of segments(file, port)) {
        if (toServer && bytes.startsWith('POST /v1/')) {
            open.set(clientPort, { sent_ms: at_ms, last: '' });
            requests.push(open.get(clientPort));
        }
        const request = open.get(clientPort);
        if (toServer || !request || request.end_ms) continue;
        const text = request.last + bytes;
        if (!request.first_ms && CONTENT.test(text)) request.first_ms = at_ms;
        if (text.includes('data: [DONE]')) request.end_ms = at_ms;
        request.last = bytes.slice(-64);
    }
    return requests.filter(({ first_ms, end_ms }) => first_ms && end_ms);
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// timesOf(requests, window): the number, mean TTFT and mean end-to-end latency of the requests that ended in a cell's window.
export function timesOf(requests, { window_start_ms, window_s }) {
    const inside = requests.filter(
        ({ end_ms }) => end_ms >= window_start_ms - 1 && end_ms <= window_start_ms + 1000 * window_s + 1,
    );
    return {
        requests: inside.length,
        ttft_ms: mean(inside.map(({ sent_ms, first_ms }) => first_ms - sent_ms)),
        e2e_ms: mean(inside.map(({ sent_ms, end_ms }) => end_ms - sent_ms)),
    };
}
