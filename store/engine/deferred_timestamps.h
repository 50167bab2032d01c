/* Times that are noted often and stored rarely (last used, last seen): kept in memory, one per row,
 * and written together. Private to store/. */
#pragma once

#include "store/engine/database.h"

struct touches;

struct touches *touches_create(struct database *database);
/* After the database is closed. NULL is fine. */
void touches_destroy(struct touches *touches);
/* Runs `statement` (a static string) with ?1 `id` and ?2 `at_ms` within a second or so; of several
 * notes for one row only the newest. Too many different rows at once: the rest is forgotten. */
void touches_note(struct touches *touches, const char *statement, const char *id, int64_t at_ms);
