/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/shard.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "bench/load/shard_private.h"

/* A user has settled when its second request has ended, because the first one was still affected by
 * the start of the load. */
#define SETTLED_ROUNDS 2
#define LONGEST_WAIT_NS 100000000 /* the phase is checked at least this often */

static void note_ended(struct shard *shard, struct virtual_user *user)
{
    timer_heap_unset(&shard->deadlines, &user->deadline);
    user->is_busy = false;
    shard->busy--;
    atomic_store_explicit(&shard->published.in_flight, (int64_t)shard->busy, memory_order_relaxed);
}

static int64_t publish_add(atomic_int_fast64_t *counter, int64_t value)
{
    return atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/* ---- The end of a request -------------------------------------------------------------------- */

static void publish(struct shard *shard, const struct virtual_user *user)
{
    const struct request *request = &user->request;
    struct published *published = &shard->published;

    if (request->failure == FAILURE_NONE) {
        publish_add(&published->tokens, tally_output_tokens(request));
        publish_add(&published->token_chunks, request->chunks);
    }
    if (request->is_probe) {
        atomic_store(&published->probe_failure, request->failure);
        if (request->failure == FAILURE_NONE)
            atomic_store(&published->probe_e2e_ns, request->end_ns - request->sent_ns);
        atomic_fetch_add(&published->probes_ended, 1);
        load_notify(shard->load);
        return;
    }
    if (user->rounds == SETTLED_ROUNDS)
        publish_add(&published->users_settled, 1);
    if (tally_counts(shard->load, request))
        publish_add(&published->window_ended, 1);
    if (request->failure == FAILURE_NONE) {
        publish_add(&published->succeeded, 1);
        publish_add(&published->e2e_us, (request->end_ns - request->sent_ns) / 1000);
        publish_add(&published->ttft_us,
                    (request->first_ns - tally_origin_ns(&shard->tally, request)) / 1000);
    } else {
        publish_add(&published->failed, 1);
    }
}

/* Records how long after its due time the request was sent. If it needed a new connection, only the
 * time before connecting counts as our delay. */
static void note_start_lag(struct shard *shard, const struct virtual_user *user)
{
    const struct request *request = &user->request;
    int64_t at_ns = user->transfer->is_new ? request->begun_ns : request->sent_ns;

    if (!request->waited && at_ns > request->due_ns && load_in_window(shard->load, at_ns))
        histogram_record(shard->tally.start_lag, (uint64_t)(at_ns - request->due_ns));
}

/* Ends a request, unless it must be sent again. `cut`: why we cut it off; NONE: it ended by itself,
 * or only the end of the body was missing. */
static void end_request(struct shard *shard, struct virtual_user *user, enum failure cut)
{
    transfer_end(user->transfer);
    note_ended(shard, user);
    if (cut == FAILURE_NONE && virtual_user_retry(user)) {
        shard_note_begun(shard, user);
        shard_watch(shard, user, clock_monotonic_ns());
        return;
    }
    virtual_user_end(user, cut);
    if (!user->request.is_probe)
        load_request_ended(shard->load, user->request.end_ns);
    user->failures = user->request.failure == FAILURE_NONE ? 0 : user->failures + 1;
    if (!user->request.is_probe)
        user->rounds++;
    note_start_lag(shard, user);
    publish(shard, user);
    shard_continue(shard, user);
}

static void handle_ended(struct shard *shard)
{
    struct transfer *transfer;

    while ((transfer = transfer_take_ended(&shard->loop)) != NULL)
        end_request(shard, transfer->context, FAILURE_NONE);
}

static struct virtual_user *user_of(struct timer *deadline)
{
    return (struct virtual_user *)(void *)((char *)deadline
                                           - offsetof(struct virtual_user, deadline));
}

/* Handles the timers that are due. If a user was waiting before its next request, this wait is
 * over. If a user's request is in flight, it might have reached a timeout; if it has not, sets the
 * timer again. */
static void handle_deadlines(struct shard *shard)
{
    int64_t now_ns = clock_monotonic_ns();
    struct timer *deadline;

    while ((deadline = timer_heap_pop(&shard->deadlines, now_ns)) != NULL) {
        struct virtual_user *user = user_of(deadline);
        enum failure which;

        if (!user->is_busy) {
            shard_end_pause(shard, user, deadline->at_ns);
        } else if (virtual_user_deadline_ns(user, &which) <= now_ns) {
            user->request.left_open = which == FAILURE_NONE;
            end_request(shard, user, which);
        } else {
            shard_watch(shard, user, now_ns);
        }
    }
}

static void abort_all(struct shard *shard)
{
    for (size_t i = 0; i < shard->user_count; i++)
        if (shard->users[i].is_busy)
            end_request(shard, &shard->users[i], FAILURE_CANCELLED);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void note_late(void *context, int64_t late_ns)
{
    struct shard *shard = context;

    if (load_in_window(shard->load, clock_monotonic_ns()))
        histogram_record(shard->tally.wake, (uint64_t)late_ns);
}

static int64_t next_turn_ns(const struct shard *shard)
{
    int64_t next_ns = clock_monotonic_ns() + LONGEST_WAIT_NS;
    int64_t deadline_ns = timer_heap_next_ns(&shard->deadlines),
            start_ns = shard_next_start_ns(shard);

    next_ns = deadline_ns < next_ns ? deadline_ns : next_ns;
    return start_ns < next_ns ? start_ns : next_ns;
}

/* Whether the thread must end. In PHASE_ABORT, first cuts off the requests in flight. */
static bool is_over(struct shard *shard)
{
    enum phase phase = shard_phase(shard);

    if (phase == PHASE_ABORT)
        abort_all(shard);
    return phase == PHASE_ABORT || (phase == PHASE_DRAIN && shard->busy == 0);
}

static void *run(void *context)
{
    struct shard *shard = context;

    atomic_store(&shard->thread_id, gettid());
    prctl(PR_SET_TIMERSLACK, 1L); /* so that waits end on time */
    while (!is_over(shard)) {
        shard_start_some(shard);
        load_loop_turn(&shard->loop, next_turn_ns(shard));
        handle_ended(shard);
        handle_deadlines(shard);
    }
    shard_count_unsent(shard);
    tally_close(&shard->tally, clock_monotonic_ns());
    atomic_store(&shard->published.done, true);
    load_notify(shard->load);
    return NULL;
}

/* ---- Exported functions ---------------------------------------------------------------------- */

/* Creates all users of a closed loop, or the first one of an open loop. */
static CHECKED bool create_users(struct shard *shard, struct error *error)
{
    size_t users = shard_is_open(shard) ? 1 : shard->part.users;

    shard->users = memory_zeroed(shard->part.users, sizeof *shard->users);
    for (; shard->user_count < users; shard->user_count++)
        if (!virtual_user_init(&shard->users[shard->user_count], shard->load, &shard->tally,
                               &shard->loop, &shard->deadlines, error))
            return false;
    if (shard_is_open(shard))
        STAILQ_INSERT_HEAD(&shard->idle, &shard->users[0], link);
    return true;
}

bool shard_create(struct load *load, struct shard_part part, struct shard **out,
                  struct error *error)
{
    struct shard *shard = memory_zeroed(1, sizeof *shard);

    shard->load = load;
    shard->part = part;
    STAILQ_INIT(&shard->due);
    STAILQ_INIT(&shard->idle);
    generator_init(&shard->generator, random_mix(load->nonce, part.index));
    tally_init(&shard->tally, load);
    if (!load_loop_init(&shard->loop, (long)part.users, note_late, shard, error)
        || !create_users(shard, error)) {
        shard_destroy(shard);
        return false;
    }
    if (load->http2_streams > 0)
        load_loop_share_connections(&shard->loop, load->http2_streams);
    shard->has_thread = thread_start("load", run, shard, &shard->thread, error);
    if (!shard->has_thread) {
        shard_destroy(shard);
        return false;
    }
    *out = shard;
    return true;
}

void shard_wake(struct shard *shard)
{
    load_loop_wake(&shard->loop);
}

static int64_t read_counter(atomic_int_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void shard_read(struct shard *shard, struct shard_status *out)
{
    struct published *published = &shard->published;

    *out = (struct shard_status){
        .succeeded = read_counter(&published->succeeded),
        .failed = read_counter(&published->failed),
        .chunks = read_counter(&shard->tally.arrived),
        .window_ended = read_counter(&published->window_ended),
        .users_settled = read_counter(&published->users_settled),
        .e2e_ns = (double)read_counter(&published->e2e_us) * 1e3,
        .ttft_ns = (double)read_counter(&published->ttft_us) * 1e3,
        .tokens = read_counter(&published->tokens),
        .token_chunks = read_counter(&published->token_chunks),
        .in_flight = read_counter(&published->in_flight),
        .probes_ended = atomic_load(&published->probes_ended),
        .probe_failure = (enum failure)atomic_load(&published->probe_failure),
        .probe_e2e_ns = (double)atomic_load(&published->probe_e2e_ns),
    };
}

int64_t shard_cpu_ns(struct shard *shard)
{
    struct timespec used = { 0 };
    clockid_t clock;

    if (pthread_getcpuclockid(shard->thread, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

int64_t shard_cpu_wait_ns(struct shard *shard)
{
    long long ran_ns = 0, waited_ns = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", atomic_load(&shard->thread_id));
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lld %lld", &ran_ns, &waited_ns) != 2)
        waited_ns = 0;
    fclose(file);
    return waited_ns;
}

bool shard_is_done(struct shard *shard)
{
    return atomic_load(&shard->published.done);
}

const struct tally *shard_join(struct shard *shard)
{
    if (shard->has_thread)
        pthread_join(shard->thread, NULL);
    shard->has_thread = false;
    return &shard->tally;
}

void shard_destroy(struct shard *shard)
{
    if (shard == NULL)
        return;
    if (shard->has_thread) {
        atomic_store(&shard->load->phase, PHASE_ABORT);
        shard_wake(shard);
        shard_join(shard);
    }
    for (size_t i = 0; i < shard->user_count; i++)
        virtual_user_finish(&shard->users[i]);
    load_loop_finish(&shard->loop);
    free(shard->users);
    timer_heap_finish(&shard->deadlines);
    tally_finish(&shard->tally);
    free(shard);
}
