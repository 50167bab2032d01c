/* SPDX-License-Identifier: Apache-2.0 */
/* Creating folders. */
#pragma once

#include "base/core/error.h"

/* Creates a folder and its missing parents, accessible only to their owner. INVALID names the part
 * that cannot be created, and why. */
CHECKED bool folders_make(const char *path, struct error *error);
