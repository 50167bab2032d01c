/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a plan's requests and the observed state of a server as JSON. Reads back the requests and
 * one part of the observed state, the door (managed_document_door). */
#pragma once

#include "fleet/providers/provider.h"

json_t *managed_document_step(const struct step *step); /* new reference */
/* Reads a list of steps that managed_document_step wrote. Free with step_list_free. INTERNAL if
 * `list` is not a list. */
CHECKED bool managed_document_read_steps(const json_t *list, struct step **out, size_t *count,
                                         struct error *error);
/* Writes the part of the observed state on which a plan depends, such as existence, state, revision
 * and fields. New reference. */
json_t *managed_document_basis(const struct observed *observed);
/* Writes the server's door: what a provider needs in order to find the server's key, and the
 * address to which that key is sent. New reference. */
json_t *managed_document_door(const struct observed *observed);
/* Reads a door; all other members of *out are zeroed. */
void managed_document_read_door(const json_t *door, struct observed *out);
/* Appends the members of `before` that differ in `after`, such as "replicas 1 -> 3, image \"a\" ->
 * nothing", until `out` has more than `limit` bytes. */
void managed_document_differences(const json_t *before, const json_t *after, size_t limit,
                                  struct text *out);
/* Writes the observed state as it is stored (fleet_managed_row.observed). New reference. */
json_t *managed_document_observation(const struct observed *observed);
