/* SPDX-License-Identifier: Apache-2.0 */
/* Exports the audit log for other programs. */
#pragma once

#include <jansson.h>

#include "store/ledger/change.h"

/* Reads the rows whose ids are greater than `after_id`, oldest first, as JSON objects with all
 * columns of the row, its digest included. Texts with NUL or invalid UTF-8 are changed. Stops after
 * 1,000 rows, or once their texts have 128 KiB. *rows: new reference; an empty list if there are no
 * more rows. */
CHECKED bool audit_export(struct store *store, int64_t after_id, json_t **rows,
                          struct error *error);
