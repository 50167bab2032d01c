/* SPDX-License-Identifier: Apache-2.0 */
/* Periodic work: removes idle sessions, rolls up scraped metrics, and deletes what the retention
 * settings say is too old. */
#pragma once

#include "base/core/error.h"

struct housekeeping;
struct server;

CHECKED bool housekeeping_create(struct server *server, struct housekeeping **out,
                                 struct error *error);
void housekeeping_destroy(struct housekeeping *housekeeping); /* NULL is fine */
