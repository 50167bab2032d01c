/* SPDX-License-Identifier: Apache-2.0 */
/* Durable work. Threads claim jobs (store/ledger/jobs.h), and call the function for each job's
 * kind. One more thread, the heartbeat, extends the leases of the running jobs and stores their
 * progress once a second. Waiting callers are woken when their job changes. */
#pragma once

#include <jansson.h>

#include "store/ledger/jobs.h"

struct job_pool;

/* The state of a running job; borrowed for the duration of run(). */
struct job_run {
    struct job_pool *jobs;
    struct store *store;
    struct claim claim;
    struct job job; /* the job as it was when it was claimed */
    void *services; /* as given to job_pool_create */
    /* run() sets these for a sweep's job: the state in which the sweep ends when the job ends
     * (job_finish), and why. If sweep_state is "", the sweep fails or is cancelled like the job. */
    char sweep_state[16], sweep_reason[512];
};

/* How a run ended. COMPLETED, FAILED and CANCELLED end the job with its outcome (a JSON object on
 * the heap, which the pool frees). YIELDED returns the job to the queue, where it waits for the
 * next process or for the answers to its questions. Any other value counts as FAILED. */
enum job_end { JOB_END_COMPLETED = 1, JOB_END_FAILED, JOB_END_CANCELLED, JOB_END_YIELDED };

struct job_kind {
    const char *name;
    /* Blocks until the run ends. Must call job_run_stop() often. If it returns JOB_END_FAILED,
     * `error` says why. *outcome_json may stay NULL. */
    CHECKED enum job_end (*run)(struct job_run *run, char **outcome_json, struct error *error);
    /* The number of threads for this kind alone, so that other kinds cannot delay it; 0: it uses
     * the pool's shared threads. */
    unsigned threads;
};

/* Makes the jobs of a dead process claimable (job_orphans_release), and starts the threads:
 * `threads` shared threads for the kinds that have none of their own, plus the threads of each kind
 * that has its own. Each thread runs one job at a time; a job that waits in line for an endpoint
 * occupies no thread. `kinds` ends with a NULL name and is borrowed, as is `services`, which is
 * passed to every run. */
CHECKED bool job_pool_create(struct store *store, const struct job_kind *kinds, unsigned threads,
                             void *services, struct job_pool **out, struct error *error);
/* Asks every run to yield, and joins the threads, however long that takes. Jobs that are still
 * running after timeout_ms are logged. Does nothing for NULL. */
void job_pool_destroy(struct job_pool *jobs, int64_t timeout_ms);

void job_pool_wake(struct job_pool *jobs); /* call it when a job may have become claimable */

/* Called by run(). The progress is kept in memory, shown to waiting callers at once, and stored
 * with the next heartbeat. If `message` is NULL, the message stays as it is. */
void job_run_progress(struct job_run *run, double progress, double total, const char *message);
/* Sets a message that says that the job is waiting because the store refuses a write, and why. */
void job_run_waits_for_store(struct job_run *run, const struct error *reason);
enum job_stop {
    JOB_STOP_NO,
    JOB_STOP_CANCEL,
    JOB_STOP_YIELD,
    JOB_STOP_LOST, /* the claim is stale: write nothing */
};
/* Why the run should stop, if it should. */
enum job_stop job_run_stop(const struct job_run *run);
/* Call it when the run has noticed that it was cancelled, and begins to undo its work. From then
 * on, job_run_stop returns only other reasons to stop. */
void job_run_undoes(struct job_run *run);
/* Sleeps until timeout_ms have passed or the run should stop; returns job_run_stop(). */
enum job_stop job_run_wait(struct job_run *run, int64_t timeout_ms);
/* A question to a client, its user or its model that the job needs answered before it can continue.
 */
struct job_question {
    const char *key;    /* identifies this question during the job's whole life; at most 64 bytes */
    const char *method; /* "elicitation/create", "sampling/createMessage" or "roots/list" */
    json_t *params;     /* an object, borrowed */
};
/* *answers: a new object with the answer to each question by its key. Fails with INPUT_REQUIRED if
 * an answer is missing: run() must then return JOB_END_YIELDED at once. The job then waits in the
 * state JOB_WAITING, without a thread and across restarts. Once all questions are answered, run()
 * is called again from the start, and gets the answers here. So before asking, do nothing that must
 * not be done twice. Fails with CANCELLED if the run should stop. */
CHECKED bool job_run_ask(struct job_run *run, const struct job_question *questions, size_t count,
                         json_t **answers, struct error *error);

/* The job as it is now: the stored row with the newest progress from memory. If it waits in line,
 * its message gives its place. */
CHECKED bool job_pool_show(struct job_pool *jobs, const char *id, struct job *out,
                           struct error *error);
/* Like job_list (store/ledger/jobs.h), with each job as it is now. */
CHECKED bool job_pool_list(struct job_pool *jobs, const struct job_filter *filter, size_t limit,
                           struct job **out, size_t *count, struct error *error);
/* Waits until the job differs from `seen` (state, progress or message), timeout_ms have passed, or
 * `cancelled` returns true (called at least 5 times a second; NULL: never). */
CHECKED bool job_pool_wait(struct job_pool *jobs, const char *id, const struct job *seen,
                           int64_t timeout_ms, bool (*cancelled)(void *context), void *context,
                           struct job *out, struct error *error);
/* Cancels a job. A running job, or one of the kind JOB_KIND_APPLY, is asked to stop; any other job
 * ends at once. *out: the job as it is now. CONFLICT: the job has ended. */
CHECKED bool job_pool_cancel(struct job_pool *jobs, const char *id, struct change *change,
                             struct job *out, struct error *error);
/* Answers a job's questions. `answers` is an object with the answers by the questions' keys. Sets
 * *accepted to the number of answers to open questions; other answers are ignored. The job
 * continues as soon as no question is open. */
CHECKED bool job_pool_answer(struct job_pool *jobs, const char *id, json_t *answers,
                             struct change *change, size_t *accepted, struct error *error);
/* Returns the number of jobs that this process is running now. */
size_t job_pool_running(struct job_pool *jobs);

/* Sets the listener (there is only one), for event streams: `moved` is called with a job's id
 * whenever the job changes, from any thread. NULL: nobody listens. */
void job_pool_listen(struct job_pool *jobs, void (*moved)(void *context, const char *job_id),
                     void *context);
