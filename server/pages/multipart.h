/* SPDX-License-Identifier: Apache-2.0 */
/* A form with a file, as multipart/form-data (RFC 7578). */
#pragma once

#include "server/pages/form.h"

#define MULTIPART_BOUNDARY_SIZE 71

/* The boundary of a Content-Type value; false: it is of another type, or names none. */
bool multipart_boundary(const char *content_type, char out[MULTIPART_BOUNDARY_SIZE]);
/* The fields; of the field with a file its name is the value, and *file its content, borrowed from
 * `bytes` (NULL: none). What is not well-formed is skipped. */
void multipart_read(struct form *form, const char *boundary, const char *bytes, size_t length,
                    const char **file, size_t *file_bytes);
