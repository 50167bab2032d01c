/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a whole database into a database of either engine or into a backup file, and a backup file
 * into a database. The rows are read table by table, in the order of their keys. After a table has
 * been copied into a database, the digests of the rows read and the rows stored are compared.
 *
 * A server that runs on a copied database does not change the clouds, but only reads them, until
 * somebody runs `opsbrain fleet resume` (server/program/fleet_place.h). This does not apply to
 * backups from versions of opsbrain that did not manage clouds yet. */
#pragma once

#include "base/core/error.h"
#include "store/copy/copy_place.h"

/* Copies a database into an empty one. Nobody else may use either database meanwhile. An
 * interrupted copy continues where it stopped when this is called again. CONFLICT: one of the two
 * is in use; the target holds anything but the interrupted copy; or the source is an unfinished
 * copy, has a version other than this program's, or has changed since the copy began. */
CHECKED bool copy_move(const struct copy_place *from, const struct copy_place *to,
                       struct copy_report *out, struct error *error);
/* Writes a backup file; a server may use the database meanwhile. `key_path`: a file whose first
 * line is the key to encrypt with; "": the backup is not encrypted. CONFLICT: the file exists,
 * or the database is an unfinished copy or has a version other than this program's. */
CHECKED bool copy_backup(const struct copy_place *from, const char *path, const char *key_path,
                         struct copy_report *out, struct error *error);
/* Copies a backup file into an empty database, after verifying the entire file. An interrupted
 * restore continues where it stopped when this is called again. CONFLICT: the database is in use,
 * or holds anything but the interrupted copy; or the file's version is newer than this
 * program's. */
CHECKED bool copy_restore(const char *path, const char *key_path, const struct copy_place *to,
                          struct copy_report *out, struct error *error);
