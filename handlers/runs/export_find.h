/* SPDX-License-Identifier: Apache-2.0 */
/* A run as it leaves: with what an audit finds about its cells marked. */
#pragma once

#include "analysis/export/export.h"
#include "handlers/tool.h"

/* NOT_FOUND names the id. Free with evidence_finish, also after failing. */
CHECKED bool export_find(struct call *call, const char *run, struct evidence *out,
                         struct error *error);
