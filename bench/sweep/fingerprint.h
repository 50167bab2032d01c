/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what a sweep measured. The description shows whether two runs measured the same thing,
 * and so can be compared. */
#pragma once

#include "bench/workload/workload.h"

/* Returns a JSON document; the caller frees it. Unknown members are null. "workload" is what the
 * plan requests from any server; "request_form" is how that is written for this server: the
 * template, the tokens, and the fields that the server accepts. `platform` is what the platform
 * reports about the server, or NULL; if it has a region, that replaces the deployment's. The
 * document does not say who measured, when, or why. */
char *fingerprint_write(const struct deployment *deployment, const struct model_facts *facts,
                        const struct workload *workload, const struct plan *plan,
                        const json_t *platform);
/* Checks that a resumed sweep still measures what it measured before: CONFLICT if the model, its
 * context, the engine or the engine's version has changed. A value that is unknown then or now
 * counts as unchanged. */
CHECKED bool fingerprint_agrees(const char *document, const struct model_facts *facts,
                                struct error *error);
