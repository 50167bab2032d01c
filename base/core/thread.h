/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads. Each has a name, and blocks all signals, so that only the main thread receives
 * them. No other file of the program starts threads. */
#pragma once

#include <pthread.h>

#include "base/core/error.h"

/* `name` has at most 15 characters, and is shown in /proc. BUSY if there are too many threads. The
 * caller must pthread_join the thread. */
CHECKED bool thread_start(const char *name, void *(*run)(void *context), void *context,
                          pthread_t *out, struct error *error);

/* Initializes a condition variable whose timed waits use CLOCK_MONOTONIC. The caller must
 * pthread_cond_destroy it. */
void thread_condition_init(pthread_cond_t *condition);
