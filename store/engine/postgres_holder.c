/* SPDX-License-Identifier: Apache-2.0 */
/* Determines which process holds a PostgreSQL database: only the holder can write to it. The table
 * opsbrain_holder has a row for each set of migrations ("main" and "scrapes"). The row names the
 * holder, the time when its hold expires unless it is renewed, and the fence: a number that each
 * new holder increments. postgres_begin begins each transaction by updating the row, and fails if
 * the row no longer has the writer's fence. So a process that loses the database while it is paused
 * can store nothing afterwards. The row also counts the transactions. If a writer gets no answer to
 * its COMMIT, it reads the count in its next session, to find out whether the transaction was
 * committed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/text.h"
#include "store/engine/postgres_private.h"
#include "store/engine/process_identity.h"
#include "store/engine/sql.h"

#define HOLD "clock_timestamp() + interval '12 seconds'"
#define HOLD_NS 12000000000
#define POLL_INTERVAL_NS 500000000
/* For this long, we try to find out whether a transaction was committed. By the time we give up,
 * SQL_REPEAT_PATIENCE_NS has also passed, so the transaction is not run again. */
#define COMMIT_PATIENCE_NS (SQL_REPEAT_PATIENCE_NS + 10000000000)
#define HOLDER_SIZE 256

/* Writes the name of this process for messages, such as "HOST process 12". */
static void name_self(char out[HOLDER_SIZE])
{
    char host[128] = "";

    if (gethostname(host, sizeof host - 1) != 0)
        text_copy(host, sizeof host, "unknown");
    snprintf(out, HOLDER_SIZE, "%s process %d", host, (int)getpid());
}

/* ---- Becoming the holder ---- */

/* The columns of the row that are shown in messages or compared. */
struct record {
    char holder[HOLDER_SIZE], process[PROCESS_IDENTITY_SIZE], since[64], until[64];
    bool is_free; /* there is no row, its hold has expired, or its holder has ended */
};

static CHECKED bool read_record(struct postgres_connection *writer, struct record *out,
                                struct error *error)
{
    SQL_AUTO sql =
        sql_begin(&writer->base, "SELECT holder, process, to_char(since AT TIME ZONE 'UTC', "
                                 "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), CAST(until AS TEXT), "
                                 "until < clock_timestamp() FROM opsbrain_holder WHERE name = ?1");
    bool found;

    sql_bind_text(&sql, 1, writer->set);
    if (!sql_find(&sql, &found, error))
        return false;
    *out = (struct record){ .is_free = !found || sql_integer(&sql, 4) != 0 };
    if (!found)
        return true;
    sql_text(&sql, 0, out->holder, sizeof out->holder);
    sql_text(&sql, 1, out->process, sizeof out->process);
    sql_text(&sql, 2, out->since, sizeof out->since);
    sql_text(&sql, 3, out->until, sizeof out->until);
    out->is_free = out->is_free || process_identity_is_gone(out->process);
    return true;
}

/* Becomes the holder if there is no row, or if the row's hold still expires at `record->until`:
 * then nobody has renewed it or taken it over since `record` was read. *done: this process is the
 * holder now. */
static CHECKED bool replace_holder(struct postgres_connection *writer, const struct record *record,
                                   bool *done, struct error *error)
{
    char self[HOLDER_SIZE], process[PROCESS_IDENTITY_SIZE];
    SQL_AUTO sql = sql_begin(
        &writer->base,
        "INSERT INTO opsbrain_holder "
        "(name, holder, process, fence, batch, batch_before, since, until) "
        "VALUES (?1, ?2, ?4, 1, 0, 0, clock_timestamp(), " HOLD ") "
        "ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, process = excluded.process, "
        "fence = opsbrain_holder.fence + 1, batch_before = opsbrain_holder.batch, "
        "since = excluded.since, until = excluded.until "
        "WHERE CAST(opsbrain_holder.until AS TEXT) = ?3 RETURNING fence, batch");

    name_self(self);
    process_identity_write(process);
    sql_bind_text(&sql, 1, writer->set);
    sql_bind_text(&sql, 2, self);
    sql_bind_text(&sql, 3, record->until);
    sql_bind_text(&sql, 4, process);
    if (!sql_find(&sql, done, error))
        return false;
    if (*done) {
        writer->fence = sql_integer(&sql, 0);
        writer->batch = sql_integer(&sql, 1);
    }
    return true;
}

