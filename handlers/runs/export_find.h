/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a run for export, and audits it: each finding becomes a warning in the cells concerned. */
#pragma once

#include "analysis/export/export.h"
#include "handlers/tool.h"

/* `run`: the id of a run or an import. NOT_FOUND: the message names the id. Free *out with
 * evidence_finish, even after a failure. */
CHECKED bool export_find(struct call *call, const char *run, struct evidence *out,
                         struct error *error);
