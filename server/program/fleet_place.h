/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether this is the same database, in the same place, as at the last start. A copy or a
 * restored backup must not change what runs in a cloud, because the original might do so, too, and
 * because the copy does not know what has happened since. Unless the database was moved, each start
 * writes a new random number to the file fleet.place in the data folder. The database stores a
 * digest of that number, the folder's path and the folder's inode. If the folder is copied, or if
 * either the file or the database is replaced with an older version, the two no longer agree. A
 * clone of the whole disk is not detected, because its path, inode and number are the same. */
#pragma once

#include "store/fleet/fleet_managed.h"

/* Reads the database's id, or makes one if there is none. If the database is where it was last
 * used, gives the place a new number. */
CHECKED bool fleet_place_read(struct store *store, const char *folder, struct fleet_instance *out,
                              struct error *error);
/* Ends the state `moved`: the folder that is next passed to fleet_place_read becomes the database's
 * place, and opsbrain changes its clouds again. */
CHECKED bool fleet_place_resume(struct store *store, struct change *change, struct error *error);
