/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a whole database from one engine into another, into a file, and back. A copy reads the
 * rows table by table, in order of their keys, and compares each table's digest with that of the
 * rows that arrived. A server on a copied database only reads the clouds, and changes nothing there
 * (server/program/fleet_place.h). */
#pragma once

#include "base/core/error.h"
#include "store/copy/copy_place.h"

/* Nobody may use either of them meanwhile. An interrupted copy continues where it stopped.
 * CONFLICT: the target is not empty, or the source has another version or changed since the copy
 * began. */
CHECKED bool copy_move(const struct copy_place *from, const struct copy_place *to,
                       struct copy_report *out, struct error *error);
/* Writes the file, also while a server uses the database. `key_path`: a file whose first line is
 * the key to encrypt it with; "": it is not encrypted. CONFLICT: the file exists. */
CHECKED bool copy_backup(const struct copy_place *from, const char *path, const char *key_path,
                         struct copy_report *out, struct error *error);
/* Reads the whole file before it touches the database. An interrupted restore continues where it
 * stopped. CONFLICT: the database is not empty. */
CHECKED bool copy_restore(const char *path, const char *key_path, const struct copy_place *to,
                          struct copy_report *out, struct error *error);
