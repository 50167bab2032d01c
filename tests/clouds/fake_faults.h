/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in front of a fake: counts its requests, answers one of them with a fault, kills the
 * process that sent one, and records the requests. */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "tests/clouds/fake_server.h"

struct fake_fault {
    const char *name;
    int times;    /* the request that gets the fault, and how often when it is repeated */
    bool is_done; /* the request is carried out first */
    bool is_kept; /* the fake's own answer is sent, `delay_ms` later or `changed` */
    int status;
    const char *type, *body, *header, *value;
    bool breaks_off;
    int delay_ms;
    void (*changed)(struct text *body); /* NULL: not */
};

struct fake_faults {
    pthread_mutex_t lock;
    struct fake_server *server;
    const json_t *objects; /* the fake's objects, by path */
    size_t existing;
    int requests; /* so far */
    int created;  /* how many objects they created */
    const struct fake_fault *fault;
    int at; /* of which request, from 1; 0: of none */
    int left;
    char met[600]; /* method and path of that request; "" until then */
    pid_t victim;
    int events, kill_at; /* two for each request: before it is done, and after; 0: none */
    bool killed;
    json_t *log; /* the requests, an object for each; NULL: not kept */
};

void fake_faults_start(struct fake_faults *faults, struct fake_server *server,
                       const json_t *objects);
void fake_faults_finish(struct fake_faults *faults);
/* From now on the nth request gets the fault, or the victim is killed at the nth event. */
void fake_faults_set(struct fake_faults *faults, const struct fake_fault *fault, int at);
void fake_faults_kill(struct fake_faults *faults, pid_t victim, int event);
void fake_faults_disarm(struct fake_faults *faults); /* kills nothing from now on */
