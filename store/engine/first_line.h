/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose first line is a secret, as platforms mount them. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"

/* Reads the line without its line break, cut to fit `size`. `what`: how the error refers to the
 * file. The caller wipes `out`. INVALID: it cannot be read. */
CHECKED bool first_line_read(const char *what, const char *path, char *out, size_t size,
                             struct error *error);
