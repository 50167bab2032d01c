/* SPDX-License-Identifier: Apache-2.0 */
/* Exports the audit log, as it is stored, for other programs. */
#pragma once

#include <jansson.h>

#include "store/ledger/change.h"

/* Reads the rows after `after_id`, oldest first, as JSON objects with everything that their digests
 * cover: about 128 KiB or 1,000 rows, and at least one. *rows: new reference; empty after the last
 * row. */
CHECKED bool audit_export(struct store *store, int64_t after_id, json_t **rows,
                          struct error *error);
