/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep that stands in for an earlier one: nothing changes a finished run, so that what was wrong
 * is measured anew and points at it. */
#pragma once

#include "handlers/sweeps/sweep_request.h"

/* `id` is of the run or sweep that the request corrects; NULL: none. *out has one for each run that
 * the request makes, heap memory. INVALID where the earlier one is of other deployments or cells,
 * CONFLICT where it is at work or was corrected before: that correction is to be corrected then. */
CHECKED bool corrections_find(struct store *store, const char *id,
                              const struct sweep_request *request, struct correction **out,
                              size_t *count, struct error *error);
