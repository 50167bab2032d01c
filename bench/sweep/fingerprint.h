/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep measured, so that two runs can be told alike or not. */
#pragma once

#include "bench/workload/workload.h"

/* Unknown members are null: nothing is equal to them. The workload is what the plan asks of any
 * server; the request form, how it is written for this one: its template, its tokens, the fields it
 * takes. Who measured, when and why is provenance and
 * not here. Heap memory. */
char *fingerprint_write(const struct deployment *deployment, const struct model_facts *facts,
                        const struct workload *workload, const struct plan *plan);
/* A sweep that is taken up again must find what it began with: CONFLICT says what is another model,
 * engine, version or context now. What either side does not know is no difference. */
CHECKED bool fingerprint_agrees(const char *document, const struct model_facts *facts,
                                struct error *error);
