/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: durable work with a lease and a fencing token; and the line in front of each endpoint, in
 * which a queued job waits until nobody else measures there. */
#pragma once

#include "base/core/random.h"
#include "store/ledger/change.h"

/* Up to JOB_RUNNING it has not ended. WAITING: for answers to its questions (questions.h). */
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
    int64_t updated_ms;                          /* its last change, except for heartbeats */
    char owner[ID_SIZE];
    int64_t lease_until_ms, fence;
    int64_t cancel_requested_ms;
    double progress, progress_total;
    char message[256];
    char outcome[4096]; /* JSON object; for failed jobs {"error": "..."} */
};

bool job_is_over(const struct job *job);

/* Proof that its holder may write for the job; passed with everything it writes. */
struct claim {
    char job_id[ID_SIZE];
    int64_t fence;
};

/* The kind that changes what runs in a cloud (store/fleet/fleet_plans.h): if it is cancelled, it
 * undoes what it did. */
#define JOB_KIND_APPLY "apply"

/* Queues a job of any kind except a sweep's, which sweep_create makes. */
CHECKED bool job_add(struct store *store, const char *kind, const char *subject,
                     const char *principal, int64_t now_ms, struct change *change, struct job *out,
                     struct error *error);
CHECKED bool job_find(struct store *store, const char *id, struct job *out, struct error *error);
struct job_filter {
    const char *kind, *principal, *subject; /* NULL: any */
    int state;                              /* -1: any */
    int64_t before_ms;                      /* 0: from the newest */
};
/* Newest first. free(*out). */
CHECKED bool job_list(struct store *store, const struct job_filter *filter, size_t limit,
                      struct job **out, size_t *count, struct error *error);
CHECKED bool job_counts(struct store *store, int64_t counts[JOB_CANCELLED + 1],
                        struct error *error);

/* Takes a job that another owner runs and whose lease ended before now_ms, or else a queued one
 * that has its endpoints to itself; *found false if there is none. Among queued ones principals
 * take turns, those with the fewest running jobs first, then endpoints, then the oldest is first.
 * The fence counts up; attempts the last holder left running become interrupted in the same
 * transaction. */
CHECKED bool job_claim(struct store *store, const char *owner, const char *const *kinds,
                       int64_t now_ms, int64_t lease_ms, struct job *out, bool *found,
                       struct error *error);
/* At start: puts queued sweeps of an older version in line, and makes running jobs of other owners
 * claimable: at once if the folder's lock proves that no other process has the store, else when
 * their leases end. */
CHECKED bool job_orphans_release(struct store *store, const char *owner, struct error *error);
/* Extends the leases of all these claims and stores their progress, in one transaction. A stale
 * claim's `stale` is set. */
struct job_beat {
    struct claim claim;
    double progress, progress_total;
    char message[256];
    bool stale, cancel_requested; /* out */
};
CHECKED bool job_heartbeat(struct store *store, struct job_beat *beats, size_t count,
                           int64_t now_ms, int64_t lease_ms, struct error *error);
struct job_ending {
    enum job_state state;
    const char *outcome_json; /* NULL: none */
    /* The state in which the job's sweep ends; NULL: it fails or is cancelled with its job. */
    const char *sweep_state, *sweep_reason;
};
/* Ends the job, and its sweep with it, and gives up its endpoints; CONFLICT if the claim is stale.
 * An attempt that still runs becomes interrupted. A sweep that has ended stays as it is. */
CHECKED bool job_finish(struct store *store, const struct claim *claim,
                        const struct job_ending *ending, int64_t now_ms, struct error *error);
/* Gives a running job back to the queue: it keeps its endpoints, unless it asked something. */
CHECKED bool job_yield(struct store *store, const struct claim *claim, struct error *error);
/* A queued job is cancelled at once (its sweep too), a running one, and one of JOB_KIND_APPLY, is
 * asked to stop; a finished one: CONFLICT. */
CHECKED bool job_cancel(struct store *store, const char *id, int64_t now_ms, struct change *change,
                        struct job *out, struct error *error);

#define ENDPOINT_NAME_SIZE 264
/* "127.0.0.1:8000": the host and port of a model server's URL, and where a job that measures there
 * waits in line. */
CHECKED bool endpoint_lease_name(const char *url, char out[ENDPOINT_NAME_SIZE],
                                 struct error *error);

struct endpoint_lease {
    char endpoint[ENDPOINT_NAME_SIZE], job_id[ID_SIZE], principal[64], purpose[128];
    int64_t asked_ms, granted_ms; /* granted_ms 0: the job waits for it */
    size_t place;                 /* place in line, from 1; 0: the job holds it */
};
/* Lists leases by endpoint, in the order of their lines. free(*out). */
CHECKED bool endpoint_lease_list(struct store *store, struct endpoint_lease **out, size_t *count,
                                 struct error *error);

/* Where a queued job waits. */
struct line_place {
    char endpoint[ENDPOINT_NAME_SIZE];
    size_t place;                /* from 1 */
    struct endpoint_lease first; /* the holder of the endpoint; if there is none, the next in line
                                  */
};
/* *found false: the job waits in no line. */
CHECKED bool job_line_place(struct store *store, const char *job_id, struct line_place *out,
                            bool *found, struct error *error);

/* Remembers and finds the answer of a call with an idempotency key. */
CHECKED bool idempotency_find(struct store *store, const char *principal, const char *tool,
                              const char *key, const char *arguments_digest, char subject[ID_SIZE],
                              bool *found, struct error *error);
