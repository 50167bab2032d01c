/* SPDX-License-Identifier: Apache-2.0 */
/* A run for export: its cells carry the audit's findings as warnings. */
#pragma once

#include "analysis/export/export.h"
#include "handlers/tool.h"

/* NOT_FOUND names the id. Free with evidence_finish, also after failing. */
CHECKED bool export_find(struct call *call, const char *run, struct evidence *out,
                         struct error *error);
