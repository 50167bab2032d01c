/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads with a bounded queue. If there is little work, few of the threads are used. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"

struct workers;

/* `name` has at most 11 characters, and is shown in /proc. `niceness` is 0, or up to 19 for work
 * that is less urgent than that of other threads. Free with workers_destroy. */
CHECKED bool workers_create(const char *name, unsigned threads, size_t queue_limit, int niceness,
                            struct workers **out, struct error *error);
/* Calls run(context) on one of the threads. BUSY if the queue is full; `run` is then not called. */
CHECKED bool workers_submit(struct workers *workers, void (*run)(void *context), void *context,
                            struct error *error);
size_t workers_queued(struct workers *workers); /* how many calls wait in the queue */
/* Runs the queued calls, then joins the threads; does nothing for NULL. */
void workers_destroy(struct workers *workers);
