/* Secrets of deployments: named, never given. A secret named X is the environment variable
 * OPSBRAIN_SECRET_X or the file X in the one secrets folder; nothing else of the machine can be
 * named. */
#pragma once

#include "base/error.h"

#define SECRET_NAME_SIZE 64
#define SECRET_VALUE_SIZE 4096

/* [A-Z][A-Z0-9_]{0,62} */
bool secret_name_check(const char *name, struct error *error);
/* `folder` may be empty: environment only. The value's trailing newline is cut. NOT_FOUND says both
 * places it may be put. Header-breaking bytes (below 0x21, 0x7f) are refused. */
bool secret_read(const char *folder, const char *name, char out[SECRET_VALUE_SIZE],
                 struct error *error);
