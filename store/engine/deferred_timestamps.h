/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps in memory times that change often but are stored rarely (last used, last seen), and other
 * numbers that only grow: the greatest one for each row and statement. Writes them together.
 * Private to store/. */
#pragma once

#include "store/engine/database.h"

struct deferred_timestamps;

struct deferred_timestamps *deferred_timestamps_create(struct database *database);
/* Call it after the database is closed. NULL is fine. */
void deferred_timestamps_destroy(struct deferred_timestamps *deferred);
/* Runs `statement` (a static string) within a second or so, with `id` as ?1 and `at_ms` as ?2. If
 * this is called again with the same statement and id before that, only the greatest `at_ms` is
 * written. If times for too many rows are waiting, those for further rows are dropped. */
void deferred_timestamps_note(struct deferred_timestamps *deferred, const char *statement,
                              const char *id, int64_t at_ms);
