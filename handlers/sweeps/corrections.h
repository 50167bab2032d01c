/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runs that a new sweep corrects. A finished run is never changed, even if its figures
 * are wrong: its cells are measured again in a new run, which names the old run as the one that it
 * corrects. */
#pragma once

#include "handlers/sweeps/sweep_request.h"

/* `id` is the run or sweep that the request corrects; NULL: none. *out has an entry for each run
 * that the request corrects; the caller frees it. NOT_FOUND: `id` is unknown. INVALID: the
 * deployments or cells of that run or sweep differ from the request's. CONFLICT: the sweep has not
 * ended, or a run was already corrected (the message names the correction, which the request must
 * correct instead). */
CHECKED bool corrections_find(struct store *store, const char *id,
                              const struct sweep_request *request, struct correction **out,
                              size_t *count, struct error *error);
