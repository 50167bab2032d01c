/* SPDX-License-Identifier: Apache-2.0 */
/* What the HTTP side of the pages gets from the program. */
#pragma once

#include <stdatomic.h>

#include "handlers/services.h"

struct authority;
struct notifier;
struct rate_limit;
struct route;
struct settings;
struct sign_ins;
struct workers;

/* The context of the pages' routes; all pointers but `routes` are borrowed. */
struct page_server {
    const struct settings *settings;
    const struct services *services;
    struct authority *authority;
    struct sign_ins *sign_ins;
    struct rate_limit *sign_in_attempts; /* limits each network's attempts to sign in */
    struct notifier *notifier;
    struct workers *workers, *waiting; /* `waiting`: for pages with `waits` (web/page.h) */
    atomic_int files;                  /* how many forms with a file are being received or read */
    struct route *routes; /* those of the rows of pages[], in that order, then others */
};
