/* SPDX-License-Identifier: Apache-2.0 */
/* The requests and the observed state of a plan as JSON, and back. */
#pragma once

#include "fleet/providers/provider.h"

json_t *managed_document_step(const struct step *step); /* new reference */
/* Free with step_list_free. INTERNAL: it is not what was stored. */
CHECKED bool managed_document_steps(const json_t *list, struct step **out, size_t *count,
                                    struct error *error);
/* What a plan depends on: existence, state, revision and fields. New reference. */
json_t *managed_document_observed(const struct observed *observed);
/* What a provider needs to return the key of a server, and the address to which that key is sent.
 * New reference; `out` has no other members than these. */
json_t *managed_document_door(const struct observed *observed);
void managed_document_read_door(const json_t *door, struct observed *out);
/* Adds "replicas 1 -> 3, image \"a\" -> nothing" for the members of `before` that differ in
 * `after`, until `out` has about `limit` bytes. */
void managed_document_differences(const json_t *before, const json_t *after, size_t limit,
                                  struct text *out);
/* The whole observed state, for deployment_show. New reference. */
json_t *managed_document_sighting(const struct observed *observed);
