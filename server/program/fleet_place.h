/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether this is the same database, in the same place, as at the last start. A copy or a
 * restored backup must not change what runs in a cloud, because the original may do so, too, and
 * because the copy does not know what has happened since. Each start, unless the database was
 * moved, leaves a new random number in the file fleet.place of the data folder and, in the
 * database, a digest of that number, of the folder's path and of its inode. If the folder is
 * copied, or only one of file and database is put back as it was before, the two no longer agree. A
 * clone of the whole disk is not recognized: path, inode and number are then the same. */
#pragma once

#include "store/fleet/fleet_managed.h"

/* Reads the database's id, or makes one if there is none. If the database is where it was used
 * last, gives the place a new number. */
CHECKED bool fleet_place_read(struct store *store, const char *folder, struct fleet_instance *out,
                              struct error *error);
/* Ends the state `moved`: the folder that fleet_place_read gets next becomes the database's place,
 * and opsbrain changes its clouds again. */
CHECKED bool fleet_place_resume(struct store *store, struct change *change, struct error *error);
