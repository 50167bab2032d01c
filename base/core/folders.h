/* SPDX-License-Identifier: Apache-2.0 */
/* Creating folders. */
#pragma once

#include "base/core/error.h"

/* If the folder does not exist, creates it and its missing parents. New folders are accessible only
 * to their owner. INVALID if one of them cannot be created. */
CHECKED bool folders_make(const char *path, struct error *error);
