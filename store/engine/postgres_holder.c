/* SPDX-License-Identifier: Apache-2.0 */
/* Which process a PostgreSQL database belongs to. A row of the table opsbrain_holder names the
 * holder, until when it holds the database without renewing that, and its fence: a number that each
 * new holder increments. Every transaction that writes begins by updating the row where it has the
 * writer's fence. So a holder that was paused and is no longer the holder changes nothing; and the
 * row counts the transactions, so that a writer whose COMMIT was not answered finds out, in its
 * next session, whether it took place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/text.h"
#include "store/engine/postgres_private.h"
#include "store/engine/sql.h"

#define HOLD "clock_timestamp() + interval '15 seconds'"
#define HOLD_NS 15000000000
#define LOOK_INTERVAL_NS 500000000
#define COMMIT_PATIENCE_NS 30000000000
#define RECORD_SIZE 256

/* ---- Names of processes ---- */

/* When a process of this machine started, in ticks of its clock (proc(5), field 22); 0: it is not
 * there. */
static long long process_start(int process)
{
    char path[32], line[512];
    const char *after;
    long long start = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fgets(line, sizeof line, file) != NULL && (after = strrchr(line, ')')) != NULL)
        sscanf(after + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lld",
               &start);
    fclose(file);
    return start;
}

/* "HOST process 12 (34567)": the last is when it started. */
static void name_self(char out[RECORD_SIZE])
{
    char host[128] = "";

    if (gethostname(host, sizeof host - 1) != 0)
        text_copy(host, sizeof host, "unknown");
    snprintf(out, RECORD_SIZE, "%s process %d (%lld)", host, (int)getpid(),
             process_start(getpid()));
}

/* A process of this machine that is not there any more: nobody has to wait for its time to run
 * out. */
static bool is_gone(const char *holder)
{
    char host[128] = "", named[128];
    int process;
    long long start;

    return sscanf(holder, "%127s process %d (%lld)", named, &process, &start) == 3
           && gethostname(host, sizeof host - 1) == 0 && strcmp(host, named) == 0
           && process_start(process) != start;
}

/* ---- Taking it ---- */

/* What the row says. */
struct record {
    char holder[RECORD_SIZE], since[64], until[64];
    bool is_free;
};

static CHECKED bool read_record(struct postgres_connection *writer, struct record *out,
                                struct error *error)
{
    SQL_AUTO sql =
        sql_begin(&writer->base, "SELECT holder, to_char(since AT TIME ZONE 'UTC', "
                                 "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), CAST(until AS TEXT), "
                                 "until < clock_timestamp() FROM opsbrain_holder WHERE name = ?1");
    bool found;

    sql_bind_text(&sql, 1, writer->set);
    if (!sql_find(&sql, &found, error))
        return false;
    *out = (struct record){ .is_free = !found || sql_integer(&sql, 3) != 0 };
    if (!found)
        return true;
    sql_text(&sql, 0, out->holder, sizeof out->holder);
    sql_text(&sql, 1, out->since, sizeof out->since);
    sql_text(&sql, 2, out->until, sizeof out->until);
    out->is_free = out->is_free || is_gone(out->holder);
    return true;
}

/* *taken: it was still as in `record`. */
static CHECKED bool take(struct postgres_connection *writer, const struct record *record,
                         bool *taken, struct error *error)
{
    char self[RECORD_SIZE];
    SQL_AUTO sql = sql_begin(
        &writer->base,
        "INSERT INTO opsbrain_holder (name, holder, fence, batch, batch_before, since, until) "
        "VALUES (?1, ?2, 1, 0, 0, clock_timestamp(), " HOLD ") "
        "ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, "
        "fence = opsbrain_holder.fence + 1, batch_before = opsbrain_holder.batch, "
        "since = excluded.since, until = excluded.until "
        "WHERE CAST(opsbrain_holder.until AS TEXT) = ?3 RETURNING fence, batch");

    name_self(self);
    sql_bind_text(&sql, 1, writer->set);
    sql_bind_text(&sql, 2, self);
    sql_bind_text(&sql, 3, record->until);
    if (!sql_find(&sql, taken, error))
        return false;
    if (*taken) {
        writer->fence = sql_integer(&sql, 0);
        writer->batch = sql_integer(&sql, 1);
    }
    return true;
}

static void sleep_ns(int64_t duration_ns)
{
    nanosleep(&(struct timespec){ duration_ns / 1000000000, duration_ns % 1000000000 }, NULL);
}

