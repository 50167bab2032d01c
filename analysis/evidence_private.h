/* What the files of evidence share. Private to analysis/evidence*.c. */
#pragma once

#include "analysis/evidence.h"

bool evidence_find_run(struct store *store, const char *id, struct evidence *out,
                       struct error *error);
