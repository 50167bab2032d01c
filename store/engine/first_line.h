/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a secret from the first line of a file: platforms such as Kubernetes pass secrets in
 * files. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"

/* Reads the first line without its line break, truncated to fit `size`. `what`: what the error
 * message calls the file. The caller wipes `out`. INVALID: the file cannot be read. */
CHECKED bool first_line_read(const char *what, const char *path, char *out, size_t size,
                             struct error *error);
