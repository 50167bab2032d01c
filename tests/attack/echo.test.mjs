// SPDX-License-Identifier: Apache-2.0
// A model server that repeats its key in every form, in every place, to every tool; the test takes a minute or two.
import { test } from 'node:test';
import { ECHOES, tryEchoes } from '../e2e/support/echo.mjs';

for (const how of ['', 'status', 'inside', 'type'])
    test(`a key that a server repeats is hidden (${how || 'in answers'})`, async (t) => {
        const rounds = [['whole', ''], ...Object.keys(ECHOES).map((name) => [name, how])];
        await tryEchoes(t, rounds, rounds.length);
    });
