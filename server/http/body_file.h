/* SPDX-License-Identifier: Apache-2.0 */
/* Stores a request's body on disk, in a file without a name, so that large bodies do not fill the
 * memory. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"

struct body_file {
    int fd; /* -1: none */
    size_t size;
};

/* Creates the file in this folder. On false, out->fd is -1. This function and the next fail with
 * BUSY if the disk is full. */
CHECKED bool body_file_create(const char *folder, struct body_file *out, struct error *error);
CHECKED bool body_file_add(struct body_file *file, const char *bytes, size_t size,
                           struct error *error);
/* Maps the whole body, which must not be empty, until body_file_unmap. The mapping does not fill
 * the memory: the kernel loads pages on demand, and can drop them again. */
CHECKED bool body_file_map(const struct body_file *file, const char **out, struct error *error);
void body_file_unmap(const struct body_file *file, const char *bytes);
void body_file_finish(struct body_file *file);
