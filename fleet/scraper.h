/* SPDX-License-Identifier: Apache-2.0 */
/* Scrapes every watched deployment at its interval into the store. One thread keeps the schedule; a
 * few workers ask, so that a server that stalls holds up no other. */
#pragma once

#include "fleet/secret_access.h"

struct scraper;

/* `access` is borrowed for its whole life. */
CHECKED bool scraper_create(const struct access *access, struct scraper **out, struct error *error);
void scraper_kick(
    struct scraper *scraper); /* the targets changed; seen within a minute otherwise */
/* Ends what is asked just now within a fraction of a second. NULL is fine. */
void scraper_destroy(struct scraper *scraper);
