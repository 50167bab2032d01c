/* SPDX-License-Identifier: Apache-2.0 */
/* A function that the files of analysis/evidence/ share. Private to that directory. */
#pragma once

#include "analysis/evidence/evidence.h"

/* Loads our own run into *out, which must be initialised. Otherwise like evidence_find(). */
CHECKED bool evidence_find_run(struct store *store, const char *id, struct evidence *out,
                               struct error *error);
