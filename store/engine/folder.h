/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the data folder and locks it against a second process. Private to store/. */
#pragma once

#include "base/core/error.h"

/* Creates the folder (mode 0700) if it is missing, and locks `<folder>/lock` until the caller
 * closes *lock_file. CONFLICT: another process has locked it. */
CHECKED bool folder_lock(const char *folder, int *lock_file, struct error *error);
