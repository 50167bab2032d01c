/* SPDX-License-Identifier: Apache-2.0 */
/* What the process itself has to say in the audit: that it starts, with which settings, and stops.
 */
#pragma once

#include "base/core/error.h"

struct settings;
struct store;

/* The key that rows of the audit are made with: `file` is "" where there is none, and must not lie
 * in the data folder. INVALID also where the audit has a key and none is given. */
CHECKED bool audit_notes_use_key(struct store *store, const char *data_folder, const char *file,
                                 struct error *error);
/* A row that cannot be written, as on a full disk, is logged. */
void audit_note_start(struct store *store, const struct settings *settings);
void audit_note_stop(struct store *store, const char *why); /* why: the signal */
