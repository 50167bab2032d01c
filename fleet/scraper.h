/* SPDX-License-Identifier: Apache-2.0 */
/* Scrapes every watched deployment into the store at its interval. One thread keeps the schedule; a
 * few workers send the requests, so that a server that stalls delays no other. */
#pragma once

#include "fleet/secret_access.h"

struct scraper;

/* `access` is borrowed for its whole life. */
CHECKED bool scraper_create(const struct access *access, struct scraper **out, struct error *error);
void scraper_wake(
    struct scraper *scraper); /* the targets changed; otherwise noticed within a minute */
/* Called with a deployment's name after each of its scrapes, good or bad, on any thread; NULL: no
 * longer. One listener. */
void scraper_listen(struct scraper *scraper, void (*scraped)(void *context, const char *deployment),
                    void *context);
/* Cancels scrapes in progress within a fraction of a second. Does nothing for NULL. */
void scraper_destroy(struct scraper *scraper);
