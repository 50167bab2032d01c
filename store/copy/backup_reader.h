/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a backup, which may be damaged, or made to do harm. Private to store/copy/. */
#pragma once

#include "store/copy/backup_writer.h"
#include "store/copy/copy_place.h"

struct backup_reader {
    struct backup_file file;
    struct backup_document document;
};

/* Reads the file's head and what it says it is. CONFLICT: it is of a newer opsbrain. */
CHECKED bool backup_reader_open(const char *path, const char *key_path, struct backup_reader *out,
                                struct error *error);
/* The rest of it, once, into the sink. `tables` are those of the document's versions. */
CHECKED bool backup_reader_run(struct backup_reader *reader, const struct copy_tables *tables,
                               const struct copy_sink *sink, struct copy_report *out,
                               struct error *error);
/* Back to where it was after it was opened. */
CHECKED bool backup_reader_rewind(struct backup_reader *reader, const char *key_path,
                                  struct error *error);
void backup_reader_close(struct backup_reader *reader);
