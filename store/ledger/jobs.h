/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs (durable work with a lease and a fencing token), and the lines in which queued jobs wait for
 * endpoints that other jobs are measuring. */
#pragma once

#include "base/core/random.h"
#include "store/ledger/change.h"

/* In the states up to JOB_RUNNING, a job has not ended. JOB_WAITING: the job waits for answers to
 * its questions (questions.h). */
enum job_state { JOB_QUEUED, JOB_WAITING, JOB_RUNNING, JOB_COMPLETED, JOB_FAILED, JOB_CANCELLED };
const char *job_state_name(enum job_state state);
bool job_state_find(const char *name, enum job_state *out);

struct job {
    char id[ID_SIZE];
    char kind[32];
    char subject[ID_SIZE];
    enum job_state state;
    char principal[64];
    int64_t created_ms, started_ms, finished_ms; /* 0: not yet */
    int64_t updated_ms;     /* last change; heartbeats count only if progress or message changes */
    char owner[ID_SIZE];    /* the process that last claimed it; "": not claimed, or given back */
    int64_t lease_until_ms; /* after this time, other processes can claim the running job */
    int64_t fence;          /* the fencing token: how often the job was claimed */
    int64_t cancel_requested_ms; /* 0: not requested */
    double progress, progress_total;
    char message[256];
    char outcome[4096]; /* JSON object; has the member "error" if the job failed */
};

bool job_is_over(const struct job *job);

/* Proof that a worker is allowed to write for the job. A write is refused unless its claim is the
 * job's newest. */
struct claim {
    char job_id[ID_SIZE];
    int64_t fence; /* the job's fence when it was claimed */
};

/* The kind of the jobs that carry out plans (store/fleet/fleet_plans.h). A cancelled job of this
 * kind undoes what it did. */
#define JOB_KIND_APPLY "apply"

/* Queues a job. A sweep's job is queued by sweep_create or sweep_reopen instead. */
CHECKED bool job_add(struct store *store, const char *kind, const char *subject,
                     const char *principal, int64_t now_ms, struct change *change, struct job *out,
                     struct error *error);
CHECKED bool job_find(struct store *store, const char *id, struct job *out, struct error *error);
struct job_filter {
    const char *kind, *principal, *subject; /* NULL: any */
    int state;                              /* -1: any */
    int64_t before_ms;                      /* only jobs created before this time; 0: any */
};
/* Lists jobs, newest first. free(*out). */
CHECKED bool job_list(struct store *store, const struct job_filter *filter, size_t limit,
                      struct job **out, size_t *count, struct error *error);
/* Counts the jobs in each state. */
CHECKED bool job_counts(struct store *store, int64_t counts[JOB_CANCELLED + 1],
                        struct error *error);

/* Claims a job of one of the kinds (a list that ends with NULL). If another owner has a running job
 * whose lease ended before now_ms, claims that job; otherwise, claims a queued job that waits
 * neither for an answer nor for other jobs at an endpoint. *found false: there is no such job. Of
 * several such jobs, claims the one whose principal has the fewest running jobs; among equals, the
 * one whose principal's last job was claimed the longest ago, then the one whose endpoints were
 * last granted the longest ago, then the oldest. The same transaction increments the fence, and
 * marks the attempts that the previous owner left running as interrupted. */
CHECKED bool job_claim(struct store *store, const char *owner, const char *const *kinds,
                       int64_t now_ms, int64_t lease_ms, struct job *out, bool *found,
                       struct error *error);
/* Call this at start. Gives sweep jobs that were stored by an older version of opsbrain their
 * places in line. If this process has locked the data folder, also makes the running jobs of other
 * owners claimable immediately; otherwise, they become claimable when their leases end. */
CHECKED bool job_orphans_release(struct store *store, const char *owner, struct error *error);
struct job_beat {
    struct claim claim;
    double progress, progress_total;
    char message[256];
    bool stale;            /* out: the job was claimed again, or has ended */
    bool cancel_requested; /* out: the job was asked to stop */
};
/* For each claim, extends the job's lease and stores its progress, all in one transaction. For a
 * stale claim, stores nothing and sets `stale`. */
CHECKED bool job_heartbeat(struct store *store, struct job_beat *beats, size_t count,
                           int64_t now_ms, int64_t lease_ms, struct error *error);
struct job_ending {
    enum job_state state;
    const char *outcome_json; /* NULL: none */
    /* The state in which the job's sweep ends; NULL: the sweep fails or is cancelled, like the job,
     * or the job has no sweep. */
    const char *sweep_state;
    const char *sweep_reason; /* NULL: "its job was ", followed by the state */
};
/* Ends the job and its sweep, gives up the job's endpoints, and marks attempts that are still
 * running as interrupted. A sweep that has already ended stays as it is. CONFLICT: the claim is
 * stale. */
CHECKED bool job_finish(struct store *store, const struct claim *claim,
                        const struct job_ending *ending, int64_t now_ms, struct error *error);
/* Gives a running job back to the queue. The job keeps its endpoints unless it waits for an
 * answer. */
CHECKED bool job_yield(struct store *store, const struct claim *claim, struct error *error);
/* Cancels a queued job and its sweep. A running job, or any job of the kind JOB_KIND_APPLY, is only
 * asked to stop. CONFLICT: the job has already ended. */
CHECKED bool job_cancel(struct store *store, const char *id, int64_t now_ms, struct change *change,
                        struct job *out, struct error *error);

#define ENDPOINT_NAME_SIZE 264
/* Writes the name of the endpoint that a URL leads to: its host and port, such as "127.0.0.1:8000".
 * Fails like url_check. */
CHECKED bool endpoint_lease_name(const char *url, char out[ENDPOINT_NAME_SIZE],
                                 struct error *error);

/* A job that holds an endpoint or waits in line for it. */
struct endpoint_lease {
    char endpoint[ENDPOINT_NAME_SIZE], job_id[ID_SIZE], principal[64];
    char purpose[128];  /* the job's subject */
    int64_t asked_ms;   /* when the job was created */
    int64_t granted_ms; /* 0: the job waits for the endpoint */
    size_t place;       /* place in line, from 1; 0: the job holds the endpoint */
};
/* Lists leases, sorted by endpoint: for each endpoint the holder, if any, and then the jobs in
 * line, in order. free(*out). */
CHECKED bool endpoint_lease_list(struct store *store, struct endpoint_lease **out, size_t *count,
                                 struct error *error);

/* Where a queued job waits. */
struct line_place {
    char endpoint[ENDPOINT_NAME_SIZE];
    size_t place;                /* the job's place in line, from 1 */
    struct endpoint_lease first; /* the endpoint's holder; if there is none, the first in line */
};
/* *found false: the job does not wait in a line. */
CHECKED bool job_line_place(struct store *store, const char *job_id, struct line_place *out,
                            bool *found, struct error *error);

/* Sets `subject` to the id of what an earlier call with this idempotency key started. *found false:
 * there was no such call. CONFLICT: that call had different arguments. */
CHECKED bool idempotency_find(struct store *store, const char *principal, const char *tool,
                              const char *key, const char *arguments_digest, char subject[ID_SIZE],
                              bool *found, struct error *error);
