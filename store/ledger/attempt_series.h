/* SPDX-License-Identifier: Apache-2.0 */
/* The scrapes of a model server's metrics that were made during an attempt to measure a cell. */
#pragma once

#include <jansson.h>

#include "store/ledger/change.h"

/* Reads the scrapes as columns: {"at_ms": [...], "requests_running": [...], ...}. NOT_FOUND: none
 * are stored. *out: new reference. */
CHECKED bool attempt_series_find(struct store *store, int64_t attempt_id, json_t **out,
                                 struct error *error);
