/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of jobs/ share. Private to jobs/. */
#pragma once

#include <pthread.h>

#include "jobs/job_pool.h"

#define LEASE_MS 10000
#define BEAT_MS 1000
#define POLL_MS 1000 /* for jobs that nobody announced, and leases that ended */

/* A thread and what it runs. All but `run` and `thread` under the lock of struct job_pool. */
struct runner {
    struct job_run run; /* first: what a kind's function is given */
    pthread_t thread;
    bool active, cancel, lost;
    bool asked; /* and was not answered yet: the run is to end */
    double progress, total;
    char message[256];
};

struct job_pool {
    struct store *store;
    const struct job_kind *kinds;
    const char **kind_names; /* of kinds, ends with NULL */
    void *services;
    char owner[ID_SIZE]; /* this process, in the leases */
    struct runner *runners;
    unsigned runner_count, started;
    pthread_t heart;
    bool heart_started;

    /* From reading progress to storing it, taken before `lock`: an older beat never overwrites the
     * last one. */
    pthread_mutex_t beating;
    pthread_mutex_t lock;   /* everything below; never held during a call of the store */
    pthread_cond_t work;    /* for idle runners and the heart */
    pthread_cond_t changed; /* for those who wait for a job, and for runs that wait */
    uint64_t kicks;         /* counts announced work */
    uint64_t moves;         /* counts changes of any job */
    bool stopping, heart_stopping;
    void (*listener)(void *context, const char *job_id);
    void *listener_context;
};

/* Wakes who waits for this job, and tells the listener. */
void job_pool_moved(struct job_pool *jobs, const char *job_id);
/* Waits, with the lock held, for the condition or `until_ns` on the monotonic clock. */
void job_pool_sleep(struct job_pool *jobs, pthread_cond_t *condition, int64_t until_ns);
/* Wakes who waits for a job that stands in line, and tells the listener of each. */
void job_pool_lines_moved(struct job_pool *jobs);
/* Into the message of a job that stands in line: who holds it up, and its place. */
void queue_notice_describe(struct store *store, struct job *job);
