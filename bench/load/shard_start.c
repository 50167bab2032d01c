/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when requests are sent: in a closed loop when a user is free for its next request, in an
 * open loop when the schedule says. */
#include <math.h>

#include "base/core/clock.h"
#include "bench/load/shard_private.h"

/* One turn of the event loop starts at most this many requests, so that the reading of answers is
 * not delayed. */
#define STARTS_PER_TURN 16
/* So that a failing server is not flooded, a user in a closed loop pauses after a failed request.
 * The pause doubles with each further failure in a row, up to LONGEST_PAUSE_NS. */
#define SHORTEST_PAUSE_NS 100000000
#define LONGEST_PAUSE_NS 1000000000

static void make_due(struct shard *shard, struct virtual_user *user, int64_t at_ns)
{
    user->request.due_ns = at_ns;
    STAILQ_INSERT_TAIL(&shard->due, user, link);
}

void shard_note_begun(struct shard *shard, struct virtual_user *user)
{
    user->is_busy = true;
    shard->busy++;
    atomic_store_explicit(&shard->published.in_flight, (int64_t)shard->busy, memory_order_relaxed);
}

static int64_t shortest_timeout_ns(const struct load *load)
{
    int64_t shortest = load->ttft_timeout_ns;

    shortest = load->idle_timeout_ns < shortest ? load->idle_timeout_ns : shortest;
    return load->request_timeout_ns < shortest ? load->request_timeout_ns : shortest;
}

/* Once the request has made progress, a different timeout may come first. The timer is therefore
 * never set further ahead than the shortest timeout. */
void shard_watch(struct shard *shard, struct virtual_user *user, int64_t now_ns)
{
    enum failure which;
    int64_t at_ns = virtual_user_deadline_ns(user, &which);
    int64_t latest_ns = now_ns + shortest_timeout_ns(shard->load);

    timer_heap_set(&shard->deadlines, &user->deadline, at_ns < latest_ns ? at_ns : latest_ns);
}

static void start_one(struct shard *shard, struct virtual_user *user, bool is_probe)
{
    uint64_t index = atomic_fetch_add(&shard->load->requests, 1);
    int64_t now_ns = clock_monotonic_ns();

    virtual_user_begin(user, index, is_probe, user->request.due_ns);
    user->request.begun_ns = now_ns;
    user->request.waited = user->request.due_ns <= shard->full_ns;
    shard_note_begun(shard, user);
    shard_watch(shard, user, clock_monotonic_ns());
}

/* Only the first thread sends probes, so that each is a single request. */
static void start_probe(struct shard *shard)
{
    struct virtual_user *user =
        shard_is_open(shard) ? STAILQ_FIRST(&shard->idle) : &shard->users[0];

    if (shard->part.index > 0 || shard->busy > 0
        || shard->probes_begun >= atomic_load(&shard->load->probes))
        return;
    if (shard_is_open(shard))
        STAILQ_REMOVE_HEAD(&shard->idle, link);
    shard->probes_begun++;
    user->request.due_ns = clock_monotonic_ns();
    start_one(shard, user, true);
}

/* Users start one after the other, spread over the stagger time. */
static void begin_loading(struct shard *shard)
{
    int64_t now_ns = clock_monotonic_ns(), stagger_ns = atomic_load(&shard->load->stagger_ns);
    int64_t count = (int64_t)shard->user_count;

    shard->loading = true;
    for (int64_t i = 0; i < count; i++)
        if (!shard->users[i].is_busy)
            timer_heap_set(&shard->deadlines, &shard->users[i].deadline,
                           now_ns + stagger_ns / count * i);
}

static void start_due(struct shard *shard)
{
    struct virtual_user *user;

    if (!shard->loading)
        begin_loading(shard);
    for (int i = 0; i < STARTS_PER_TURN && (user = STAILQ_FIRST(&shard->due)) != NULL; i++) {
        STAILQ_REMOVE_HEAD(&shard->due, link);
        start_one(shard, user, false);
    }
}

/* ---- Arrivals of an open loop ---------------------------------------------------------------- */

static int64_t arrival_ns(const struct shard *shard)
{
    return shard->arrivals_ns + arrivals_share_due_ns(&shard->arrivals_share);
}

static void begin_arrivals(struct shard *shard)
{
    shard->loading = true;
    shard->arrivals_ns = atomic_load(&shard->load->arrivals_ns);
    arrivals_share_begin(&shard->arrivals_share, shard->load->arrivals, shard->part.index,
                         shard->part.count);
}

