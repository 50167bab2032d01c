/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what a sweep measured, so that two runs can be compared only if they measured the
 * same. */
#pragma once

#include "bench/workload/workload.h"

/* Returns a JSON document; the caller frees it. Unknown members are null. "workload" is what the
 * plan requests from any server, "request_form" is how that is written for this server: its
 * template, its tokens, the fields that it accepts. `platform` is what the platform reports about
 * the server, or NULL; a region in it replaces the deployment's. Who measured, when and why is not
 * included. */
char *fingerprint_write(const struct deployment *deployment, const struct model_facts *facts,
                        const struct workload *workload, const struct plan *plan,
                        const json_t *platform);
/* Checks that a resumed sweep measures what it began with: CONFLICT if the model, its context, the
 * engine or the engine's version has changed. A value that is unknown on either side counts as
 * unchanged. */
CHECKED bool fingerprint_agrees(const char *document, const struct model_facts *facts,
                                struct error *error);
