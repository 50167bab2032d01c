// SPDX-License-Identifier: Apache-2.0
import { interop } from './interop.mjs';

interop('Rust', 'build/interop/rust/debug/client');
