/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what a sweep measured. The description shows whether two runs measured the same thing,
 * and so can be compared. */
#pragma once

#include "bench/workload/workload.h"

/* Returns a JSON document; the caller frees it. Members with unknown values are null. Its
 * "workload" is what the plan requests from any server. Its "request_form" says how requests to
 * this server are made: the API, the pieces that prompts are made of, how many tokens a piece has,
 * how many tokens the server itself adds, and which request fields it accepts
 * (workload_specification). `platform` is what the platform reports about the server, or NULL; if
 * it has a region, that replaces the deployment's. The document does not say who measured, when, or
 * why. */
char *fingerprint_write(const struct deployment *deployment, const struct model_facts *facts,
                        const struct workload *workload, const struct plan *plan,
                        const json_t *platform);
/* Checks that a resumed sweep still measures what it measured before: CONFLICT if the model, its
 * context length, the engine or the engine's version has changed. A value that was unknown when the
 * sweep began, or is unknown now, counts as unchanged. */
CHECKED bool fingerprint_agrees(const char *document, const struct model_facts *facts,
                                struct error *error);
