/* SPDX-License-Identifier: Apache-2.0 */
/* Records that a data folder once had keys, in a file next to the folder: ./data.keys for ./data.
 * Without that record, if the folder were lost or its database replaced, a server with `--auth
 * auto` would start open to everybody on its machine. */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"

/* Writes the record, unless it exists or the folder's name is empty. A failure is only logged. */
void key_marker_write(const char *data_folder);
bool key_marker_exists(const char *data_folder);
/* Removes the record. NOT_FOUND: there is none. */
CHECKED bool key_marker_remove(const char *data_folder, struct error *error);
