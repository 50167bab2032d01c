/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runs that a new sweep corrects. A finished run is never changed: if it is wrong, a new
 * run that points at it measures it again. */
#pragma once

#include "handlers/sweeps/sweep_request.h"

/* `id` is the run or sweep that the request corrects; NULL: none. *out has an entry for each run
 * that the request corrects; the caller frees it. NOT_FOUND: `id` is unknown. INVALID: the
 * earlier run or sweep has other deployments or cells. CONFLICT: its sweep has not ended, or it was
 * already corrected; the newest correction must then be corrected instead. */
CHECKED bool corrections_find(struct store *store, const char *id,
                              const struct sweep_request *request, struct correction **out,
                              size_t *count, struct error *error);
