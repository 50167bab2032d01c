/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a deployment's scrapes that is due to be rolled up, by series. Private to store/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct sql_connection;

/* A series, with its values in the window. */
struct source {
    int64_t series, family;
    int64_t seen_ms; /* the blocks have no newer point of this series */
    bool is_counter;
    /* The rest is set by rollup_window_load. */
    bool has_values; /* the window has a value of this series */
    double before;   /* the value at the scrape before the window; NaN: there is none */
    double *values;  /* one per scrape; NaN: absent. Valid until the next load */
};

struct rollup_window {
    struct sql_connection *connection;
    int64_t deployment_id, from_ms, to_ms;
    int64_t before_ms; /* time of the scrape before the window; -1: there is none */
    int64_t *at_ms;    /* times of the window's scrapes */
    /* For each scrape: the previous one is of the same epoch, so growth is counted from it. A new
     * epoch begins when the clock is set back. */
    bool *follows;
    size_t count;           /* of scrapes in the window */
    struct source *sources; /* by family, then series */
    size_t source_count;
    double *values; /* values of the sources that are loaded */
};

/* Finds the oldest scrapes that are not rolled up yet: those up to the end of their hour or, if
 * there are many, of their ten minutes. count 0: that end has not come, or came less than 30 s
 * ago, or there are no such scrapes. */
CHECKED bool rollup_window_find(struct rollup_window *window, int64_t now_ms, struct error *error);
/* Reads the times of the window's scrapes, and the deployment's series. */
CHECKED bool rollup_window_read(struct rollup_window *window, struct error *error);
/* Loads the values of the source at `first`, and of as many after it as fit in some megabytes;
 * *count: of how many sources. Unloads the values loaded earlier. */
CHECKED bool rollup_window_load(struct rollup_window *window, size_t first, size_t *count,
                                struct error *error);
void rollup_window_finish(struct rollup_window *window);
