/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep that replaces an earlier one: a finished run is never changed, so that a wrong one is
 * measured again by a new run that points at it. */
#pragma once

#include "handlers/sweeps/sweep_request.h"

/* `id` is the run or sweep that the request corrects; NULL: none. *out has one for each run that
 * the request creates, heap memory. INVALID if the earlier one has other deployments or cells,
 * CONFLICT if it is running or was already corrected: then the correction itself must be corrected.
 */
CHECKED bool corrections_find(struct store *store, const char *id,
                              const struct sweep_request *request, struct correction **out,
                              size_t *count, struct error *error);
