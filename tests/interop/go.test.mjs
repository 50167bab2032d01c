import { interop } from './interop.mjs';

interop('Go', 'build/interop/go/client');
