/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a server on this machine, as files in a folder of its name: `record.json` is
 * what it shall be, written by opsbrain; `status.json` is what it is, written by its watchdog,
 * which holds `lock` as long as it lives; `key` is what its door asks for. Private to
 * fleet/machine. */
#pragma once

#include <jansson.h>
#include <limits.h>

#include "base/core/error.h"

#define MACHINE_RECORD "record.json"
#define MACHINE_STATUS "status.json"
#define MACHINE_LOCK "lock"
#define MACHINE_KEY "key"
#define MACHINE_RECORD_BYTES (256 << 10)

/* Of a server: a-z, 0-9 and '-', at most 63 of them, without '-' at an end. */
CHECKED bool machine_record_check_name(const char *name, struct error *error);

/* FOLDER/NAME; returns `out`. */
const char *machine_record_path(const char *folder, const char *name, char out[PATH_MAX]);
/* NOT_FOUND: there is none. */
CHECKED bool machine_record_read(const char *folder, const char *file, json_t **out,
                                 struct error *error);
/* Whole or not at all, and on disk. */
CHECKED bool machine_record_write(const char *folder, const char *file, const json_t *value,
                                  struct error *error);

/* Until *lock is closed. CONFLICT: another process has it. */
CHECKED bool machine_record_lock(const char *folder, int *lock, struct error *error);
bool machine_record_is_locked(const char *folder);
/* The folder and all in it; links are removed, not followed. */
void machine_record_remove(const char *path);
