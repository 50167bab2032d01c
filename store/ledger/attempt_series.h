/* SPDX-License-Identifier: Apache-2.0 */
/* The stored scrapes of an attempt at a cell. */
#pragma once

#include <jansson.h>

#include "store/ledger/change.h"

/* As columns: {"at_ms": [...], "requests_running": [...], ...}. NOT_FOUND if none are stored. New
 * reference. */
CHECKED bool attempt_series_find(struct store *store, int64_t attempt_id, json_t **out,
                                 struct error *error);
