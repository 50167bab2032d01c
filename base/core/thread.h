/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a thread: named, and without signals, which are the main thread's. */
#pragma once

#include <pthread.h>

#include "base/core/error.h"

/* `name` shows in /proc (at most 15 characters). pthread_join it. */
CHECKED bool thread_start(const char *name, void *(*run)(void *context), void *context,
                          pthread_t *out, struct error *error);
