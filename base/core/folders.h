/* SPDX-License-Identifier: Apache-2.0 */
/* Creating folders. */
#pragma once

#include "base/core/error.h"

/* Creates what is missing of a folder and its parents, for their owner alone. INVALID: which part
 * cannot be created, and why. */
CHECKED bool folders_make(const char *path, struct error *error);
