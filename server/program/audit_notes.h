/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the store the keys for the audit log, and writes the log's rows about the process itself:
 * its start, with the settings that differ from the defaults, and its stop. */
#pragma once

#include "base/core/error.h"

struct settings;
struct store;

/* Sets the file with the secret keys for the audit log's digests; "": none. INVALID: the file is in
 * the data folder or cannot be used, or the digests need a key and no file is given. */
CHECKED bool audit_notes_use_key(struct store *store, const char *data_folder, const char *file,
                                 struct error *error);
/* These write a row about the start or the stop. A failure, such as a full disk, is only logged. */
void audit_note_start(struct store *store, const struct settings *settings);
void audit_note_stop(struct store *store, const char *why); /* `why`: such as "Terminated" */
