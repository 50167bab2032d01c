/* Scrapes every watched deployment at its interval into the store. One thread keeps the schedule; a
 * few workers ask, so that a server that stalls holds up no other. */
#pragma once

#include "store/store.h"

struct scraper;

bool scraper_create(struct store *store, const char *secrets_folder, struct scraper **out,
                    struct error *error);
void scraper_kick(
    struct scraper *scraper); /* the targets changed; seen within a minute otherwise */
/* Ends what is asked just now within a fraction of a second. NULL is fine. */
void scraper_destroy(struct scraper *scraper);
