/* SPDX-License-Identifier: Apache-2.0 */
/* A server on this machine as files in a folder of its name: opsbrain writes its wanted state to
 * `record.json`, its watchdog writes its actual state to `status.json` and holds `lock` while it
 * lives; `key` is the API key that it asks for. Private to fleet/machine. */
#pragma once

#include <jansson.h>
#include <limits.h>

#include "base/core/error.h"

#define MACHINE_RECORD "record.json"
#define MACHINE_STATUS "status.json"
#define MACHINE_LOCK "lock"
#define MACHINE_KEY "key"
#define MACHINE_RECORD_BYTES (256 << 10)

/* A server's name: a-z, 0-9 and '-', at most 63 of them, not beginning or ending with '-'. */
CHECKED bool machine_record_check_name(const char *name, struct error *error);

/* FOLDER/NAME; returns `out`. */
const char *machine_record_path(const char *folder, const char *name, char out[PATH_MAX]);
/* NOT_FOUND: there is none. */
CHECKED bool machine_record_read(const char *folder, const char *file, json_t **out,
                                 struct error *error);
/* Writes the whole file or nothing, and syncs it to the disk. */
CHECKED bool machine_record_write(const char *folder, const char *file, const json_t *value,
                                  struct error *error);

/* Holds the lock until *lock is closed. CONFLICT: another process holds it. */
CHECKED bool machine_record_lock(const char *folder, int *lock, struct error *error);
bool machine_record_is_locked(const char *folder);
/* Removes the folder and everything in it; links are removed, not followed. */
void machine_record_remove(const char *path);
