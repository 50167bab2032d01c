/* SPDX-License-Identifier: Apache-2.0 */
/* Stores scrapes of deployment 1, and rolls them up. */
#pragma once

#include "tests/unit/support/ledger.h"
#include "tests/unit/support/scraped.h"

#define SECOND_MS 1000LL
#define MINUTE_MS 60000LL
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define START_MS (400 * DAY_MS) /* midnight UTC */

static inline void scrape(struct ledger *ledger, int64_t at_ms, const struct scrape_value *values,
                          size_t count)
{
    assert_ok(ledger, scrape_add(ledger->store, 1, at_ms, values, count, NULL, &ledger->error));
}

static inline void compact(struct ledger *ledger, int64_t now_ms)
{
    assert_ok(ledger, scrape_compact(ledger->store, now_ms, &ledger->error));
}
