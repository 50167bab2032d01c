/* SPDX-License-Identifier: Apache-2.0 */
/* That a data folder once had keys, remembered beside it: ./data.keys for ./data. Where the folder
 * is lost, or its database is another one, `--auth auto` would else start open to everybody. */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"

/* Where it can be written; else that is logged. What lies there already stays. */
void key_marker_write(const char *data_folder);
bool key_marker_exists(const char *data_folder);
/* NOT_FOUND if there is none. */
CHECKED bool key_marker_remove(const char *data_folder, struct error *error);
