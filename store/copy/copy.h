/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of everything that a database remembers, from one engine into another, into a file, and
 * out of it. A copy takes a database's rows table by table, in order of their keys; each table's
 * digest is compared with that of what arrived. Afterwards a copied database only reads the clouds
 * (server/program/fleet_place.h). */
#pragma once

#include "base/core/error.h"
#include "store/copy/copy_place.h"

/* Nobody may use either of them meanwhile. If it was interrupted, it goes on where it was.
 * CONFLICT: the target is not empty, the source has another version or changed since a copy was
 * begun. */
CHECKED bool copy_move(const struct copy_place *from, const struct copy_place *to,
                       struct copy_report *out, struct error *error);
/* Writes the file, also while a server uses the database. `key_path`: a file whose first line is
 * the key to encrypt it with; "": it is not encrypted. CONFLICT: there is such a file. */
CHECKED bool copy_backup(const struct copy_place *from, const char *path, const char *key_path,
                         struct copy_report *out, struct error *error);
/* Reads the whole file before it touches the database. If it was interrupted, it goes on where it
 * was. CONFLICT: the database is not empty. */
CHECKED bool copy_restore(const char *path, const char *key_path, const struct copy_place *to,
                          struct copy_report *out, struct error *error);
