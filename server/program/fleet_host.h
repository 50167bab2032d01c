/* SPDX-License-Identifier: Apache-2.0 */
/* Provides fleet/managed/ with what it needs from the process (clouds with their credentials,
 * recipes, prices), and runs the thread that checks the managed deployments. */
#pragma once

#include "base/core/error.h"

struct access_locks;
struct fleet_frame;
struct fleet_host;
struct notifier;
struct services;
struct settings;

/* Also checks whether the database is where it was last used; if not, opsbrain only reads the
 * clouds. Everything is borrowed until fleet_host_destroy. */
CHECKED bool fleet_host_create(const struct settings *settings, const struct services *services,
                               struct fleet_host **out, struct error *error);
void fleet_host_destroy(struct fleet_host *host); /* NULL is fine */
const struct fleet_frame *fleet_host_frame(const struct fleet_host *host);
const struct access_locks *fleet_host_locks(const struct fleet_host *host);
/* Starts the thread that checks the managed deployments; it tells `notifier` about changes. */
CHECKED bool fleet_host_start(struct fleet_host *host, struct notifier *notifier,
                              struct error *error);
void fleet_host_stop(struct fleet_host *host); /* waits for the thread; NULL is fine */
