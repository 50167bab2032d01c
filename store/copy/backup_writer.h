/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a backup. Private to store/copy/. */
#pragma once

#include <signal.h>

#include "store/copy/backup_file.h"
#include "store/copy/copy_rows.h"

struct backup_writer {
    struct backup_file file;
    char *temporary;     /* its path until it is complete */
    struct text digests; /* of the tables so far */
    sigset_t blocked;    /* the thread's signal mask before */
};

/* Begins a temporary file beside `path` (borrowed). CONFLICT: `path` exists. Until the writer is
 * finished, signals that end the process are blocked, so that nothing is left of the file: the next
 * piece is refused (CANCELLED). */
CHECKED bool backup_writer_begin(const char *path, const char *key_path, const char *engine,
                                 struct backup_writer *out, struct error *error);
struct copy_sink backup_writer_sink(struct backup_writer *writer);
/* Completes the file, and renames it to its path once it is on disk. */
CHECKED bool backup_writer_end(struct backup_writer *writer, struct error *error);
/* Deletes an incomplete file. */
void backup_writer_finish(struct backup_writer *writer);
