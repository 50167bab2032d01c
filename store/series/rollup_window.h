/* SPDX-License-Identifier: Apache-2.0 */
/* A window is the part of a deployment's scrapes that is rolled up next, with the values sorted by
 * series. Private to store/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct sql_connection;

/* A series with its values in the window. */
struct source {
    int64_t series, family;
    int64_t seen_ms; /* no block has a newer point of this series */
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
    /* For each scrape: whether the previous scrape belongs to the same epoch, so that growth is
     * counted from it. A new epoch begins when the clock is set back. */
    bool *follows;
    size_t count;           /* the number of scrapes in the window */
    struct source *sources; /* sorted by family, then by series id */
    size_t source_count;
    double *values; /* the values of the loaded sources */
};

/* Finds the next window. It begins with the first scrape that is not rolled up yet, and ends with
 * the hour or, if there are many scrapes, with the ten-minute period in which that scrape was made.
 * `count` stays 0 if all scrapes are rolled up, or if the window's end is still to come or was less
 * than 30 s ago. */
CHECKED bool rollup_window_find(struct rollup_window *window, int64_t now_ms, struct error *error);
/* Reads the times of the window's scrapes, and the deployment's series. */
CHECKED bool rollup_window_read(struct rollup_window *window, struct error *error);
/* Loads the values of the source at index `first`, and of as many sources after it as fit in a few
 * megabytes; *count: the number of sources loaded. Unloads the values that were loaded earlier. */
CHECKED bool rollup_window_load(struct rollup_window *window, size_t first, size_t *count,
                                struct error *error);
void rollup_window_finish(struct rollup_window *window);
