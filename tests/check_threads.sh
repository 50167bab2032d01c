#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails where a thread is started, or a condition is given its clock, elsewhere than in base/core/thread.c.
cd "$(dirname "$0")/.." || exit 1

! grep -rnE 'pthread_create\(|pthread_condattr_' base store jobs bench fleet analysis handlers server --include='*.[ch]' |
    grep -v '^base/core/thread\.c:'
