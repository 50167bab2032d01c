/* SPDX-License-Identifier: Apache-2.0 */
/* Durable work. Threads claim jobs (store/ledger/jobs.h), and run the function of each job's
 * kind from start to end. One more thread, the heartbeat, extends the leases of the running jobs
 * and stores their progress once a second. Waiting callers are woken when their job changes. */
#pragma once

#include <jansson.h>

#include "store/ledger/jobs.h"

struct job_pool;

/* The state of a running job; borrowed for the duration of run(). */
struct job_run {
    struct job_pool *jobs;
    struct store *store;
    struct claim claim;
    struct job job; /* as claimed */
    void *services; /* as given to job_pool_create */
    /* Set by run() for the job of a sweep: the state in which the sweep ends together with the job
     * (job_finish), and why. "": the sweep fails or is cancelled with the job. */
    char sweep_state[16], sweep_reason[512];
};

/* How a run ended. COMPLETED, FAILED and CANCELLED end the job with its outcome (a JSON object on
 * the heap, which the pool frees); YIELDED returns the job to the queue, for the next process or
 * until its question is answered. Any other value counts as FAILED. */
enum job_end { JOB_END_COMPLETED = 1, JOB_END_FAILED, JOB_END_CANCELLED, JOB_END_YIELDED };

struct job_kind {
    const char *name;
    /* Blocking. Must call job_run_stop() often. On JOB_END_FAILED `error` says why. *outcome_json
     * may stay NULL. */
    CHECKED enum job_end (*run)(struct job_run *run, char **outcome_json, struct error *error);
    /* Threads for this kind alone, so that other kinds cannot delay it; 0: it uses the pool's
     * threads. */
    unsigned threads;
};

/* Makes the jobs of a dead process claimable (job_orphans_release), and starts the threads:
 * `threads` for the kinds without threads of their own, and those of every other kind. Each thread
 * runs one job at a time; a job that waits in line for an endpoint occupies no thread. `kinds` ends
 * with a NULL name and is borrowed, as is `services`, which is passed to every run. */
CHECKED bool job_pool_create(struct store *store, const struct job_kind *kinds, unsigned threads,
                             void *services, struct job_pool **out, struct error *error);
/* Asks every run to yield, and joins the threads however long that takes; runs that last longer
 * than timeout_ms are logged. Does nothing for NULL. */
void job_pool_destroy(struct job_pool *jobs, int64_t timeout_ms);

void job_pool_wake(struct job_pool *jobs); /* call it when a job may have become claimable */

/* For run(): progress is kept in memory, shown to waiting callers at once, and stored with the next
 * heartbeat. `message` NULL: the message stays. */
void job_run_progress(struct job_run *run, double progress, double total, const char *message);
/* Sets the job's message: it waits because the store refuses a write for this reason. */
void job_run_waits_for_store(struct job_run *run, const struct error *reason);
enum job_stop {
    JOB_STOP_NO,
    JOB_STOP_CANCEL,
    JOB_STOP_YIELD,
    JOB_STOP_LOST, /* the claim is stale: write nothing */
};
/* Why the run should stop, if it should. */
enum job_stop job_run_stop(const struct job_run *run);
/* The run has noticed that it was cancelled, and undoes its work: from now on job_run_stop returns
 * only other reasons to stop. */
void job_run_undoes(struct job_run *run);
/* Sleeps until timeout_ms passed or the run should stop; returns job_run_stop(). */
enum job_stop job_run_wait(struct job_run *run, int64_t timeout_ms);
/* A question to a client, its user or its model that the job needs answered before it can continue.
 */
struct job_question {
    const char *key;    /* identifies this question during the job's whole life; at most 64 bytes */
    const char *method; /* "elicitation/create", "sampling/createMessage" or "roots/list" */
    json_t *params;     /* an object, borrowed */
};
/* *answers: a new object with the answer to each question by its key. INPUT_REQUIRED if an answer
 * is missing: return JOB_END_YIELDED at once. The job then waits, shown as JOB_WAITING, without a
 * thread and across restarts; once all are answered, its kind's function is called again from the
 * start and gets the answers here. Before asking, therefore, do nothing that must not be done
 * twice. CANCELLED: the run should stop. */
CHECKED bool job_run_ask(struct job_run *run, const struct job_question *questions, size_t count,
                         json_t **answers, struct error *error);

/* The job as it is now: the stored row with the newest progress from memory. If it waits in line,
 * its message gives its place. */
CHECKED bool job_pool_show(struct job_pool *jobs, const char *id, struct job *out,
                           struct error *error);
/* Like job_list (store/ledger/jobs.h), with each job as it is now. */
CHECKED bool job_pool_list(struct job_pool *jobs, const struct job_filter *filter, size_t limit,
                           struct job **out, size_t *count, struct error *error);
/* Waits until the job differs from `seen` (state, progress or message), timeout_ms passed, or
 * `cancelled` returns true (called at least 5 times a second; NULL: never). */
CHECKED bool job_pool_wait(struct job_pool *jobs, const char *id, const struct job *seen,
                           int64_t timeout_ms, bool (*cancelled)(void *context), void *context,
                           struct job *out, struct error *error);
/* Cancels a job: a running one, or one of JOB_KIND_APPLY, is asked to stop; any other ends at once.
 * *out: the job as it is now. CONFLICT: the job has ended. */
CHECKED bool job_pool_cancel(struct job_pool *jobs, const char *id, struct change *change,
                             struct job *out, struct error *error);
/* Answers a job's questions: `answers` is an object by key, `*accepted` counts the answers to open
 * questions; other answers are ignored. The job continues as soon as no question is open. */
CHECKED bool job_pool_answer(struct job_pool *jobs, const char *id, json_t *answers,
                             struct change *change, size_t *accepted, struct error *error);
/* The number of jobs that this process runs now. */
size_t job_pool_running(struct job_pool *jobs);

/* Sets the one listener, for event streams: `moved` is called with a job's id whenever the job
 * changes, from any thread. NULL: nobody listens. */
void job_pool_listen(struct job_pool *jobs, void (*moved)(void *context, const char *job_id),
                     void *context);
