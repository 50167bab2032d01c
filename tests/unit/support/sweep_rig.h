/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a sweep as a job, with simserve as the model server and a real store, for the tests of
 * bench/sweep/sweep*.c. */
#pragma once

#include <stdatomic.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "bench/plan/plan.h"
#include "bench/sweep/sweep.h"
#include "bench/workload/dataset.h"
#include "store/ledger/datasets.h"
#include "tests/simserve/harness/process.h"
#include "tests/unit/support/ledger.h"

#define PATIENCE_MS 60000

/* The context of the sweep's callbacks. */
struct rig {
    struct ledger *ledger;
    struct simserve server;
    atomic_int port;       /* the server's port, as `resolve` reports it; a test can change it */
    struct simserve other; /* the server of the deployment "other" */
    struct job_pool *jobs;
    char bearer[64];
    atomic_bool down; /* `discover` reports that the server does not answer */
    int64_t server_patience_ms;
    struct cross_check verdicts[16]; /* what monitor_end reports for each attempt */
    size_t verdict_count, verdicts_given;
    useconds_t end_us;      /* how long monitor_end takes */
    int64_t context_tokens; /* the model's context length, as `discover` reports it; 0: not known */
    atomic_int attempts;    /* how many attempts have begun */
    atomic_int held_at;     /* the number of the attempt that waits until it is released; 0: none */
};

static inline bool resolve(void *context, const struct deployment *deployment, struct endpoint *out,
                           struct error *error)
{
    struct rig *rig = context;
    bool is_other = strcmp(deployment->name, "other") == 0;

    (void)error;
    *out = (struct endpoint){ 0 };
    snprintf(out->url, sizeof out->url, "http://%s:%d",
             strcmp(deployment->name, "alias") == 0 ? "localhost" : "127.0.0.1",
             is_other ? rig->other.port : atomic_load(&rig->port));
    snprintf(out->bearer, sizeof out->bearer, "%s", rig->bearer);
    return true;
}

static inline bool discover(void *context, const struct deployment *deployment,
                            const struct endpoint *endpoint, struct model_facts *out,
                            struct error *error)
{
    const struct rig *rig = context;

    if (rig->down)
        return error_set(error, ERROR_UPSTREAM, "demo does not answer: connect_refused");
    *out = (struct model_facts){ .deployment_id = deployment->id, .revision = 1 };
    snprintf(out->model, sizeof out->model, "simserve/toy");
    out->context_tokens = rig->context_tokens;
    snprintf(out->engine, sizeof out->engine, "vllm");
    snprintf(out->details, sizeof out->details, "{\"at\":\"%s\"}", endpoint->url);
    return true;
}

static inline void *monitor_begin(void *context, const struct deployment *deployment,
                                  const struct endpoint *endpoint,
                                  const struct monitor_watch *watch)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    struct rig *rig = context;

    assert_string_equal(endpoint->model, "simserve/toy");
    assert_true(deployment->id > 0);
    rig->attempts++;
    while (rig->attempts == atomic_load(&rig->held_at)
           && !watch->stopped(watch->context, "held by the test"))
        nanosleep(&pause, NULL);
    return context;
}

/* Reports the verdicts that the test has set, one for each attempt that was not interrupted. Once
 * they are used up, the verdicts are favourable. */
static inline void monitor_end(void *context, void *monitor, const struct cell_result *result,
                               struct cross_check *out)
{
    struct rig *rig = context;

    assert_ptr_equal(context, monitor);
    *out = (struct cross_check){ 0 };
    usleep(rig->end_us);
    if (result == NULL)
        return;
    if (rig->verdicts_given < rig->verdict_count)
        *out = rig->verdicts[rig->verdicts_given++];
    assert_true(result->state != CELL_MEASURED || result->sent.requests > 0);
    out->json = strdup("{\"seen\":1}");
}

static inline enum job_end run_sweep(struct job_run *run, char **outcome, struct error *error)
{
    const struct sweep_host host = { run->services, resolve, discover, monitor_begin, monitor_end };
    const struct rig *rig = run->services;
    const struct sweep_job sweep = { .host = &host,
                                     .shards = 1,
                                     .server_patience_ms = rig->server_patience_ms };

    return sweep_job_run(&sweep, run, outcome, error);
}

static inline void start_jobs(struct rig *rig)
{
    static const struct job_kind kinds[] = { { "sweep", run_sweep }, { 0 } };

    assert_ok(rig->ledger,
              job_pool_create(rig->ledger->store, kinds, 2, rig, &rig->jobs, &rig->ledger->error));
}

/* Queues a sweep with this plan. `candidate`: the second deployment of an A/B sweep; NULL: the
 * sweep has only one deployment. */
