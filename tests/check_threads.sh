#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if a thread is started, or a condition variable is given its clock, anywhere in the program but in
# base/core/thread.c.
cd "$(dirname "$0")/.." || exit 1

! grep -rnE 'pthread_create\(|pthread_condattr_' base store jobs bench fleet analysis handlers web client server --include='*.[ch]' |
    grep -v '^base/core/thread\.c:'
