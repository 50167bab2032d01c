/* SPDX-License-Identifier: Apache-2.0 */
/* A target, as it is stored and in the form that providers use, with its provider. */
#pragma once

#include "fleet/managed/fleet_frame.h"

struct managed_target {
    struct fleet_target_row row;
    struct fleet_target plain; /* `row` in the form that providers use */
    const struct provider *provider;
};

/* Reads a row, which need not be stored yet. INVALID: the message names the member that is wrong;
 * the provider checks its own members. */
CHECKED bool managed_target_read(const struct fleet_frame *frame,
                                 const struct fleet_target_row *row, struct managed_target *out,
                                 struct error *error);
/* Reads the stored target `name`. NOT_FOUND if there is none. */
CHECKED bool managed_target_find(const struct fleet_frame *frame, const char *name,
                                 struct managed_target *out, struct error *error);
/* Sets *out to `place`, which must be one of the target's. If `place` is "", sets *out to the
 * target's first place, or to "" if the target has none. Borrowed. */
CHECKED bool managed_target_place(const struct managed_target *target, const char *place,
                                  const char **out, struct error *error);
/* Returns true if the target allows all recipes, or this one. */
bool managed_target_allows(const struct managed_target *target, const char *recipe);

/* The names of the members of the JSON object fleet_target_row.place. Their values are strings that
 * only some providers need. The list ends with NULL. */
extern const char *const managed_target_members[];