static inline struct sweep_row start_sweep_over(struct rig *rig,
                                                const struct deployment *deployment,
                                                const struct deployment *candidate,
                                                const char *plan_text)
{
    struct ledger *ledger = rig->ledger;
    struct change change = ledger_change("alice", "sweep_start");
    json_auto_t *arguments = json_loads(plan_text, 0, NULL);
    struct plan plan;
    struct cell_plan *cells;
    struct sweep_row row;
    size_t count;

    assert_ok(ledger, plan_read(arguments, &plan, &ledger->error));
    json_auto_t *json = plan_to_json(&plan);
    char *written = json_write(json);
    plan_cells(&plan, candidate == NULL ? 1 : 2, &cells, &count);
    const struct sweep_order order = { .deployment = deployment,
                                       .candidate = candidate,
                                       .plan_json = written,
                                       .plan_digest = "digest",
                                       .provenance_json = "{\"who\":\"alice\"}",
                                       .cells = cells,
                                       .cell_count = count,
                                       .repetitions = plan.repetitions,
                                       .arguments_digest = "" };
    assert_ok(ledger,
              sweep_create(ledger->store, &order, clock_utc_ms(), &change, &row, &ledger->error));
    free(written);
    free(cells);
    job_pool_wake(rig->jobs);
    return row;
}

static inline struct sweep_row start_sweep_of(struct rig *rig, const char *name,
                                              const char *plan_text)
{
    struct deployment deployment = ledger_deployment(rig->ledger, name);

    return start_sweep_over(rig, &deployment, NULL, plan_text);
}

static inline struct sweep_row start_sweep(struct rig *rig, const char *plan_text)
{
    return start_sweep_of(rig, "demo", plan_text);
}

/* Makes the attempt with this number wait before it sends anything, so that the test can observe
 * its cell. */
static inline void hold(struct rig *rig, int attempt)
{
    atomic_store(&rig->held_at, attempt);
}

static inline void let_go(struct rig *rig)
{
    atomic_store(&rig->held_at, 0);
}

/* Waits until the job is in this state and its message contains these words. */
static inline struct job await(struct rig *rig, const char *id, enum job_state state,
                               const char *words)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    struct job job;

    assert_ok(rig->ledger, job_pool_show(rig->jobs, id, &job, &rig->ledger->error));
    while (job.state != state || strstr(job.message, words) == NULL) {
        if (clock_monotonic_ns() > until_ns || job.state > JOB_RUNNING)
            fail_msg("got a job that is %s with \"%s\", outcome %s; expected %s with \"%s\"",
                     job_state_name(job.state), job.message, job.outcome, job_state_name(state),
                     words);
        assert_ok(rig->ledger,
                  job_pool_wait(rig->jobs, id, &job, 100, NULL, NULL, &job, &rig->ledger->error));
    }
    return job;
}

/* Replaces the row with the one that is stored now. The returned copy shares the row's memory. */
static inline struct sweep_row find_sweep(struct rig *rig, struct sweep_row *row)
{
    struct sweep_row stored;

    assert_ok(rig->ledger, sweep_find(rig->ledger->store, row->id, &stored, &rig->ledger->error));
    sweep_row_finish(row);
    *row = stored;
    return stored;
}

/* Not inlined: otherwise GCC 12 warns that the result points to a local variable. */
__attribute__((noinline, unused)) static struct cell_row *
list_cells(struct rig *rig, const struct sweep_row *row, size_t *count)
{
    struct cell_row *cells;

    assert_ok(rig->ledger,
              cell_list(rig->ledger->store, row->id, NULL, &cells, count, &rig->ledger->error));
    return cells;
}

static inline void set_up(struct rig *rig, void **state, const char *const *flags)
{
    *rig = (struct rig){ .ledger = *state, .server = simserve_start(flags) };
    rig->port = rig->server.port;
    start_jobs(rig);
}

static inline void tear_down(struct rig *rig)
{
    job_pool_destroy(rig->jobs, PATIENCE_MS);
    if (rig->server.pid != 0)
        simserve_stop(&rig->server);
    if (rig->other.pid != 0)
        simserve_stop(&rig->other);
}

#define QUICK "\"output_tokens\":[4],\"requests\":4,\"warmup_limit_s\":0"

/* Reads a dataset from `text`, stores it, and writes its digest into `digest`. */
static inline void keep_dataset(struct rig *rig, const char *text, char digest[DIGEST_TEXT_SIZE])
{
    static char lengths[] = "{}";
    struct dataset_entry entry = { .name = "chats", .kind = "prompts", .lengths = lengths };
    struct change change = ledger_change("alice", "dataset_import");
    DATASET_AUTO dataset = { 0 };
    FREE_AUTO void *packed = NULL;
    size_t length;
    bool existed;

    assert_ok(rig->ledger, dataset_read(text, strlen(text), &dataset, &rig->ledger->error));
    assert_ok(rig->ledger, dataset_pack(&dataset, &packed, &length, &rig->ledger->error));
    dataset_digest(&dataset, digest);
    snprintf(entry.digest, sizeof entry.digest, "%s", digest);
    assert_ok(rig->ledger,
              dataset_entry_create(rig->ledger->store, &entry, packed, length, clock_utc_ms(),
                                   &change, &existed, &rig->ledger->error));
}
