/* SPDX-License-Identifier: Apache-2.0 */
/* Records, beside a data folder, that it once had keys: ./data.keys for ./data. Otherwise, if the
 * folder were lost or its database replaced, `--auth auto` would start open to everybody. */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"

/* Writes the record. Failures are only logged, and an existing file stays. */
void key_marker_write(const char *data_folder);
bool key_marker_exists(const char *data_folder);
/* Removes the record. NOT_FOUND: there is none. */
CHECKED bool key_marker_remove(const char *data_folder, struct error *error);
