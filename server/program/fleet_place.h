/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the database is the one that was used last, at the place where it was: a copy, or a
 * backup that was restored, must not change what runs in a cloud, because another may do so too,
 * and because it does not know what was done since. Each start leaves a new random number in the
 * file fleet.place of the folder; database and file agree only if neither was replaced. */
#pragma once

#include "store/fleet/fleet_managed.h"

/* Reads the id, and makes it where there is none. Where the database is in its place, that is noted
 * anew. */
CHECKED bool fleet_place_read(struct store *store, const char *folder, struct fleet_instance *out,
                              struct error *error);
/* From now on the database is used wherever it is read next. */
CHECKED bool fleet_place_resume(struct store *store, struct change *change, struct error *error);
