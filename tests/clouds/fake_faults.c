/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_faults.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void record(struct fake_faults *faults, const struct fake_request *request)
{
    if (faults->log != NULL)
        json_array_append_new(faults->log,
                              json_pack("{s:s, s:s, s:s, s:s, s:s%}", "method", request->method,
                                        "path", request->path, "query", request->query, "bearer",
                                        request->bearer, "body", request->body, request->length));
}

/* Returns whether the request gets the fault: request number `at` and its repetitions get it, as
 * long as faults are left. */
static bool gets_fault(struct fake_faults *faults, const struct fake_request *request)
{
    char this[sizeof faults->faulted];

    snprintf(this, sizeof this, "%s %s", request->method, request->path);
    if (faults->left == 0)
        return false;
    if (faults->faulted[0] == '\0' && faults->requests == faults->at)
        memcpy(faults->faulted, this, sizeof this);
    if (strcmp(faults->faulted, this) != 0)
        return false;
    faults->left--;
    return true;
}

/* Counts an event, and kills the victim if this is event number `kill_at`. Returns whether it
 * killed the victim: if so, a request that has not been carried out yet never is. */
static bool kills(struct fake_faults *faults, struct fake_reply *reply)
{
    if (++faults->events != faults->kill_at || faults->victim == 0)
        return false;
    kill(faults->victim, SIGKILL);
    faults->killed = true;
    reply->breaks_off = true;
    return true;
}

static void count_created(struct fake_faults *faults)
{
    size_t existing;

    fake_server_hold(faults->server);
    existing = json_object_size(faults->objects);
    fake_server_release(faults->server);
    if (existing > faults->existing)
        faults->created += (int)(existing - faults->existing);
    faults->existing = existing;
}

static void disturb(const struct fake_fault *fault, struct fake_reply *reply)
{
    nanosleep(&(struct timespec){ fault->delay_ms / 1000, fault->delay_ms % 1000 * 1000000 }, NULL);
    if (fault->change != NULL)
        fault->change(&reply->body);
    if (fault->is_kept)
        return;
    text_clear(&reply->body);
    text_add(&reply->body, fault->body != NULL ? fault->body : "");
    reply->status = fault->status;
    reply->type = fault->type;
    reply->header = fault->header;
    reply->value = fault->value;
    reply->breaks_off = fault->breaks_off;
}

static bool guard(void *context, enum fake_moment moment, const struct fake_request *request,
                  struct fake_reply *reply, void **memory)
{
    struct fake_faults *faults = context;
    const struct fake_fault *fault = NULL;
    bool killed;

    pthread_mutex_lock(&faults->lock);
    if (moment == FAKE_BEFORE) {
        faults->requests++;
        record(faults, request);
        *memory = gets_fault(faults, request) ? (void *)(uintptr_t)faults->fault : NULL;
    }
    if (moment == FAKE_AFTER)
        count_created(faults);
    killed = kills(faults, reply);
    pthread_mutex_unlock(&faults->lock);
    fault = *memory;
    if (killed || fault == NULL || fault->is_done != (moment == FAKE_AFTER))
        return killed;
    disturb(fault, reply);
    return true;
}

void fake_faults_start(struct fake_faults *faults, struct fake_server *server,
                       const json_t *objects)
{
    *faults = (struct fake_faults){ .server = server, .objects = objects };
    pthread_mutex_init(&faults->lock, NULL);
    fake_server_guard(server, guard, faults);
}

void fake_faults_finish(struct fake_faults *faults)
{
    pthread_mutex_destroy(&faults->lock);
    json_decref(faults->log);
}

void fake_faults_set(struct fake_faults *faults, const struct fake_fault *fault, int at)
{
    pthread_mutex_lock(&faults->lock);
    faults->fault = fault;
    faults->at = at;
    faults->left = fault != NULL ? fault->times : 0;
    faults->requests = 0;
    faults->created = 0;
    faults->existing = json_object_size(faults->objects);
    faults->faulted[0] = '\0';
    pthread_mutex_unlock(&faults->lock);
}

void fake_faults_kill(struct fake_faults *faults, pid_t victim, int event)
{
    pthread_mutex_lock(&faults->lock);
    faults->victim = victim;
    faults->kill_at = event;
    faults->events = 0;
    faults->killed = false;
    faults->created = 0;
    faults->existing = json_object_size(faults->objects);
    pthread_mutex_unlock(&faults->lock);
}

void fake_faults_disarm(struct fake_faults *faults)
{
    pthread_mutex_lock(&faults->lock);
    faults->victim = 0;
    pthread_mutex_unlock(&faults->lock);
}
