/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the audit log as tools and commands show them. */
#pragma once

#include "handlers/tool.h"
#include "store/audit/audit_log.h"

extern const struct field audit_row_fields[];        /* ends with a NULL name */
json_t *audit_row_json(const struct audit_row *row); /* new reference */
/* Adds the rows as a table. */
void audit_rows_text(const struct audit_row *rows, size_t count, struct text *out);
