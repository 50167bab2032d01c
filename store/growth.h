/* How a block of one level grows by a stretch. Private to store/. */
#pragma once

#include "store/scrapes.h"
#include "store/stretch.h"

/* Writes the newest block anew with the stretch, or begins one where that is full. */
bool growth_write(struct stretch *stretch, enum scrape_level level, struct error *error);
