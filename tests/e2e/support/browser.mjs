// SPDX-License-Identifier: Apache-2.0
// A minimal browser. It keeps cookies and sends forms as a browser does, but does not follow redirects.
import assert from 'node:assert/strict';
import { request } from './harness.mjs';

export class Browser {
    constructor(port, headers = {}) {
        this.port = port;
        this.headers = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers };
        this.cookies = new Map();
        this.origin = `http://127.0.0.1:${port}`;
    }

    async ask(method, path, headers, body) {
        const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await request(this.port, {
            method,
            path,
            headers: { ...this.headers, ...(cookie && { Cookie: cookie }), ...headers },
            body,
        });
        for (const line of answer.headers['set-cookie'] ?? []) {
            const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
            if (/Max-Age=0/.test(line)) this.cookies.delete(name);
            else this.cookies.set(name, value);
        }
        return answer;
    }

    get(path, headers = {}) {
        return this.ask('GET', path, headers);
    }

    // post(path, fields, headers): sends the fields as a form; a header whose value is undefined is not sent.
    post(path, fields, headers = {}) {
        const all = {
            'Content-Type': 'application/x-www-form-urlencoded',
            Origin: this.origin,
            'Sec-Fetch-Site': 'same-origin',
            ...headers,
        };
        for (const [name, value] of Object.entries(all)) if (value === undefined) delete all[name];
        return this.ask('POST', path, all, new URLSearchParams(fields).toString());
    }

    // token(path): the token in the forms on the page at `path`, without which the server refuses them.
    async token(path = '/') {
        const { body } = await this.get(path);
        return tokenOf(body);
    }

    // signIn(key, to): signs in with the form at /sign-in, which then redirects to the path `to`; returns that response.
    async signIn(key, to = '/') {
        const token = await this.token('/sign-in');
        const answer = await this.post('/sign-in', { token, to, key });
        assert.equal(answer.status, 303, answer.body);
        return answer;
    }
}

export function tokenOf(body) {
    const found = body.match(/name="token" value="([0-9a-f]{64})"/)?.[1];
    assert.ok(found, body);
    return found;
}
