/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a backup. Private to store/copy/. */
#pragma once

#include <signal.h>

#include "store/copy/backup_file.h"
#include "store/copy/copy_rows.h"

struct backup_writer {
    struct backup_file file;
    char *temporary;      /* the path of the incomplete file; NULL: there is none */
    struct text digests;  /* of the tables so far */
    sigset_t mask_before; /* the thread's signal mask, to be restored */
};

/* Begins a temporary file beside `path` (borrowed). `key_path`: as for backup_file_begin. `engine`:
 * the name of the source's engine, which the file records. CONFLICT: `path` exists. Blocks SIGHUP,
 * SIGINT and SIGTERM until backup_writer_finish, except those that the process ignores. After such
 * a signal, writing a piece fails (CANCELLED), so that backup_writer_finish deletes the incomplete
 * file. */
CHECKED bool backup_writer_begin(const char *path, const char *key_path, const char *engine,
                                 struct backup_writer *out, struct error *error);
struct copy_sink backup_writer_sink(struct backup_writer *writer);
/* Completes the file and, once it is on disk, renames it to its path. If the folder then cannot be
 * synced, returns false, but the file stays at its path. */
CHECKED bool backup_writer_end(struct backup_writer *writer, struct error *error);
/* Deletes the file unless it is complete, and restores the signal mask. */
void backup_writer_finish(struct backup_writer *writer);
