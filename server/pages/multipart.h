/* SPDX-License-Identifier: Apache-2.0 */
/* A form with a file, as multipart/form-data (RFC 7578). */
#pragma once

#include "server/pages/form.h"

#define MULTIPART_BOUNDARY_SIZE 71

/* Finds the boundary in a Content-Type value. False: the value has a different type, or no boundary
 * that fits into `out`. */
bool multipart_boundary(const char *content_type, char out[MULTIPART_BOUNDARY_SIZE]);
/* Reads the fields. The value of a field with a file is the file's name; *file is the content of
 * the last file, borrowed from `bytes` (NULL: there is no file, or it is empty). A part without a
 * name is skipped; reading ends at a malformed part. */
void multipart_read(struct form *form, const char *boundary, const char *bytes, size_t length,
                    const char **file, size_t *file_bytes);
