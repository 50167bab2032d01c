/* SPDX-License-Identifier: Apache-2.0 */
/* A stored target in the form that providers take, and its provider. */
#pragma once

#include "fleet/managed/fleet_frame.h"

struct managed_target {
    struct fleet_target_row row;
    struct fleet_target plain;
    const struct provider *provider;
};

/* INVALID names the member of the row that is wrong; the provider checks its own members. */
CHECKED bool managed_target_read(const struct fleet_frame *frame,
                                 const struct fleet_target_row *row, struct managed_target *out,
                                 struct error *error);
CHECKED bool managed_target_find(const struct fleet_frame *frame, const char *name,
                                 struct managed_target *out, struct error *error);
/* Whether `place` is one of the target's; "": *out is its first, or "" where it has none. */
CHECKED bool managed_target_place(const struct managed_target *target, const char *place,
                                  const char **out, struct error *error);
bool managed_target_allows(const struct managed_target *target, const char *recipe);

/* The members of `place` in a row: strings that only some providers need. Ends with NULL. */
extern const char *const managed_target_members[];
