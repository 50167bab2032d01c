/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether this is the same database, in the same place, as at the last start. A copy or a
 * restored backup must not change what runs in a cloud, because the original may do so, too, and
 * because the copy does not know what has happened since. Each start leaves a new random number in
 * the file fleet.place of the folder; database and file agree only if neither was replaced. */
#pragma once

#include "store/fleet/fleet_managed.h"

/* Reads the database's id, or makes one if there is none. If the database is where it was used
 * last, gives the place a new number. */
CHECKED bool fleet_place_read(struct store *store, const char *folder, struct fleet_instance *out,
                              struct error *error);
/* Lets the database be used in the place where it is opened next. */
CHECKED bool fleet_place_resume(struct store *store, struct change *change, struct error *error);
