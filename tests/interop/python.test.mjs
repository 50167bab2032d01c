// SPDX-License-Identifier: Apache-2.0
import { interop } from './interop.mjs';

interop('Python', 'build/interop/python/bin/python', 'tests/interop/python/client.py');
