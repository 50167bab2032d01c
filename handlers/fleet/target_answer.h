/* SPDX-License-Identifier: Apache-2.0 */
/* Targets in answers: as an admin described them, never with a credential. */
#pragma once

#include "handlers/tool.h"
#include "store/fleet/fleet_targets.h"

extern const struct field target_answer_fields[];
json_t *target_answer_json(const struct fleet_target_row *row); /* new reference */
void target_answer_describe(const struct fleet_target_row *row, struct text *out);
/* The frame of the fleet; UNSUPPORTED if this process has none. */
CHECKED bool target_answer_frame(const struct call *call, const struct fleet_frame **out,
                                 struct error *error);
