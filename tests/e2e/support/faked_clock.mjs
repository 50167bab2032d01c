// SPDX-License-Identifier: Apache-2.0
// A wall clock, faked with libfaketime, that a test can set while the program is running.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { temporaryFolder } from './harness.mjs';

const LIBRARY = ['x86_64', 'aarch64']
    .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
    .find((file) => existsSync(file));

// The reason why tests with a faked clock are skipped; false if they are not.
export const NO_FAKED_CLOCK = LIBRARY === undefined && 'libfaketime is not installed (apt install faketime)';

// fakedClock(t, {monotonic}): returns {env, set}. `env` has the variables to add to a program's environment. set('+400d') then
// sets the program's wall clock 400 days ahead. With `monotonic`, its monotonic clock jumps too (libfaketime's default).
export async function fakedClock(t, { monotonic = false } = {}) {
    const file = path.join(await temporaryFolder(t), 'offset');
    const set = (offset) => writeFile(file, `${offset}\n`);
    await set('+0');
    const env = {
        LD_PRELOAD: LIBRARY,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:verify_asan_link_order=0`,
        ...(monotonic ? {} : { DONT_FAKE_MONOTONIC: '1' }),
    };
    return { env, set };
}
