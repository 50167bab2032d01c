/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store FOLDER [DATABASE]: times the store's ten most common writes and reads, one after the
 * other on one thread. Prints a line for each: its name, and the median and the 99th percentile in
 * microseconds. DATABASE is the URI of an empty PostgreSQL database. `./run bench store` runs this.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/random.h"
#include "base/core/text.h"
#include "store/audit/audit_log.h"
#include "store/ledger/deployments.h"
#include "store/ledger/events.h"
#include "store/ledger/jobs.h"
#include "store/ledger/principals.h"
#include "store/ledger/store.h"
#include "store/series/scrapes.h"

#define READERS 4
#define SERIES 500
#define LISTED 20
#define ROUNDS_MAX 20000
#define LEASE_MS 60000

struct bench {
    struct store *store;
    struct error error;
    struct job job;
    struct claim claim;
    struct scrape_value values[SERIES];
    char labels[SERIES][32];
    int64_t at_ms, round;
};

static bool add_session(struct bench *bench)
{
    struct session_row row = { .principal = "alice",
                               .protocol_version = "2025-06-18",
                               .client = "bench/1",
                               .created_ms = bench->at_ms };

    random_id("ses", row.id);
    return session_add(bench->store, &row, &bench->error);
}

static bool add_audit(struct bench *bench)
{
    const struct change change = {
        .actor = { "alice", "operator", "bench/1", "req_1" },
        .tool = "job_list",
        .arguments = "{\"limit\":20}",
    };

    return audit_log_add(bench->store, &change, "ok", "", "", &bench->error);
}

/* Times only how long it takes to queue the event: no caller waits until it is written. */
static bool add_event(struct bench *bench)
{
    return event_add(bench->store, "bench/0", bench->round, "data: {}", bench->at_ms,
                     &bench->error);
}

static bool add_job(struct bench *bench)
{
    return job_add(bench->store, "bench", "thing", "alice", bench->at_ms, NULL, &bench->job,
                   &bench->error);
}

static bool beat(struct bench *bench)
{
    struct job_beat beat = { .claim = bench->claim, .progress = (double)bench->round };

    return job_heartbeat(bench->store, &beat, 1, bench->at_ms, LEASE_MS, &bench->error);
}

static bool add_scrape(struct bench *bench)
{
    return scrape_add(bench->store, 1, bench->at_ms + bench->round, bench->values, SERIES, NULL,
                      &bench->error);
}

static bool count_jobs(struct bench *bench)
{
    int64_t counts[JOB_CANCELLED + 1];

    return job_counts(bench->store, counts, &bench->error);
}

static bool find_deployment(struct bench *bench)
{
    struct deployment row;

    return deployment_find(bench->store, "one", &row, &bench->error);
}

static bool find_job(struct bench *bench)
{
    struct job row;

    return job_find(bench->store, bench->job.id, &row, &bench->error);
}

static bool list_jobs(struct bench *bench)
{
    const struct job_filter filter = { .principal = "alice", .state = -1 };
    struct job *rows;
    size_t count;

    if (!job_list(bench->store, &filter, LISTED, &rows, &count, &bench->error))
        return false;
    free(rows);
    return true;
}

static const struct operation {
    const char *name;
    bool (*run)(struct bench *bench);
    int rounds;
} operations[] = {
    { "session_add", add_session, 1000 }, { "audit_log_add", add_audit, 1000 },
    { "event_add", add_event, 10000 },    { "job_add", add_job, 1000 },
    { "job_heartbeat", beat, 1000 },      { "scrape_add(500)", add_scrape, 1000 },
    { "job_counts", count_jobs, 2000 },   { "deployment_find", find_deployment, ROUNDS_MAX },
    { "job_find", find_job, ROUNDS_MAX }, { "job_list(20)", list_jobs, 5000 },
};

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool measure(struct bench *bench, const struct operation *operation)
{
    static int64_t taken_ns[ROUNDS_MAX];

    for (int i = 0; i < operation->rounds; i++) {
        int64_t begun_ns = clock_monotonic_ns();

        bench->round++;
        if (!operation->run(bench))
            return false;
        taken_ns[i] = clock_monotonic_ns() - begun_ns;
    }
    qsort(taken_ns, (size_t)operation->rounds, sizeof *taken_ns, compare);
    printf("%s %.2f %.2f\n", operation->name, (double)taken_ns[operation->rounds / 2] / 1000,
           (double)taken_ns[operation->rounds * 99 / 100] / 1000);
    return true;
}

static void make_values(struct bench *bench)
{
    for (size_t i = 0; i < SERIES; i++) {
        snprintf(bench->labels[i], sizeof bench->labels[i], "le=\"%zu\"", i);
        bench->values[i] =
            (struct scrape_value){ "requests_total", bench->labels[i], "counter", (double)i };
    }
}

static bool prepare(struct bench *bench)
{
    static const char *const kinds[] = { "bench", NULL };
    struct deployment row = { .name = "one", .url = "http://127.0.0.1:1", .created_by = "alice" };
    bool found;

    make_values(bench);
    bench->at_ms = clock_utc_ms();
    if (!deployment_add(bench->store, &row, bench->at_ms, NULL, &row, &bench->error)
        || !add_job(bench)
        || !job_claim(bench->store, "own", kinds, bench->at_ms, LEASE_MS, &bench->job, &found,
                      &bench->error))
        return false;
    text_copy(bench->claim.job_id, sizeof bench->claim.job_id, bench->job.id);
    bench->claim.fence = bench->job.fence;
    return true;
}

static bool run(struct bench *bench, const char *folder, const char *database)
{
    if (!store_open(folder, database, READERS, &bench->store, &bench->error) || !prepare(bench))
        return false;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!measure(bench, &operations[i]))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    bool named = argc == 2 || argc == 3;
    bool ok = named && run(&bench, argv[1], argc == 3 ? argv[2] : "");

    if (!ok)
        fprintf(stderr, "bench_store: %s\n", named ? bench.error.message : "name a folder");
    store_close(bench.store);
    return ok ? 0 : 1;
}
