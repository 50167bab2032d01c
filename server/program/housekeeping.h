/* SPDX-License-Identifier: Apache-2.0 */
/* Does periodic work on a thread of its own: expires sessions and sign-ins, rolls up scraped
 * metrics, deletes what is too old according to the retention settings, writes the counts of
 * repeated calls to the audit log (such calls share a row), verifies that log, logs the digest of
 * its newest row, checks the disk, and reads the API keys again if they could not be read. */
#pragma once

#include "base/core/error.h"

struct housekeeping;
struct server;

CHECKED bool housekeeping_create(struct server *server, struct housekeeping **out,
                                 struct error *error);
void housekeeping_destroy(struct housekeeping *housekeeping); /* NULL is fine */
