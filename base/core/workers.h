/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads with a bounded queue. A low load uses few of them. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"

struct workers;

/* `name` is shown in /proc (at most 11 characters). `niceness`: 0, or up to 19 for work that other
 * threads take precedence over. Free with workers_destroy. */
CHECKED bool workers_create(const char *name, unsigned threads, size_t queue_limit, int niceness,
                            struct workers **out, struct error *error);
/* Runs run(context) on one of the threads. BUSY if the queue is full; run is then not called. */
CHECKED bool workers_submit(struct workers *workers, void (*run)(void *context), void *context,
                            struct error *error);
size_t workers_queued(struct workers *workers);
/* Runs what is queued, then joins; does nothing for NULL. */
void workers_destroy(struct workers *workers);
