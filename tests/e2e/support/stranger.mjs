// SPDX-License-Identifier: Apache-2.0
// A second client of a model server, for tests that its requests (foreign traffic) are detected while a cell is measured.
import { setTimeout as sleep } from 'node:timers/promises';
import { startSweep, waitForJob } from './sweep_by_client.mjs';

const POLL_MS = 25;

// The stranger sends one request for every ten requests from other clients, and none while they send none. `served()` returns
// how many requests, from all clients, the server has served so far.
export class Stranger {
    constructor(url, { model, tokens, served }) {
        Object.assign(this, { url, model, tokens, served, sent: 0 });
    }

    async ask() {
        this.sent++;
        const body = { model: this.model, prompt: 'what else is there to say', max_tokens: this.tokens, ignore_eos: true };
        const headers = { 'Content-Type': 'application/json' };
        await (await fetch(`${this.url}/v1/completions`, { method: 'POST', headers, body: JSON.stringify(body) })).text();
    }

    // run(goesOn): sends requests as long as goesOn() returns true.
    async run(goesOn) {
        const before = await this.served();
        while (goesOn()) {
            const others = (await this.served()) - before - this.sent;
            const owed = Math.max(0, Math.floor(others / 10) - this.sent);
            await Promise.all(Array.from({ length: owed }, () => this.ask()));
            await sleep(POLL_MS);
        }
    }
}

// sweepBeside(client, plan, stranger): runs a sweep while the stranger, if there is one, sends requests; returns the sweep's
// {cells, rejected, id}.
export async function sweepBeside(client, plan, stranger) {
    const { sweep, job } = await startSweep(client, plan);
    let over = false;
    const asking = stranger?.run(() => !over);
    const ended = await waitForJob(client, job).finally(() => (over = true));
    await asking;
    if (ended.state !== 'completed') throw new Error(`the sweep is ${ended.state}: ${JSON.stringify(ended.outcome)}`);
    return { ...(await cellsOf(client, sweep.id)), id: sweep.id };
}

async function cellsOf(client, sweep) {
    const cells = [];
    let rejected, cursor;
    do {
        const shown = await client.call('sweep_show', { sweep, limit: 200, ...(cursor && { cursor }) });
        cells.push(...shown.cells);
        ({ rejected, next_cursor: cursor } = shown);
    } while (cursor);
    return { cells, rejected };
}
