/* SPDX-License-Identifier: Apache-2.0 */
/* Creating folders. */
#pragma once

#include "base/core/error.h"

/* Creates a folder, unless it exists, and its missing parents. What it creates is accessible only
 * to the owner. INVALID if one of them cannot be created. */
CHECKED bool folders_make(const char *path, struct error *error);
