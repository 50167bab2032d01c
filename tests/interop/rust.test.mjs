import { interop } from './interop.mjs';

interop('Rust', 'build/interop/rust/debug/client');
