/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the files of evidence share. Private to analysis/evidence/. */
#pragma once

#include "analysis/evidence/evidence.h"

/* Loads our own run into an initialised evidence, as evidence_find does. */
CHECKED bool evidence_find_run(struct store *store, const char *id, struct evidence *out,
                               struct error *error);
