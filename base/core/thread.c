/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

bool thread_start(const char *name, void *(*run)(void *context), void *context, pthread_t *out,
                  struct error *error)
{
    sigset_t all, before;
    int error_number;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a thread inherits the mask of its creator */
    error_number = pthread_create(out, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error_number != 0)
        return error_set(error, error_number == EAGAIN ? ERROR_BUSY : ERROR_INTERNAL,
                         "the thread %s cannot start: %s", name, strerror(error_number));
    pthread_setname_np(*out, name);
    return true;
}

void thread_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}
