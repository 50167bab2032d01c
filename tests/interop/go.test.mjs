// SPDX-License-Identifier: Apache-2.0
import { interop } from './interop.mjs';

interop('Go', 'build/interop/go/client');
