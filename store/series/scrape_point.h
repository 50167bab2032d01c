/* SPDX-License-Identifier: Apache-2.0 */
/* The levels that scrapes are rolled up to, and what is stored for each time step. */
#pragma once

#include <stdint.h>

/* Each scrape is rolled up to every level; each level has its own retention. */
enum scrape_level { SCRAPE_RAW, SCRAPE_10_S, SCRAPE_1_MIN, SCRAPE_1_H, SCRAPE_LEVELS };
int64_t scrape_level_ms(enum scrape_level level); /* length of a step; 1 for SCRAPE_RAW */

/* Summarizes the scrapes of one series within one time step. */
struct scrape_point {
    int64_t at_ms;              /* the step's start */
    double count;               /* number of scrapes; a whole number */
    double last, min, max, sum; /* for a counter, only `last` is set */
    /* Sums over the scrapes, only for counters. `increase`: the growth since the previous scrape,
     * counted from 0 if the counter was reset. `covered_ms`: the time since the previous scrape. A
     * scrape adds nothing to either sum if there is no previous scrape, if the previous scrape
     * lacks the series, or if the clock was set back in between. */
    double increase, covered_ms;
};
