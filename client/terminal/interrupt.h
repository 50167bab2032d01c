/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, SIGTERM and SIGHUP as a state that a command checks, so that it can end cleanly. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct interrupt {
    int descriptor; /* of a signalfd; -1: it is not open */
    bool arrived;   /* one of the signals has arrived */
};

/* From now on the signals are only recorded; if no signalfd can be opened, they still end the
 * process. Call it while the process has only one thread: threads that are started later block
 * the signals, too. */
void interrupt_begin(struct interrupt *interrupt);
/* Whether one of the signals arrived; the context is a struct interrupt. */
bool interrupt_arrived(void *context);
/* Waits this long; false: a signal arrived before the end. */
bool interrupt_sleep(struct interrupt *interrupt, int64_t milliseconds);
/* Waits until the descriptor can be read, or is at its end; false: a signal arrived first. */
bool interrupt_until_input(struct interrupt *interrupt, int descriptor);
/* Lets signals end the process again, unless `arrived` is set: then they stay blocked. */
void interrupt_end(struct interrupt *interrupt);
