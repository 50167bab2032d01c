/* SPDX-License-Identifier: Apache-2.0 */
/* Intercepts the requests to a fake: counts and records them, answers one of them and its
 * repetitions with a fault, or kills a process before or after one of them. */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "tests/clouds/fake_server.h"

struct fake_fault {
    const char *name;
    int times;    /* how often the request gets the fault, if the caller repeats it */
    bool is_done; /* the request is carried out first */
    bool is_kept; /* the fake's own answer is sent, instead of the one below */
    int status;
    const char *type, *body, *header, *value;
    bool breaks_off;
    int delay_ms; /* before the answer is sent */
    /* Changes the body of the fake's own answer; NULL: it stays as it is. */
    void (*change)(struct text *body);
};

struct fake_faults {
    pthread_mutex_t lock;
    struct fake_server *server;
    const json_t *objects; /* the fake's objects, by path */
    size_t existing;       /* the number of objects at the last count */
    int requests;          /* since fake_faults_set */
    int created;           /* objects that were added since fake_faults_set or fake_faults_kill */
    const struct fake_fault *fault;
    int at;            /* the number of the request that gets the fault, from 1; 0: none */
    int left;          /* how often that request will still get the fault */
    char faulted[600]; /* the method and path of that request; "" until it was sent */
    pid_t victim;      /* the process to kill; 0: none */
    /* A request is an event when it arrives and, if it is carried out, a second event afterwards.
     * `kill_at`: the number of the event at which the victim is killed, from 1. */
    int events, kill_at;
    bool killed;
    json_t *log; /* the requests, an object for each; NULL if they are not recorded */
};

void fake_faults_start(struct fake_faults *faults, struct fake_server *server,
                       const json_t *objects);
void fake_faults_finish(struct fake_faults *faults);
/* Counts requests and created objects from 0 again; the request number `at` gets the fault, which
 * is borrowed. NULL: no request gets a fault. */
void fake_faults_set(struct fake_faults *faults, const struct fake_fault *fault, int at);
/* Counts events and created objects from 0 again; kills the process `victim` at the event number
 * `event`. */
void fake_faults_kill(struct fake_faults *faults, pid_t victim, int event);
/* Lets no process be killed any more; `killed` and the counts stay. */
void fake_faults_disarm(struct fake_faults *faults);
