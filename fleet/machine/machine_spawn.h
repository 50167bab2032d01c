/* SPDX-License-Identifier: Apache-2.0 */
/* Starts watchdogs. Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Starts `program` as the watchdog of a record's folder, and waits until the watchdog has stored
 * the record. CONFLICT if the folder already has a record although `is_new` is true, if it has none
 * although `is_new` is false, or if another watchdog holds the folder's lock. */
CHECKED bool machine_spawn(const char *program, const char *folder, const json_t *record,
                           bool is_new, struct error *error);
