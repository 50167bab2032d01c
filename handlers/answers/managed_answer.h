/* SPDX-License-Identifier: Apache-2.0 */
/* Managed deployments in answers: their state, what was last observed, and what they cost. */
#pragma once

#include "handlers/tool.h"
#include "store/fleet/fleet_managed.h"

extern const struct field managed_answer_fields[];
json_t *managed_answer_json(const struct fleet_managed_row *row); /* new reference */
/* Adds one line: "running on lab (created), 1.20 USD per hour, 3.40 so far; no end". */
void managed_answer_describe(const struct fleet_managed_row *row, struct text *out);
