/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what a sweep measured, so that two runs can be compared only if they measured the same.
 */
#pragma once

#include "bench/workload/workload.h"

/* Unknown members are null, which equals nothing. The workload is what the plan asks of any server.
 * The request form is how it is written for this server: its template, its tokens, the fields that
 * it accepts. `platform` (NULL: nothing) is what the platform shows of the server, and its region
 * counts. Who measured, when and why is provenance and not included. The caller frees the result.
 */
char *fingerprint_write(const struct deployment *deployment, const struct model_facts *facts,
                        const struct workload *workload, const struct plan *plan,
                        const json_t *platform);
/* A resumed sweep must find what it began with: CONFLICT names the model, engine, version or
 * context that has changed. A value that is unknown on either side is no difference. */
CHECKED bool fingerprint_agrees(const char *document, const struct model_facts *facts,
                                struct error *error);
