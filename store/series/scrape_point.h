/* SPDX-License-Identifier: Apache-2.0 */
/* Scrapes rolled up: the levels, and what is stored of a step of time. */
#pragma once

#include <stdint.h>

/* What scrapes are rolled up to. Every level has all scrapes; each is kept for its own time. */
enum scrape_level { SCRAPE_RAW, SCRAPE_10_S, SCRAPE_1_MIN, SCRAPE_1_H, SCRAPE_LEVELS };
int64_t scrape_level_ms(enum scrape_level level); /* 1 for SCRAPE_RAW */

/* The scrapes of one series within one step of time. Sums and counts add up over steps. */
struct scrape_point {
    int64_t at_ms;               /* the step's start */
    double count;                /* of scrapes; whole */
    double last, min, max, sum;  /* of counters only `last` */
    double increase, covered_ms; /* of counters: growth between each scrape here and the one before,
                                    where both have the series, from 0 where the server restarted;
                                    and the time between */
};
