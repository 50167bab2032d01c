/* SPDX-License-Identifier: Apache-2.0 */
/* Scrapes each watched deployment at its interval, and stores the figures. One thread
 * keeps the schedule; a few workers send the requests, so that one stalled server does
 * not delay the others. */
#pragma once

#include "fleet/secret_access.h"

struct scraper;

/* `access` must outlive the scraper. Free with scraper_destroy. */
CHECKED bool scraper_create(const struct access *access, struct scraper **out, struct error *error);
/* Applies a change to the watched deployments at once; without this call, the change is noticed
 * within a minute. */
void scraper_wake(struct scraper *scraper);
/* Sets the only listener: `scraped` is called on a worker's thread after each scrape, successful or
 * not, with the deployment's name; it must not call the scraper. NULL removes the listener. */
void scraper_listen(struct scraper *scraper, void (*scraped)(void *context, const char *deployment),
                    void *context);
/* Cancels scrapes in progress, and waits a fraction of a second for them to end. Does nothing for
 * NULL. */
void scraper_destroy(struct scraper *scraper);
