/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/credential_renewal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "bench/load/load.h"

/* The time between two calls that get the credential from the endpoint's lock. Such a call is
 * cheap, because credentials from a cloud are cached. */
#define INTERVAL_NS 500000000

struct credential_renewal {
    struct load *load;
    struct endpoint endpoint;
    pthread_t thread;
    pthread_cond_t changed;
    pthread_mutex_t lock; /* protects `ending` */
    bool ending;
};

static bool sleep_interval(struct credential_renewal *renewal)
{
    int64_t until_ns = clock_monotonic_ns() + INTERVAL_NS;
    const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
    bool ending;
    int failed = 0;

    pthread_mutex_lock(&renewal->lock);
    while (!renewal->ending && failed == 0)
        failed = pthread_cond_timedwait(&renewal->changed, &renewal->lock, &until);
    ending = renewal->ending;
    pthread_mutex_unlock(&renewal->lock);
    return !ending;
}

/* If the credential cannot be renewed, requests still carry the old one. If the server refuses it,
 * the cell's figures show the failures. */
static void *run(void *context)
{
    struct credential_renewal *renewal = context;
    struct load *load = renewal->load;
    bool failed = false;

    while (sleep_interval(renewal)) {
        struct error error;
        bool done = endpoint_renew(&renewal->endpoint, &error);

        if (!done && !failed)
            log_warning("the credential for the measured model server could not be renewed: %s",
                        error.message);
        failed = !done;
        if (done && strcmp(atomic_load(&load->credential)->bearer, renewal->endpoint.bearer) != 0)
            load_credential_set(load, renewal->endpoint.bearer);
    }
    return NULL;
}

static void destroy(struct credential_renewal *renewal)
{
    pthread_cond_destroy(&renewal->changed);
    pthread_mutex_destroy(&renewal->lock);
    explicit_bzero(renewal, sizeof *renewal);
    free(renewal);
}

bool credential_renewal_begin(struct load *load, struct credential_renewal **out,
                              struct error *error)
{
    struct credential_renewal *renewal;

    *out = NULL;
    if (load->endpoint->lock == NULL)
        return true;
    renewal = memory_zeroed(1, sizeof *renewal);
    renewal->load = load;
    renewal->endpoint = *load->endpoint;
    pthread_mutex_init(&renewal->lock, NULL);
    thread_condition_init(&renewal->changed);
    if (!thread_start("credential", run, renewal, &renewal->thread, error)) {
        destroy(renewal);
        return false;
    }
    *out = renewal;
    return true;
}

void credential_renewal_end(struct credential_renewal *renewal)
{
    if (renewal == NULL)
        return;
    pthread_mutex_lock(&renewal->lock);
    renewal->ending = true;
    pthread_cond_signal(&renewal->changed);
    pthread_mutex_unlock(&renewal->lock);
    pthread_join(renewal->thread, NULL);
    destroy(renewal);
}
