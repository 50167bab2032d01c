/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets of deployments, and credential files of clouds. Tool calls refer to a secret by its name
 * and never contain it. A secret named X is the environment variable OPSBRAIN_SECRET_X or the file
 * X in the secrets folder. No other variable and no file outside that folder can be named. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"
#include "base/net/url.h"

#define SECRET_NAME_SIZE 64
#define SECRET_VALUE_SIZE 4096

/* INVALID unless the name is [A-Z][A-Z0-9_]{0,62}. */
CHECKED bool secret_name_check(const char *name, struct error *error);
/* Reads a secret from the environment, else from the folder; an empty `folder` means only the
 * environment. The value's trailing newline is removed. NOT_FOUND if neither has it; the message
 * gives both places. INVALID if the value is empty, has SECRET_VALUE_SIZE bytes or more, or has a
 * byte that an Authorization header cannot contain (0x7f, or one below 0x21). */
CHECKED bool secret_read(const char *folder, const char *name, char out[SECRET_VALUE_SIZE],
                         struct error *error);
#define SECRET_FILE_BYTES 262144
/* Reads a file of the folder, of at most SECRET_FILE_BYTES, such as a cloud's credential. `file` is
 * a name that the caller has checked, not a path. A NUL, which *length does not count, follows the
 * bytes. The caller passes *out to secret_file_free. */
CHECKED bool secret_file_read(const char *folder, const char *file, char **out, size_t *length,
                              struct error *error);
void secret_file_free(char *bytes, size_t length); /* wipes the bytes; does nothing for NULL */
/* Reads the file NAME.origins beside a secret's file: where the secret may be sent, one origin per
 * line; blank lines and lines that begin with '#' are ignored. Returns true with *found false if
 * there is no such file. Returns false if the file cannot be read or is invalid: the caller must
 * then send nothing. If *found, the caller frees *out. */
CHECKED bool secret_origins_read(const char *folder, const char *name, char (**out)[ORIGIN_SIZE],
                                 size_t *count, bool *found, struct error *error);
/* Calls `each` with the name of every secret, in no particular order; twice for a secret that is
 * both in the environment and in the folder. */
void secret_names(const char *folder, void (*each)(void *context, const char *name), void *context);