/* Adds an idle user; false if that is not possible. Users are added only when they are needed,
 * because their limit is seldom reached. */
static bool add_user(struct shard *shard)
{
    struct virtual_user *user = &shard->users[shard->user_count];
    struct error error;

    if (shard->user_count == shard->part.users
        || !virtual_user_init(user, shard->load, &shard->tally, &shard->loop, &shard->deadlines,
                              &error))
        return false;
    shard->user_count++;
    STAILQ_INSERT_HEAD(&shard->idle, user, link);
    return true;
}

/* Sends the requests that are due, in order. If no user is free, the requests wait, and the wait is
 * part of their latencies. */
static void start_arrivals(struct shard *shard)
{
    if (!shard->loading)
        begin_arrivals(shard);
    for (int i = 0; i < STARTS_PER_TURN; i++) {
        int64_t now_ns = clock_monotonic_ns();
        struct virtual_user *user;

        if (arrival_ns(shard) > now_ns)
            return;
        if (STAILQ_EMPTY(&shard->idle) && !add_user(shard)) {
            shard->full_ns = now_ns;
            return;
        }
        user = STAILQ_FIRST(&shard->idle);
        STAILQ_REMOVE_HEAD(&shard->idle, link);
        user->request.due_ns = arrival_ns(shard);
        arrivals_share_step(&shard->arrivals_share);
        start_one(shard, user, false);
    }
}

void shard_count_unsent(struct shard *shard)
{
    int64_t now_ns = clock_monotonic_ns(), end_ns = atomic_load(&shard->load->window_end_ns);

    if (!shard->loading || !shard_is_open(shard) || end_ns == INT64_MAX)
        return;
    for (; arrival_ns(shard) < end_ns; arrivals_share_step(&shard->arrivals_share))
        tally_unsent(&shard->tally, arrival_ns(shard), now_ns, arrival_ns(shard) <= shard->full_ns);
}

int64_t shard_next_start_ns(const struct shard *shard)
{
    bool has_room = !STAILQ_EMPTY(&shard->idle) || shard->user_count < shard->part.users;

    if (shard_phase(shard) != PHASE_LOAD)
        return TIMER_NEVER;
    if (!shard_is_open(shard))
        return STAILQ_EMPTY(&shard->due) ? TIMER_NEVER : 0;
    if (!shard->loading)
        return 0;
    return has_room ? arrival_ns(shard) : TIMER_NEVER;
}

void shard_start_some(struct shard *shard)
{
    if (shard_phase(shard) == PHASE_PROBE)
        start_probe(shard);
    else if (shard_phase(shard) == PHASE_LOAD && shard_is_open(shard))
        start_arrivals(shard);
    else if (shard_phase(shard) == PHASE_LOAD)
        start_due(shard);
}

/* ---- After an answer ------------------------------------------------------------------------- */

/* Draws a think time; if it is exponentially distributed, by inversion. */
static int64_t think_ns(struct shard *shard)
{
    double factor =
        shard->load->thinks_exponential ? -log1p(-generator_uniform(&shard->generator)) : 1;

    return (int64_t)(factor * (double)shard->load->think_ns);
}

static int64_t pause_ns(const struct virtual_user *user)
{
    int64_t pause_ns = SHORTEST_PAUSE_NS;

    for (unsigned i = 1; i < user->failures && pause_ns < LONGEST_PAUSE_NS; i++)
        pause_ns *= 2;
    return pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
}

/* In the load phase of a closed loop, a user whose request failed pauses, and one whose request
 * succeeded thinks; then the user sends its next request. In an open loop the user is immediately
 * free for the next arrival. */
void shard_continue(struct shard *shard, struct virtual_user *user)
{
    int64_t now_ns = clock_monotonic_ns(), wait_ns;

    if (shard_is_open(shard)) {
        STAILQ_INSERT_HEAD(&shard->idle, user, link);
        return;
    }
    if (!shard->loading || shard_phase(shard) != PHASE_LOAD)
        return;
    wait_ns = user->failures > 0 ? pause_ns(user) : think_ns(shard);
    if (wait_ns == 0) {
        make_due(shard, user, now_ns);
        return;
    }
    timer_heap_set(&shard->deadlines, &user->deadline, now_ns + wait_ns);
    user->thinks = user->failures == 0;
    tally_think(&shard->tally, now_ns, user->thinks);
}

void shard_end_pause(struct shard *shard, struct virtual_user *user, int64_t at_ns)
{
    tally_think(&shard->tally, clock_monotonic_ns(), -user->thinks);
    user->thinks = false;
    make_due(shard, user, at_ns);
}