static void sleep_ns(int64_t duration_ns)
{
    nanosleep(&(struct timespec){ duration_ns / 1000000000, duration_ns % 1000000000 }, NULL);
}

static CHECKED bool refuse(const struct postgres_connection *writer, const struct record *record,
                           struct error *error)
{
    return error_set(error, ERROR_CONFLICT,
                     "database %s belongs to another opsbrain (%s, since %s): stop it first, or "
                     "use another database",
                     writer->base.place, record->holder, record->since);
}

/* While we wait, a live holder renews its hold, and the hold of a dead one expires. If the
 * database's clock was set back, it could take hours until the hold expires. So a hold that is not
 * renewed while we wait for a little longer than HOLD_NS counts as expired, whatever time the row
 * names. If the holder was only paused, its old fence keeps it from writing. If the holder is in a
 * long transaction, that transaction has locked the row, and replace_holder fails with
 * POSTGRES_LOCKED. */
bool postgres_holder_become(struct postgres_connection *writer, struct error *error)
{
    int64_t until_ns = clock_monotonic_ns() + HOLD_NS + 2 * POLL_INTERVAL_NS;
    struct record first, record;
    bool done = false;

    if (!read_record(writer, &first, error))
        return false;
    for (record = first;; sleep_ns(POLL_INTERVAL_NS)) {
        bool is_renewed = strcmp(record.until, first.until) != 0;
        bool is_free = record.is_free || (!is_renewed && clock_monotonic_ns() > until_ns);

        if (is_free && !replace_holder(writer, &record, &done, error))
            return strcmp(writer->state, POSTGRES_LOCKED) == 0 && refuse(writer, &record, error);
        if (done)
            return true;
        if (is_renewed)
            return refuse(writer, &record, error);
        if (!read_record(writer, &record, error))
            return false;
    }
}

static CHECKED bool ensure_session(struct postgres_connection *writer, struct error *error)
{
    return postgres_is_usable(writer) || postgres_explain(&writer->base, error);
}

static CHECKED bool leave(struct postgres_connection *writer, struct error *error)
{
    SQL_AUTO sql = sql_begin(&writer->base, "UPDATE opsbrain_holder SET until = clock_timestamp() "
                                            "WHERE name = ?1 AND fence = ?2");

    sql_bind_text(&sql, 1, writer->set);
    sql_bind_integer(&sql, 2, writer->fence);
    return ensure_session(writer, error) && sql_run(&sql, error);
}

/* Tries twice: the first attempt might only discover that the session was lost while idle. */
void postgres_holder_leave(struct postgres_connection *writer)
{
    struct error problem;

    if (writer->fence != 0 && !leave(writer, &problem) && !leave(writer, &problem))
        log_warning("the hold on the database could not be given up, and will expire by itself: %s",
                    problem.message);
}

/* ---- Transactions ---- */

static CHECKED bool refuse_lost(struct postgres_connection *writer, struct error *error)
{
    struct record record = { 0 };
    struct error ignored;
    bool is_known = read_record(writer, &record, &ignored) && record.holder[0] != '\0';

    return error_set(error, ERROR_CONFLICT,
                     "database %s was taken over by another opsbrain (%s%s%s) while this one "
                     "was paused or disconnected: nothing can be stored here; stop this process",
                     writer->base.place, is_known ? record.holder : "unknown",
                     is_known ? ", since " : "", is_known ? record.since : "");
}

/* Counts the transaction and renews the hold. CONFLICT: another process holds the database. */
static CHECKED bool claim_batch(struct postgres_connection *writer, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(&writer->base, "UPDATE opsbrain_holder SET batch = batch + 1, until = " HOLD
                                 " WHERE name = ?1 AND fence = ?2 RETURNING batch");
    bool found;

    sql_bind_text(&sql, 1, writer->set);
    sql_bind_integer(&sql, 2, writer->fence);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return refuse_lost(writer, error);
    writer->batch = sql_integer(&sql, 0);
    return true;
}

