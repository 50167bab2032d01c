/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a thread: named, and without signals, which are the main thread's. Every thread of the
 * program is started here. */
#pragma once

#include <pthread.h>

#include "base/core/error.h"

/* `name` shows in /proc (at most 15 characters). pthread_join it. BUSY: there are too many. */
CHECKED bool thread_start(const char *name, void *(*run)(void *context), void *context,
                          pthread_t *out, struct error *error);

/* A condition whose timed waits end at a time of CLOCK_MONOTONIC. pthread_cond_destroy it. */
void thread_condition_init(pthread_cond_t *condition);
