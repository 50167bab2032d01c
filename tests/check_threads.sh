#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if any file of the program except base/core/thread.c starts a thread or sets the clock of a condition variable.
cd "$(dirname "$0")/.." || exit 1

! grep -rnE 'pthread_create\(|pthread_condattr_' base store jobs bench fleet analysis handlers web client server --include='*.[ch]' |
    grep -v '^base/core/thread\.c:'
