/* SPDX-License-Identifier: Apache-2.0 */
/* Browser tabs that read an event stream. After a change, each of these tabs receives an event with
 * the names of what changed, and passes the names on to the browser's other tabs. A tab reloads its
 * page if the page shows anything that changed. Any thread can call these functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/error.h"

struct sse_queue;
struct watchers;

struct watchers *watchers_create(void);
void watchers_destroy(struct watchers *watchers); /* NULL is fine */

/* Adds a tab, until its connection has ended. Takes a reference to `sse_queue`. `session`: the
 * digest of the browser's cookie; NULL: the browser is not signed in. BUSY: there are too many
 * tabs, for this principal or in total. */
CHECKED bool watchers_add(struct watchers *watchers, struct sse_queue *sse_queue,
                          const char *principal, const uint8_t session[DIGEST_BYTES],
                          struct error *error);
/* Ends the streams of a browser that was signed out. */
void watchers_end(struct watchers *watchers, const uint8_t session[DIGEST_BYTES]);
bool watchers_any(struct watchers *watchers);
/* Sends one JSON message to each tab. */
void watchers_notify(struct watchers *watchers, const char *json, size_t length);
