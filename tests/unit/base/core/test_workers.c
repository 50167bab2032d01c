/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/core/workers.h"

/* A gate at which calls wait until it is opened. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int entered, ran; /* how many calls arrived, and how many passed */
    bool open;
};

#define GATE                                                                                       \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                     \
    }

static void wait_at_gate(void *context)
{
    struct gate *gate = context;

    pthread_mutex_lock(&gate->lock);
    gate->entered++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    gate->ran++;
    pthread_mutex_unlock(&gate->lock);
}

static void wait_for_entered(struct gate *gate, int count)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->entered < count)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static struct workers *make_workers(unsigned threads, size_t limit)
{
    struct workers *workers = NULL;
    struct error error;

    assert_true(workers_create("test-worker", threads, limit, 0, &workers, &error));
    return workers;
}

static void count_one(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

static void runs_all_that_was_submitted(void **state)
{
    struct workers *workers = make_workers(4, 1000);
    struct error error;
    atomic_int count = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        while (!workers_submit(workers, count_one, &count, &error))
            continue;
    workers_destroy(workers);
    assert_int_equal(count, 1000);
}

static void runs_on_as_many_threads_as_requested(void **state)
{
    struct workers *workers = make_workers(3, 8);
    struct gate gate = GATE;
    struct error error;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(workers_submit(workers, wait_at_gate, &gate, &error));
    wait_for_entered(&gate, 3); /* with fewer threads, this would wait forever */
    open_gate(&gate);
    workers_destroy(workers);
    assert_int_equal(gate.ran, 3);
}

static void a_call_is_refused_as_busy_if_the_queue_is_full(void **state)
{
    struct workers *workers = make_workers(1, 2);
    struct gate gate = GATE;
    struct error error = { 0 };

    (void)state;
    assert_true(workers_submit(workers, wait_at_gate, &gate, &error));
    wait_for_entered(&gate, 1);
    assert_true(workers_submit(workers, wait_at_gate, &gate, &error));
    assert_true(workers_submit(workers, wait_at_gate, &gate, &error));
    assert_int_equal(workers_queued(workers), 2);
    assert_false(workers_submit(workers, wait_at_gate, &gate, &error));
    assert_int_equal(error.kind, ERROR_BUSY);
    assert_string_equal(
        error.message,
        "busy: the queue \"test-worker\" is full (calls waiting: 2); try again later");
    open_gate(&gate);
    workers_destroy(workers);
    assert_int_equal(gate.ran, 3);
}

/* Which threads ran a call, and how many calls ran. */
struct thread_log {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t seen[64];
    size_t distinct;
    int ran;
};

static void note_thread(void *context)
{
    struct thread_log *thread_log = context;
    size_t i = 0;

    pthread_mutex_lock(&thread_log->lock);
    while (i < thread_log->distinct && !pthread_equal(thread_log->seen[i], pthread_self()))
        i++;
    thread_log->seen[i] = pthread_self();
    thread_log->distinct += i == thread_log->distinct;
    thread_log->ran++;
    pthread_cond_broadcast(&thread_log->changed);
    pthread_mutex_unlock(&thread_log->lock);
}

static void a_low_load_stays_on_few_threads(void **state)
{
    struct workers *workers = make_workers(64, 8);
    struct thread_log thread_log = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                     .changed = PTHREAD_COND_INITIALIZER };
    struct error error;

    (void)state;
    for (int i = 0; i < 500; i++) {
        assert_true(workers_submit(workers, note_thread, &thread_log, &error));
        pthread_mutex_lock(&thread_log.lock);
        while (thread_log.ran <= i)
            pthread_cond_wait(&thread_log.changed, &thread_log.lock);
        pthread_mutex_unlock(&thread_log.lock);
    }
    workers_destroy(workers);
    assert_in_range(thread_log.distinct, 1, 32); /* if threads took turns, it would be all 64 */
}

static void note_name(void *context)
{
    pthread_getname_np(pthread_self(), context, 16);
}

static void thread_names_are_the_first_11_characters_of_the_pool_name(void **state)
{
    struct workers *workers;
    struct error error;
    char name[16] = "";

    (void)state;
    assert_true(workers_create("a-name-too-long", 1, 1, 0, &workers, &error));
    assert_true(workers_submit(workers, note_name, name, &error));
    workers_destroy(workers);
    assert_string_equal(name, "a-name-too-");
}

static void note_signals(void *context)
{
    pthread_sigmask(SIG_SETMASK, NULL, context);
}

static void leaves_signals_to_the_main_thread(void **state)
{
    struct workers *workers = make_workers(1, 1);
    struct error error;
    sigset_t blocked, own;

    (void)state;
    assert_true(workers_submit(workers, note_signals, &blocked, &error));
    workers_destroy(workers);
    assert_true(sigismember(&blocked, SIGTERM));
    assert_true(sigismember(&blocked, SIGINT));
    assert_true(sigismember(&blocked, SIGPIPE));
    pthread_sigmask(SIG_SETMASK, NULL, &own);
    assert_false(sigismember(&own, SIGTERM));
}

static void destroying_null_or_an_unused_pool_is_allowed(void **state)
{
    (void)state;
    workers_destroy(NULL);
    workers_destroy(make_workers(2, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_all_that_was_submitted),
        cmocka_unit_test(runs_on_as_many_threads_as_requested),
        cmocka_unit_test(a_call_is_refused_as_busy_if_the_queue_is_full),
        cmocka_unit_test(a_low_load_stays_on_few_threads),
        cmocka_unit_test(thread_names_are_the_first_11_characters_of_the_pool_name),
        cmocka_unit_test(leaves_signals_to_the_main_thread),
        cmocka_unit_test(destroying_null_or_an_unused_pool_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
