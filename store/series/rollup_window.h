/* A stretch of a deployment's scrapes that is due to be rolled up, by series. Private to store/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct connection;

/* What is known of a series, and what it had in the stretch. */
struct source {
    int64_t series, family;
    int64_t seen_ms; /* no point of it in blocks is newer */
    bool counter, any;
    double before;  /* at the scrape before the stretch; NaN: absent there */
    double *values; /* one per scrape; NaN: absent. Where it is loaded */
};

struct stretch {
    struct connection *connection;
    int64_t deployment_id, from_ms, to_ms;
    int64_t before_ms; /* of the scrape before; -1: there is none */
    int64_t *at_ms;
    bool *follows; /* growth is counted from the scrape before, which is of the same epoch */
    size_t count;
    struct source *sources; /* by family, then series */
    size_t source_count;
    double *values; /* of the sources that are loaded */
};

/* Whole hours that are over (ten minutes, where there are many scrapes), the oldest first. count 0:
 * nothing is due. */
bool stretch_find(struct stretch *stretch, int64_t now_ms, struct error *error);
/* When was scraped in it, and which series there are. */
bool stretch_read(struct stretch *stretch, struct error *error);
/* The values of the sources from `first` on, as many as some megabytes hold: so many is *count.
 * Those loaded before lose theirs. */
bool stretch_load(struct stretch *stretch, size_t first, size_t *count, struct error *error);
void stretch_finish(struct stretch *stretch);
