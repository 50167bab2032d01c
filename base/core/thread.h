/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads, with a name and with all signals blocked: only the main thread receives them.
 * Every thread of the program is started here. */
#pragma once

#include <pthread.h>

#include "base/core/error.h"

/* `name` shows in /proc (at most 15 characters). pthread_join it. BUSY: there are too many. */
CHECKED bool thread_start(const char *name, void *(*run)(void *context), void *context,
                          pthread_t *out, struct error *error);

/* Initializes a condition whose timed waits use CLOCK_MONOTONIC. pthread_cond_destroy it. */
void thread_condition_init(pthread_cond_t *condition);
