/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/plausible_time.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "store/engine/sql_row.h"
#include "store/ledger/store_private.h"

#define HOUR_MS (60 * 60 * 1000LL)
#define DAY_MS (24 * HOUR_MS)
#define KEEP_EVERY_MS (10 * 60 * 1000LL)

#define MEMORY_COLUMNS(FIRST, COLUMN, OF)                                                          \
    FIRST(struct timeline_memory, INTEGER, seen_ms, OF "seen_ms")                                  \
    COLUMN(struct timeline_memory, INTEGER, rival_ms, OF "rival_ms")                               \
    COLUMN(struct timeline_memory, INTEGER, rival_ran_ms, OF "rival_ran_ms")
static const struct sql_columns columns = SQL_COLUMNS(struct timeline_memory, MEMORY_COLUMNS);

bool plausible_time_load(struct store *store, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SQL_SELECT(MEMORY_COLUMNS, "") "FROM clock");

    return sql_row_find(&sql, &columns, &store->clock.memory, &found, error);
}

static CHECKED bool apply_memory(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection,
                  SQL_INSERT_WITH(
                      "clock", MEMORY_COLUMNS, ", id",
                      ", 1") "ON CONFLICT (id) DO UPDATE SET seen_ms = excluded.seen_ms, "
                             "rival_ms = excluded.rival_ms, rival_ran_ms = excluded.rival_ran_ms");

    sql_row_bind(&sql, &columns, context);
    return sql_run(&sql, error);
}

/* Returns the record to store for the next process (heap), or NULL if nothing changed and a record
 * was stored recently. The caller holds the lock. */
static struct timeline_memory *make_memory(struct store_clock *clock, bool changed, int64_t wall_ms,
                                           int64_t uptime_ms)
{
    struct timeline_memory *memory;

    if (!changed && uptime_ms - clock->kept_at_ms < KEEP_EVERY_MS)
        return NULL;
    clock->kept_at_ms = uptime_ms;
    memory = memory_zeroed(1, sizeof *memory);
    *memory = timeline_remember(&clock->timeline, wall_ms, uptime_ms);
    return memory;
}

static void log_verdict(const struct timeline_verdict *verdict, bool changed)
{
    char text[CLOCK_TEXT_SIZE];

    if (!changed)
        return;
    if (verdict->ahead_ms == 0)
        log_info("the wall clock is trusted again");
    else
        log_warning("the wall clock is %.1f days ahead of the time that the machine's uptime "
                    "suggests: ages are computed as of %s, so that nothing is deleted too early; "
                    "the wall clock will be trusted after opsbrain has run for %.1f more hours, or "
                    "once you run `opsbrain clock accept`",
                    (double)verdict->ahead_ms / DAY_MS, clock_format_utc(verdict->now_ms, text),
                    (double)verdict->waits_ms / HOUR_MS);
}

struct timeline_verdict plausible_time(struct store *store, int64_t wall_ms, int64_t uptime_ms)
{
    struct store_clock *clock = &store->clock;
    struct timeline_memory *memory;
    struct error problem;

    pthread_mutex_lock(&clock->lock);
    bool first = !clock->begun;
    if (first)
        timeline_begin(&clock->timeline, &clock->memory, wall_ms, uptime_ms);
    clock->begun = true;
    struct timeline_verdict verdict = timeline_judge(&clock->timeline, wall_ms, uptime_ms);
    bool doubted = verdict.ahead_ms > 0, changed = doubted != clock->doubted;
    clock->doubted = doubted;
    memory = make_memory(clock, first || changed, wall_ms, uptime_ms);
    pthread_mutex_unlock(&clock->lock);
    log_verdict(&verdict, changed);
    if (memory != NULL && !database_defer_take(store->main, apply_memory, memory, free, &problem))
        log_warning("what is known about the clock could not be stored: %s", problem.message);
    return verdict;
}

struct timeline_verdict plausible_time_now(struct store *store)
{
    return plausible_time(store, clock_utc_ms(), clock_uptime_ms());
}

bool plausible_time_accept(struct store *store, int64_t wall_ms, int64_t uptime_ms,
                           struct change *change, struct timeline_verdict *before,
                           struct error *error)
{
    struct timeline_verdict verdict = plausible_time(store, wall_ms, uptime_ms);
    struct timeline_memory memory = { .seen_ms = wall_ms };
    char detail[64];

    snprintf(detail, sizeof detail, "%.1f days ahead", (double)verdict.ahead_ms / DAY_MS);
    if (!store_change(store, change, apply_memory, &memory, "", detail, error))
        return false;
    pthread_mutex_lock(&store->clock.lock);
    timeline_accept(&store->clock.timeline, wall_ms, uptime_ms);
    pthread_mutex_unlock(&store->clock.lock);
    *before = verdict;
    plausible_time(store, wall_ms, uptime_ms);
    return true;
}
