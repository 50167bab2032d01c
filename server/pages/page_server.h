/* SPDX-License-Identifier: Apache-2.0 */
/* What the HTTP side of the pages receives. */
#pragma once

struct authority;
struct notifier;
struct rate_limit;
struct route;
struct services;
struct settings;
struct sign_ins;
struct workers;

/* Lent; the context of the pages' routes. */
struct page_server {
    const struct settings *settings;
    const struct services *services;
    struct authority *authority;
    struct sign_ins *sign_ins;
    struct rate_limit *sign_in_attempts; /* of each address */
    struct notifier *notifier;
    struct workers *workers, *waiting;
    struct route *routes; /* page_routes.h: those of pages[], in its order, then the others */
};
