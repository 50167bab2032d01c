/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a backup, which may be damaged or malicious. Private to store/copy/. */
#pragma once

#include "base/core/random.h"
#include "store/copy/backup_file.h"
#include "store/copy/copy_place.h"
#include "store/copy/copy_rows.h"

/* The description of a backup, in its first piece. */
struct backup_document {
    char id[ID_SIZE];            /* bak_... */
    int64_t versions[COPY_SETS]; /* the schema version of each set of tables */
};

struct backup_reader {
    struct backup_file file;
    struct backup_document document;
};

/* Reads the file's head and description. CONFLICT: a newer opsbrain wrote it. */
CHECKED bool backup_reader_open(const char *path, const char *key_path, struct backup_reader *out,
                                struct error *error);
/* Passes the rest of the file to the sink, whose functions may be NULL. To read the file again,
 * rewind it first. `tables`: the tables of the schema versions that the document names. */
CHECKED bool backup_reader_run(struct backup_reader *reader, const struct copy_tables *tables,
                               const struct copy_sink *sink, struct copy_report *out,
                               struct error *error);
/* Goes back to where backup_reader_open stopped. */
CHECKED bool backup_reader_rewind(struct backup_reader *reader, const char *key_path,
                                  struct error *error);
void backup_reader_close(struct backup_reader *reader);
