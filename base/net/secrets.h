/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets for deployments, and credential files for clouds. Tool calls refer to a secret by its
 * name and never contain its value. A secret named X is the environment variable OPSBRAIN_SECRET_X
 * or the file X in the secrets folder. No other variable and no file outside that folder can be
 * named. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"
#include "base/net/url.h"

#define SECRET_NAME_SIZE 64    /* including the NUL at the end */
#define SECRET_VALUE_SIZE 4096 /* including the NUL at the end */

/* INVALID unless the name is [A-Z][A-Z0-9_]{0,62}. */
CHECKED bool secret_name_check(const char *name, struct error *error);
/* Reads a secret from the environment or, if it is not there, from the folder; if `folder` is "",
 * only from the environment. A newline at the end of the value is removed. NOT_FOUND if neither has
 * the secret; the message says where to put it. INVALID if the value is empty, has
 * SECRET_VALUE_SIZE bytes or more, or has a byte that an Authorization header cannot contain (0x7f,
 * or one below 0x21). INTERNAL if the secret's file cannot be read. */
CHECKED bool secret_read(const char *folder, const char *name, char out[SECRET_VALUE_SIZE],
                         struct error *error);
#define SECRET_FILE_BYTES 262144
/* Reads a file in the folder, such as a cloud's credentials; INVALID if it has more than
 * SECRET_FILE_BYTES. `file` is a name that the caller has checked, not a path. The bytes in *out
 * are followed by a NUL, which *length does not count. The caller passes *out to
 * secret_file_free. */
CHECKED bool secret_file_read(const char *folder, const char *file, char **out, size_t *length,
                              struct error *error);
void secret_file_free(char *bytes, size_t length); /* wipes the bytes; does nothing for NULL */
/* Reads the file NAME.origins in the folder, which lists where the secret NAME is allowed to be
 * sent. It has one origin per line; empty lines and lines that begin with '#' are ignored. If there
 * is no such file, sets *found to false and returns true. If the file cannot be read or is invalid,
 * returns false, and the caller must not send the secret. If *found, the caller frees *out. */
CHECKED bool secret_origins_read(const char *folder, const char *name, char (**out)[ORIGIN_SIZE],
                                 size_t *count, bool *found, struct error *error);
/* Calls `each` with the name of every secret, in no particular order, and twice if the secret is
 * both in the environment and in the folder. */
void secret_names(const char *folder, void (*each)(void *context, const char *name), void *context);
