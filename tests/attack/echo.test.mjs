// SPDX-License-Identifier: Apache-2.0
// A model server repeats the key that opsbrain sends it, in each of the forms in ECHOES, wherever it can. Every test calls all
// tools that query a model server.
import { test } from 'node:test';
import { ECHOES, tryEchoes } from '../e2e/support/echo.mjs';

const FAILURES = {
    '': 'in its answers',
    status: 'in answers with status 401',
    inside: 'in an error within a stream',
    type: 'in a wrong content type',
};

for (const [failing, where] of Object.entries(FAILURES))
    test(`a key that a server repeats ${where} is hidden`, async (t) => {
        const rounds = [['whole', ''], ...Object.keys(ECHOES).map((name) => [name, failing])];
        await tryEchoes(t, rounds, rounds.length);
    });
