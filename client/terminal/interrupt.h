/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, SIGTERM and SIGHUP as something to look at, so that a command can end in order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct interrupt {
    int descriptor; /* -1: signals end the process, as usual */
    bool seen;
};

/* From now on the signals are only noted, on this thread; other threads do not take them. */
void interrupt_begin(struct interrupt *interrupt);
/* Whether there was one; its context is a struct interrupt. */
bool interrupt_seen(void *context);
/* Waits; false: interrupted before the time was over. */
bool interrupt_sleep(struct interrupt *interrupt, int64_t milliseconds);
void interrupt_end(struct interrupt *interrupt);
