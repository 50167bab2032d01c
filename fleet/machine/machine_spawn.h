/* SPDX-License-Identifier: Apache-2.0 */
/* Starts watchdogs. Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Starts `program` as the watchdog of the record's folder and returns after it has taken over the
 * record. CONFLICT: the folder already has a record although `is_new`, has none although not
 * `is_new`, or is already watched. */
CHECKED bool machine_spawn(const char *program, const char *folder, const json_t *record,
                           bool is_new, struct error *error);