/* A holder that is alive renews its time while we look; of one that died it runs out. */
bool postgres_holder_take(struct postgres_connection *writer, struct error *error)
{
    int64_t until_ns = clock_monotonic_ns() + HOLD_NS + 2 * LOOK_INTERVAL_NS;
    struct record first, record;
    bool taken = false;

    if (!read_record(writer, &first, error))
        return false;
    for (record = first;; sleep_ns(LOOK_INTERVAL_NS)) {
        if (record.is_free && !take(writer, &record, &taken, error))
            return false;
        if (taken)
            return true;
        if (strcmp(record.until, first.until) != 0 || clock_monotonic_ns() > until_ns)
            return error_set(error, ERROR_CONFLICT,
                             "database %s belongs to another opsbrain (%s, since %s): stop it "
                             "first, or use another database",
                             writer->base.place, record.holder, record.since);
        if (!read_record(writer, &record, error))
            return false;
    }
}

void postgres_holder_leave(struct postgres_connection *writer)
{
    struct error problem;
    SQL_AUTO sql = sql_begin(&writer->base, "UPDATE opsbrain_holder SET until = clock_timestamp() "
                                            "WHERE name = ?1 AND fence = ?2");

    if (writer->fence == 0)
        return;
    sql_bind_text(&sql, 1, writer->set);
    sql_bind_integer(&sql, 2, writer->fence);
    if (!sql_run(&sql, &problem))
        log_warning("the database is not given back at once: %s", problem.message);
}

/* ---- Transactions ---- */

static CHECKED bool lost(struct postgres_connection *writer, struct error *error)
{
    struct record record = { .holder = "unknown" };
    struct error ignored; /* then it is not known who */

    error_ignore(read_record(writer, &record, &ignored));
    return error_set(error, ERROR_CONFLICT,
                     "database %s was taken over by another opsbrain (%s, since %s) while this one "
                     "did not answer: nothing can be stored here; stop this process",
                     writer->base.place, record.holder, record.since);
}

/* Renews the time, too. */
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
        return lost(writer, error);
    writer->batch = sql_integer(&sql, 0);
    return true;
}

bool postgres_begin(struct sql_connection *connection, struct error *error)
{
    return sql_connection_run(connection, "BEGIN", error)
           && claim_batch(postgres_of(connection), error);
}

bool postgres_keep(struct sql_connection *connection, struct error *error)
{
    struct postgres_connection *writer = postgres_of(connection);
    SQL_AUTO sql = sql_begin(connection, "UPDATE opsbrain_holder SET until = " HOLD
                                         " WHERE name = ?1 AND fence = ?2");

    sql_bind_text(&sql, 1, writer->set);
    sql_bind_integer(&sql, 2, writer->fence);
    return sql_run(&sql, error) && (sql_changes(&sql) == 1 || lost(writer, error));
}

/* In a new session: was that batch committed? The row is locked, so that the former session, which
 * may not have ended yet, has no transaction open any more. */
static CHECKED bool look_up_batch(struct postgres_connection *writer, bool *committed,
                                  struct error *error)
{
    SQL_AUTO sql = sql_begin(&writer->base, "SELECT fence, batch, batch_before FROM "
                                            "opsbrain_holder WHERE name = ?1 FOR UPDATE");
    bool found;

    sql_bind_text(&sql, 1, writer->set);
    if (!sql_find(&sql, &found, error))
        return false;
    if (found && sql_integer(&sql, 0) == writer->fence)
        *committed = sql_integer(&sql, 1) >= writer->batch;
    else
        *committed = found && sql_integer(&sql, 0) == writer->fence + 1
                     && sql_integer(&sql, 2) >= writer->batch;
    return true;
}

static CHECKED bool find_out(struct postgres_connection *writer, struct error *error)
{
    int64_t until_ns = clock_monotonic_ns() + COMMIT_PATIENCE_NS;
    const struct error reason = *error;
    bool committed;

    while (!look_up_batch(writer, &committed, error)) {
        if (clock_monotonic_ns() > until_ns)
            return error_set(error, ERROR_BUSY,
                             "the database was lost while it stored this, so it may be stored or "
                             "not: look before you try again");
        sleep_ns(LOOK_INTERVAL_NS);
    }
    if (!committed)
        *error = reason;
    return committed;
}

bool postgres_commit(struct sql_connection *connection, struct error *error)
{
    struct postgres_connection *writer = postgres_of(connection);

    if (sql_connection_run(connection, "COMMIT", error))
        return true;
    return PQstatus(writer->link) != CONNECTION_OK && find_out(writer, error);
}
