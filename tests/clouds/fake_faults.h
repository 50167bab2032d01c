/* SPDX-License-Identifier: Apache-2.0 */
/* Intercepts the requests to a fake cloud. Counts and records them, and can answer one request and
 * its repetitions with a fault, or kill a process before or after a request is carried out. */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "tests/clouds/fake_server.h"

struct fake_fault {
    const char *name;
    int times;    /* how often the request gets the fault, if the caller repeats it */
    bool is_done; /* the request is carried out before the fault */
    bool is_kept; /* the fake's own answer is sent, instead of the members below */
    int status;
    const char *type, *body, *header, *value;
    bool breaks_off;
    int delay_ms; /* before the answer is sent */
    /* Changes the body of the fake's own answer; NULL: the body is not changed. */
    void (*change)(struct text *body);
};

struct fake_faults {
    pthread_mutex_t lock;
    struct fake_server *server;
    const json_t *objects; /* the fake's objects, by path */
    size_t existing;       /* the number of objects at the last count */
    int requests;          /* since fake_faults_set */
    int created;           /* objects added since fake_faults_set or fake_faults_kill */
    const struct fake_fault *fault;
    int at;            /* the number, from 1, of the request that gets the fault; 0: none */
    int left;          /* how many more times that request gets the fault */
    char faulted[600]; /* the method and path of that request; "" until it arrives */
    pid_t victim;      /* the process to kill; 0: none */
    /* The arrival of a request is an event; if the request is carried out, that is another event.
     * `kill_at`: the number, from 1, of the event at which the victim is killed. */
    int events, kill_at;
    bool killed;
    json_t *log; /* an array with an object for each request; NULL: they are not recorded */
};

void fake_faults_start(struct fake_faults *faults, struct fake_server *server,
                       const json_t *objects);
void fake_faults_finish(struct fake_faults *faults);
/* Resets the counts of requests and created objects. From then on, request number `at` gets the
 * fault, which is borrowed; if `fault` is NULL, no request gets a fault. */
void fake_faults_set(struct fake_faults *faults, const struct fake_fault *fault, int at);
/* Resets the counts of events and created objects. The process `victim` is then killed at event
 * number `event`. */
void fake_faults_kill(struct fake_faults *faults, pid_t victim, int event);
/* From now on, no process is killed. Does not change `killed` and the counts. */
void fake_faults_disarm(struct fake_faults *faults);
