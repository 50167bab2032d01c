/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the process's own rows of the audit log: that it starts, with which settings, and that it
 * stops. */
#pragma once

#include "base/core/error.h"

struct settings;
struct store;

/* Sets the key of the audit log's rows: `file` is "" if there is none, and must not be in the data
 * folder. INVALID, too, if the log has a key and none is given. */
CHECKED bool audit_notes_use_key(struct store *store, const char *data_folder, const char *file,
                                 struct error *error);
/* If a row cannot be written, for example on a full disk, that is logged. */
void audit_note_start(struct store *store, const struct settings *settings);
void audit_note_stop(struct store *store, const char *why); /* `why`: the signal */
