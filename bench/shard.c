#include "bench/shard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/connection.h"

#define SETTLED_ROUNDS 2            /* the first one still felt how the load began */
#define STARTS_PER_TURN 16          /* so that many starts do not keep answers waiting */
#define LONGEST_WAIT_NS 100000000   /* the phase is looked at so often at least */
#define SHORTEST_PAUSE_NS 100000000 /* after a failed request, doubled for each further one, */
#define LONGEST_PAUSE_NS 1000000000 /* so that a failing server is not stormed */

STAILQ_HEAD(connection_queue, connection);

struct published {
    atomic_int_fast64_t succeeded, failed, window_ended, users_settled, e2e_us, in_flight,
        probe_failure, probe_e2e_ns, probes_ended;
    atomic_bool done;
};

struct shard {
    struct load *load;
    struct tally tally;
    struct loop loop;
    struct published published;
    pthread_t thread;
    bool has_thread;

    struct connection *users;
    size_t user_count, busy;
    struct connection_queue due; /* wait for their turn to send */
    struct deadlines deadlines;
    int64_t probes_begun;
    bool loading; /* the load phase has begun here */
};

static int64_t publish_add(atomic_int_fast64_t *counter, int64_t value)
{
    return atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static enum phase phase_now(const struct shard *shard)
{
    return atomic_load_explicit(&shard->load->phase, memory_order_acquire);
}

/* ---- Users ----------------------------------------------------------------------------------- */

static void make_due(struct shard *shard, struct connection *user, int64_t now_ns)
{
    user->request.due_ns = now_ns;
    STAILQ_INSERT_TAIL(&shard->due, user, link);
}

static void note_begun(struct shard *shard, struct connection *user)
{
    user->is_busy = true;
    shard->busy++;
    atomic_store_explicit(&shard->published.in_flight, (int64_t)shard->busy, memory_order_relaxed);
}

static void note_ended(struct shard *shard, struct connection *user)
{
    deadlines_unset(&shard->deadlines, &user->deadline);
    user->is_busy = false;
    shard->busy--;
    atomic_store_explicit(&shard->published.in_flight, (int64_t)shard->busy, memory_order_relaxed);
}

/* The first timeout that can happen; where it does not, the next one is set then. */
static void watch(struct shard *shard, struct connection *user, int64_t now_ns)
{
    enum failure which;
    int64_t at_ns = connection_deadline_ns(user, &which);

    if (user->request.sent_ns == 0 && at_ns > now_ns + shard->load->ttft_timeout_ns)
        at_ns = now_ns + shard->load->ttft_timeout_ns; /* of which it is not known yet */
    deadlines_set(&shard->deadlines, &user->deadline, at_ns);
}

static void start_one(struct shard *shard, struct connection *user, bool is_probe)
{
    uint64_t index = atomic_fetch_add(&shard->load->requests, 1);

    connection_begin(user, index, is_probe, user->request.due_ns);
    note_begun(shard, user);
    watch(shard, user, clock_monotonic_ns());
}

static void start_probe(struct shard *shard)
{
    struct connection *user = &shard->users[0];

    if (user->is_busy || shard->probes_begun >= atomic_load(&shard->load->probes))
        return;
    shard->probes_begun++;
    user->request.due_ns = clock_monotonic_ns();
    start_one(shard, user, true);
}

/* One user after the other, spread over the stagger. */
static void begin_loading(struct shard *shard)
{
    int64_t now_ns = clock_monotonic_ns(), stagger_ns = atomic_load(&shard->load->stagger_ns);
    int64_t count = (int64_t)shard->user_count;

    if (shard->loading)
        return;
    shard->loading = true;
    for (int64_t i = 0; i < count; i++)
        if (!shard->users[i].is_busy)
            deadlines_set(&shard->deadlines, &shard->users[i].deadline,
                          now_ns + stagger_ns / count * i);
}

static void start_due(struct shard *shard)
{
    struct connection *user;

    begin_loading(shard);
    for (int i = 0; i < STARTS_PER_TURN && (user = STAILQ_FIRST(&shard->due)) != NULL; i++) {
        STAILQ_REMOVE_HEAD(&shard->due, link);
        start_one(shard, user, false);
    }
}

static void start_some(struct shard *shard)
{
    if (phase_now(shard) == PHASE_PROBE)
        start_probe(shard);
    else if (phase_now(shard) == PHASE_LOAD)
        start_due(shard);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void publish(struct shard *shard, const struct connection *user)
{
    const struct request *request = &user->request;
    struct published *published = &shard->published;

    if (request->is_probe) {
        atomic_store(&published->probe_failure, request->failure);
        if (request->failure == FAILURE_NONE)
            atomic_store(&published->probe_e2e_ns, request->end_ns - request->sent_ns);
        atomic_fetch_add(&published->probes_ended, 1);
        return;
    }
    if (user->rounds == SETTLED_ROUNDS)
        publish_add(&published->users_settled, 1);
    if (load_in_window(shard->load, request->end_ns))
        publish_add(&published->window_ended, 1);
    if (request->failure == FAILURE_NONE) {
        publish_add(&published->succeeded, 1);
        publish_add(&published->e2e_us, (request->end_ns - request->sent_ns) / 1000);
    } else {
        publish_add(&published->failed, 1);
    }
}

static void note_start_lag(struct shard *shard, const struct connection *user)
{
    const struct request *request = &user->request;

    if (!user->transfer->is_new && request->sent_ns > request->due_ns
        && load_in_window(shard->load, request->sent_ns))
        histogram_record(shard->tally.start_lag, (uint64_t)(request->sent_ns - request->due_ns));
}

/* A user whose request failed waits a little; one whose request went well sends the next. */
static void go_on(struct shard *shard, struct connection *user)
{
    int64_t now_ns = clock_monotonic_ns(), pause_ns = SHORTEST_PAUSE_NS;

    if (!shard->loading || phase_now(shard) != PHASE_LOAD)
        return;
    if (user->failures == 0) {
        make_due(shard, user, now_ns);
        return;
    }
    for (unsigned i = 1; i < user->failures && pause_ns < LONGEST_PAUSE_NS; i++)
        pause_ns *= 2;
    deadlines_set(&shard->deadlines, &user->deadline,
                  now_ns + (pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS));
}

/* `cut`: why we end it, or NONE where it ended by itself. */
static void end_request(struct shard *shard, struct connection *user, enum failure cut)
{
    transfer_end(user->transfer);
    note_ended(shard, user);
    if (cut == FAILURE_NONE && connection_retry(user)) {
        note_begun(shard, user);
        watch(shard, user, clock_monotonic_ns());
        return;
    }
    connection_end(user, cut);
    if (!user->request.is_probe)
        load_request_ended(shard->load, user->request.end_ns);
    user->failures = user->request.failure == FAILURE_NONE ? 0 : user->failures + 1;
    if (!user->request.is_probe)
        user->rounds++;
    note_start_lag(shard, user);
    publish(shard, user);
    go_on(shard, user);
}

static void take_ended(struct shard *shard)
{
    struct transfer *transfer;

    while ((transfer = transfer_take_ended(&shard->loop)) != NULL)
        end_request(shard, transfer->context, FAILURE_NONE);
}

static struct connection *user_of(struct deadline *deadline)
{
    return (struct connection *)(void *)((char *)deadline - offsetof(struct connection, deadline));
}

/* A pause is over, or a timeout may have come: progress since it was set moves it on. */
static void take_deadlines(struct shard *shard)
{
    int64_t now_ns = clock_monotonic_ns();
    struct deadline *deadline;

    while ((deadline = deadlines_take(&shard->deadlines, now_ns)) != NULL) {
        struct connection *user = user_of(deadline);
        enum failure which;

        if (!user->is_busy)
            make_due(shard, user, now_ns);
        else if (connection_deadline_ns(user, &which) <= now_ns)
            end_request(shard, user, which);
        else
            watch(shard, user, now_ns);
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

/* At once where users wait to send. */
static int64_t next_turn_ns(const struct shard *shard)
{
    int64_t now_ns = clock_monotonic_ns(), next_ns = deadlines_next_ns(&shard->deadlines);

    if (!STAILQ_EMPTY(&shard->due) && phase_now(shard) == PHASE_LOAD)
        return now_ns;
    return next_ns < now_ns + LONGEST_WAIT_NS ? next_ns : now_ns + LONGEST_WAIT_NS;
}

static bool is_over(struct shard *shard)
{
    enum phase phase = phase_now(shard);

    if (phase == PHASE_ABORT)
        abort_all(shard);
    return phase == PHASE_ABORT || (phase == PHASE_DRAIN && shard->busy == 0);
}

static void *run(void *context)
{
    struct shard *shard = context;

    prctl(PR_SET_TIMERSLACK, 1L); /* waits end when they are to */
    while (!is_over(shard)) {
        start_some(shard);
        loop_turn(&shard->loop, next_turn_ns(shard));
        take_ended(shard);
        take_deadlines(shard);
    }
    tally_close(&shard->tally, clock_monotonic_ns());
    atomic_store(&shard->published.done, true);
    return NULL;
}

/* ---- From outside ---------------------------------------------------------------------------- */

static bool open_users(struct shard *shard, size_t users, struct error *error)
{
    shard->users = memory_zeroed(users, sizeof *shard->users);
    for (; shard->user_count < users; shard->user_count++)
        if (!connection_init(&shard->users[shard->user_count], shard->load, &shard->tally,
                             &shard->loop, error))
            return false;
    return true;
}

bool shard_create(struct load *load, size_t users, struct shard **out, struct error *error)
{
    struct shard *shard = memory_zeroed(1, sizeof *shard);
    int failed;

    shard->load = load;
    STAILQ_INIT(&shard->due);
    tally_init(&shard->tally, load);
    if (!loop_init(&shard->loop, (long)users, note_late, shard, error)
        || !open_users(shard, users, error)) {
        shard_destroy(shard);
        return false;
    }
    failed = pthread_create(&shard->thread, NULL, run, shard);
    if (failed != 0) {
        shard_destroy(shard);
        return error_set(error, ERROR_BUSY, "the load generator cannot start a thread: %s",
                         strerror(failed));
    }
    pthread_setname_np(shard->thread, "load");
    shard->has_thread = true;
    *out = shard;
    return true;
}

void shard_wake(struct shard *shard)
{
    loop_wake(&shard->loop);
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
        connection_finish(&shard->users[i]);
    loop_finish(&shard->loop);
    free(shard->users);
    deadlines_finish(&shard->deadlines);
    tally_finish(&shard->tally);
    free(shard);
}
