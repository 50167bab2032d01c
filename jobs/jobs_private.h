/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of jobs/, and private to them. */
#pragma once

#include <pthread.h>

#include "jobs/job_pool.h"

#define LEASE_MS 10000 /* this long after a job's last heartbeat, another process may claim it */
#define BEAT_MS 1000   /* the time between two heartbeats */
/* How often an idle runner looks for expired leases, and for jobs that job_pool_wake did not
 * announce. Also the time after which a refused write is tried again. */
#define POLL_MS 1000

/* A thread and the job it runs. The members from `active` on are protected by the lock of struct
 * job_pool. */
struct runner {
    struct job_run run; /* must be the first member: a kind's function gets a pointer to it */
    const char **kinds; /* names of the kinds that it runs; ends with NULL; borrowed */
    pthread_t thread;
    bool active; /* it runs a job */
    bool cancel; /* the job was cancelled */
    bool lost;   /* the claim is stale */
    bool undoes; /* the run has noticed the cancellation, and is undoing its work */
    bool asked;  /* the run asked a question, so it must end */
    double progress, total;
    char message[256];
};

struct job_pool {
    struct store *store;
    const struct job_kind *kinds;
    /* The names of the kinds without threads of their own, then NULL; then, for each other kind,
     * its name and NULL. */
    const char **kind_names;
    void *services;
    char owner[ID_SIZE]; /* names this process in leases */
    struct runner *runners;
    unsigned runner_count, runners_started;
    pthread_t heartbeat;
    bool heartbeat_started;

    /* Locked before progress is read and unlocked after it is stored, so that an older heartbeat
     * never overwrites a newer one. Always locked before `lock`. */
    pthread_mutex_t beating;
    pthread_mutex_t lock;   /* protects everything below; never held while calling the store */
    pthread_cond_t work;    /* for idle runners and the heartbeat thread */
    pthread_cond_t changed; /* for everyone else who waits: callers, runs, job_pool_destroy */
    uint64_t wakes;         /* counts the calls of job_pool_wake */
    uint64_t moves;         /* counts changes to all jobs */
    bool stopping, heartbeat_stopping;
    void (*listener)(void *context, const char *job_id);
    void *listener_context;
};

/* Call it when a job has changed: wakes waiting callers, and calls the listener. */
void job_pool_moved(struct job_pool *jobs, const char *job_id);
/* Waits for the condition or until `until_ns` on the monotonic clock. The lock must be held. */
void job_pool_sleep(struct job_pool *jobs, pthread_cond_t *condition, int64_t until_ns);
/* Call it when places in line may have changed: wakes waiting callers, and calls the listener for
 * each job in line. */
void job_pool_lines_moved(struct job_pool *jobs);
/* If the job waits in line, sets its message: who has the endpoint or gets it next, and which place
 * in line the job has. */
void queue_notice_describe(struct store *store, struct job *job);