/* On a full disk, small writes into partly filled pages succeed for a while, until the server
 * itself fails. So once a write has failed because the disk is full, nothing is stored until there
 * is room for a megabyte. */
static CHECKED bool has_room(struct postgres_connection *writer, struct error *error)
{
    static const char probe[] = "CREATE TEMP TABLE opsbrain_room ON COMMIT DROP AS SELECT "
                                "repeat(md5(CAST(g AS TEXT)), 30) FROM generate_series(1, 1000) g";

    if (!writer->is_full)
        return true;
    writer->is_full = false;
    /* If the probe fails for a reason other than a full disk, the disk might have room: go on. */
    return postgres_run(writer, probe, error) || !writer->is_full;
}

bool postgres_begin(struct sql_connection *connection, struct error *error)
{
    struct postgres_connection *writer = postgres_of(connection);
    const char *begin =
        writer->is_pooled
            ? "BEGIN ISOLATION LEVEL READ COMMITTED; " POSTGRES_WRITER_LIMITS("SET LOCAL", "true")
            : "BEGIN";

    return ensure_session(writer, error) && has_room(writer, error)
           && postgres_run(writer, begin, error) && claim_batch(writer, error);
}

bool postgres_keep(struct sql_connection *connection, struct error *error)
{
    struct postgres_connection *writer = postgres_of(connection);
    SQL_AUTO sql = sql_begin(connection, "UPDATE opsbrain_holder SET until = " HOLD
                                         " WHERE name = ?1 AND fence = ?2");

    sql_bind_text(&sql, 1, writer->set);
    sql_bind_integer(&sql, 2, writer->fence);
    return ensure_session(writer, error) && sql_run(&sql, error)
           && (sql_changes(&sql) == 1 || refuse_lost(writer, error));
}

enum fate { FATE_UNKNOWN, FATE_COMMITTED, FATE_LOST };

/* Finds out, in a new session, whether the writer's latest transaction (its batch) was committed.
 * The previous session might still exist on the server; locking the row proves that it no longer
 * has an open transaction. The number of this holder's last committed batch is in the column
 * `batch` or, if one other holder has followed, in `batch_before`. After a second holder, that
 * number is lost. */
static CHECKED bool look_up_batch(struct postgres_connection *writer, enum fate *fate,
                                  struct error *error)
{
    SQL_AUTO sql = sql_begin(&writer->base, "SELECT fence, batch, batch_before FROM "
                                            "opsbrain_holder WHERE name = ?1 FOR UPDATE");
    int64_t followers;
    bool found;

    sql_bind_text(&sql, 1, writer->set);
    if (!ensure_session(writer, error) || !sql_find(&sql, &found, error))
        return false;
    followers = found ? sql_integer(&sql, 0) - writer->fence : -1;
    if (followers == 0 || followers == 1)
        *fate = sql_integer(&sql, 1 + (int)followers) >= writer->batch ? FATE_COMMITTED : FATE_LOST;
    else
        *fate = FATE_UNKNOWN;
    return true;
}

static CHECKED bool find_fate(struct postgres_connection *writer, struct error *error)
{
    static const char advice[] =
        "so it may or may not have been stored: check before you try again";
    int64_t until_ns = clock_monotonic_ns() + COMMIT_PATIENCE_NS;
    const struct error reason = *error;
    enum fate fate;

    while (!look_up_batch(writer, &fate, error)) {
        if (clock_monotonic_ns() > until_ns)
            return error_set(
                error, ERROR_BUSY,
                "the connection to the database was lost while this was being stored, %s", advice);
        sleep_ns(POLL_INTERVAL_NS);
    }
    if (fate == FATE_UNKNOWN)
        return error_set(
            error, ERROR_CONFLICT,
            "database %s was taken over by another opsbrain while this was being stored, "
            "%s",
            writer->base.place, advice);
    if (fate == FATE_LOST)
        *error = reason;
    return fate == FATE_COMMITTED;
}

bool postgres_commit(struct sql_connection *connection, struct error *error)
{
    struct postgres_connection *writer = postgres_of(connection);

    if (sql_connection_run(connection, "COMMIT", error))
        return true;
    return PQstatus(writer->link) != CONNECTION_OK && find_fate(writer, error);
}
