/* SPDX-License-Identifier: Apache-2.0 */
/* Shows targets in answers as an admin described them, but never the content of a credential. */
#pragma once

#include "handlers/tool.h"
#include "store/fleet/fleet_targets.h"

extern const struct field target_answer_fields[];
json_t *target_answer_json(const struct fleet_target_row *row); /* new reference */
/* Adds three lines: name, platform and place; regions and limits; kind and file of the
 * credential. */
void target_answer_describe(const struct fleet_target_row *row, struct text *out);
/* *out: what deploying needs from this process. UNSUPPORTED: the process cannot deploy. */
CHECKED bool target_answer_frame(const struct call *call, const struct fleet_frame **out,
                                 struct error *error);
