/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a server on this machine, in a folder named after the server. `record.json` has the
 * wanted state: a starting watchdog writes the record that opsbrain gives it, and opsbrain
 * changes the record from then on. The watchdog writes the actual state to `status.json`, and keeps
 * `lock` locked as long as it runs. `key` has the server's API key. Private to fleet/machine. */
#pragma once

#include <jansson.h>
#include <limits.h>

#include "base/core/error.h"

#define MACHINE_RECORD "record.json"
#define MACHINE_STATUS "status.json"
#define MACHINE_LOCK "lock"
#define MACHINE_KEY "key"
#define MACHINE_RECORD_BYTES (256 << 10)

/* INVALID unless the name has 1 to 63 characters from a-z, 0-9 and '-', and does not begin or end
 * with '-'. */
CHECKED bool machine_record_check_name(const char *name, struct error *error);

/* Writes FOLDER/NAME; returns `out`. */
const char *machine_record_path(const char *folder, const char *name, char out[PATH_MAX]);
/* Reads one of the files. NOT_FOUND if it does not exist. New reference. */
CHECKED bool machine_record_read(const char *folder, const char *file, json_t **out,
                                 struct error *error);
/* Replaces one of the files as a whole, and syncs it to disk. */
CHECKED bool machine_record_write(const char *folder, const char *file, const json_t *value,
                                  struct error *error);

/* Takes the lock, which is held until the descriptor *lock is closed. CONFLICT if another process
 * holds it. */
CHECKED bool machine_record_lock(const char *folder, int *lock, struct error *error);
bool machine_record_is_locked(const char *folder);
/* Removes the folder and everything in it; links are removed, not followed. */
void machine_record_remove(const char *path);
