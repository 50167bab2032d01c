/* SPDX-License-Identifier: Apache-2.0 */
/* Starts watchdogs. Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Calls `program` as the watchdog of the record's folder, which has taken the record over when this
 * returns. CONFLICT: the folder has a record if `is_new`, has none otherwise, or is watched. */
CHECKED bool machine_spawn(const char *program, const char *folder, const json_t *record,
                           bool is_new, struct error *error);
