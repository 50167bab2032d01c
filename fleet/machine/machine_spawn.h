/* SPDX-License-Identifier: Apache-2.0 */
/* Starts watchdogs (machine_watch.h). Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Starts `program` as a watchdog, and waits until the watchdog has stored the record in `folder`.
 * CONFLICT if `is_new` is true and the folder already has a record, if `is_new` is false and the
 * folder has no record, or if another watchdog holds the folder's lock. */
CHECKED bool machine_spawn(const char *program, const char *folder, const json_t *record,
                           bool is_new, struct error *error);
