/* SPDX-License-Identifier: Apache-2.0 */
/* Browser tabs that watch everything: each gets an event with the names of what changed, and asks
 * again for what it shows. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/error.h"

struct sse_queue;
struct watchers;

struct watchers *watchers_create(void);
void watchers_destroy(struct watchers *watchers); /* NULL is fine */

/* Until its connection is over; takes its own reference. BUSY: there are too many. */
CHECKED bool watchers_add(struct watchers *watchers, struct sse_queue *sse_queue,
                          struct error *error);
bool watchers_any(struct watchers *watchers);
/* One JSON message to each. */
void watchers_notify(struct watchers *watchers, const char *json, size_t length);
