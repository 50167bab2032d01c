/* SPDX-License-Identifier: Apache-2.0 */
/* What the frame of the fleet gets from the process: the providers, the clouds with their
 * credentials, recipes and prices; and the thread that looks after what is managed. */
#pragma once

#include "base/core/error.h"

struct access_locks;
struct fleet_frame;
struct fleet_host;
struct notifier;
struct services;
struct settings;

/* Reads whether the database is where it was used last; otherwise the clouds are only read.
 * Everything is borrowed until fleet_host_destroy. */
CHECKED bool fleet_host_create(const struct settings *settings, const struct services *services,
                               struct fleet_host **out, struct error *error);
void fleet_host_destroy(struct fleet_host *host); /* NULL is fine */
const struct fleet_frame *fleet_host_frame(const struct fleet_host *host);
const struct access_locks *fleet_host_locks(const struct fleet_host *host);
/* Begins to look after what is managed; `notifier` tells subscribers. */
CHECKED bool fleet_host_start(struct fleet_host *host, struct notifier *notifier,
                              struct error *error);
void fleet_host_stop(struct fleet_host *host); /* waits; NULL is fine */
