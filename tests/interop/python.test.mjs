// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { interop } from './interop.mjs';

const PYTHON = 'build/interop/python/bin/python';

interop('Python', PYTHON, 'tests/interop/python/client.py');

test("the Grafana dashboard has only members that Grafana's own models or its Prometheus plugin know", async () => {
    const { stdout } = await promisify(execFile)(PYTHON, ['tests/interop/python/dashboard.py', 'docs/grafana/opsbrain.json']);
    assert.equal(stdout, '');
});
