#include "bench/cell_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/steady.h"

#define USERS_PER_SHARD 2048
#define TICK_NS 50000000
#define PROBES_LIMIT 3
#define PROBE_PAUSE_TICKS 10
#define FEWEST_FAILURES 20 /* so many, and no success: it will not get better */
#define FAILING_S 2.0
#define FEWEST_REQUESTS 3  /* in a window, else it is extended: so many, or a request per user, */
#define ENOUGH_REQUESTS 64 /* or so many, */
#define LONGEST_WINDOW 4.0 /* times window_s */
#define DRAIN_LIMIT_S 10.0

static int64_t ns(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

static double seconds_since(int64_t from_ns)
{
    return (double)(clock_monotonic_ns() - from_ns) / 1e9;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void set_phase(struct cell *cell, enum phase phase)
{
    atomic_store(&cell->load.phase, phase);
    for (size_t i = 0; i < cell->shard_count; i++)
        shard_wake(cell->shards[i]);
}

/* Sleeps a tick; false where the caller wants it stopped. */
static bool tick(struct cell *cell, const char *doing, struct error *error)
{
    const struct timespec pause = { .tv_nsec = TICK_NS };

    nanosleep(&pause, NULL);
    if (!cell->order->stopped(cell->order->context, doing, seconds_since(cell->begun_ns)))
        return true;
    return error_set(error, ERROR_CANCELLED, "stopped while %s", doing);
}

static void read_status(struct cell *cell, struct shard_status *out)
{
    *out = (struct shard_status){ 0 };
    for (size_t i = 0; i < cell->shard_count; i++) {
        struct shard_status one;

        shard_read(cell->shards[i], &one);
        out->succeeded += one.succeeded;
        out->failed += one.failed;
        out->chunks += one.chunks;
        out->window_ended += one.window_ended;
        out->users_settled += one.users_settled;
        out->e2e_ns += one.e2e_ns;
        out->in_flight += one.in_flight;
        out->probes_ended += one.probes_ended;
    }
}

static size_t count_shards(const struct cell_order *order)
{
    int64_t wanted = (order->concurrency + USERS_PER_SHARD - 1) / USERS_PER_SHARD;
    int64_t most = order->shards < 1              ? 1
                   : order->shards > SHARDS_LIMIT ? SHARDS_LIMIT
                                                  : order->shards;

    return (size_t)(wanted < most ? wanted : most);
}

static bool start_shards(struct cell *cell, struct error *error)
{
    size_t wanted = count_shards(cell->order), left = (size_t)cell->order->concurrency;

    for (; cell->shard_count < wanted; cell->shard_count++) {
        size_t users = left / (wanted - cell->shard_count);

        if (!shard_create(&cell->load, users, &cell->shards[cell->shard_count], error))
            return false;
        left -= users;
    }
    return true;
}

static bool prepare(struct cell *cell, struct error *error)
{
    const struct cell_order *order = cell->order;
    const struct plan *plan = order->plan;

    if (!reach_fit(order->concurrency, error)
        || !reach_resolve(order->endpoint, &cell->reach, error))
        return false;
    cell->load = (struct load){
        .endpoint = order->endpoint,
        .prompts = cell->prompts,
        .workload = order->workload,
        .nonce = order->nonce,
        .input_tokens = order->input_tokens,
        .output_tokens = order->output_tokens,
        .ttft_timeout_ns = ns(plan->ttft_timeout_s),
        .idle_timeout_ns = ns(plan->idle_timeout_s),
        .request_timeout_ns = ns(plan->request_timeout_s),
        .goodput_ttft_ns = ns(plan->goodput_ttft_ms / 1e3),
        .goodput_tpot_ns = ns(plan->goodput_tpot_ms / 1e3),
        .reach = &cell->reach,
        .only_libcurl = order->only_libcurl,
        .phase = PHASE_PROBE,
        .window_start_ns = INT64_MAX,
        .window_end_ns = INT64_MAX,
    };
    tally_init(&cell->total, &cell->load);
    return start_shards(cell, error);
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* The shape cannot be measured here, or nothing can: trying again is no use. */
static bool is_final(enum failure failure)
{
    return failure == FAILURE_TOO_LONG || failure == FAILURE_SHORT_INPUT
           || failure == FAILURE_REFUSED_400 || failure == FAILURE_AUTH
           || failure == FAILURE_NOT_FOUND || failure == FAILURE_TTFT_TIMEOUT
           || failure == FAILURE_IDLE_TIMEOUT || failure == FAILURE_TOTAL_TIMEOUT;
}

static bool probe_once(struct cell *cell, int64_t number, enum failure *failure,
                       struct error *error)
{
    struct shard_status status = { 0 };

    atomic_store(&cell->load.probes, number);
    shard_wake(cell->shards[0]);
    do {
        if (!tick(cell, "probing", error))
            return false;
        shard_read(cell->shards[0], &status);
    } while (status.probes_ended < number);
    *failure = status.probe_failure;
    return true;
}

/* One request by itself; again, twice at most, where it fails. */
static bool probe(struct cell *cell, enum failure *failure, struct error *error)
{
    *failure = FAILURE_NONE;
    for (int64_t number = 1; cell->order->probe; number++) {
        if (!probe_once(cell, number, failure, error))
            return false;
        if (*failure == FAILURE_NONE || is_final(*failure) || number == PROBES_LIMIT)
            break;
        for (int i = 0; i < PROBE_PAUSE_TICKS; i++)
            if (!tick(cell, "probing", error))
                return false;
    }
    return true;
}

static bool is_failing(const struct cell *cell, const struct shard_status *status, double elapsed_s)
{
    int64_t enough = 2 * cell->order->concurrency;

    return status->succeeded == 0 && elapsed_s >= FAILING_S
           && status->failed >= (enough > FEWEST_FAILURES ? enough : FEWEST_FAILURES);
}

/* As long as a request takes, so that waves of requests even out. */
static int64_t settling_window_ns(const struct shard_status *status)
{
    double mean_ns = status->succeeded > 0 ? status->e2e_ns / (double)status->succeeded : 0;

    return (int64_t)fmax(mean_ns, 1e9);
}

/* A quarter of the warm-up at most. */
static void set_stagger(struct cell *cell)
{
    struct shard_status status;
    double stagger_s = cell->order->stagger_s;

    shard_read(cell->shards[0], &status);
    if (status.probe_e2e_ns > 0)
        stagger_s = status.probe_e2e_ns / 1e9;
    atomic_store(&cell->load.stagger_ns,
                 ns(fmin(stagger_s, cell->order->plan->warmup_limit_s / 4)));
}

/* Until every user had two answers and the rate of tokens has settled. *failing: it never will. */
static bool warm_up(struct cell *cell, bool *failing, struct error *error)
{
    __attribute__((cleanup(steady_finish))) struct steady steady = { 0 };
    double limit_s = cell->order->plan->warmup_limit_s;
    int64_t begun_ns = clock_monotonic_ns();
    struct shard_status status;

    set_stagger(cell);
    set_phase(cell, PHASE_LOAD);
    do {
        if (!tick(cell, "warming up", error))
            return false;
        read_status(cell, &status);
        steady_add(&steady, clock_monotonic_ns(), status.chunks);
        *failing = is_failing(cell, &status, seconds_since(begun_ns));
        if (*failing
            || (status.users_settled == cell->order->concurrency && status.succeeded > 0
                && steady_agrees(&steady, settling_window_ns(&status))))
            return true;
    } while (seconds_since(begun_ns) < limit_s);
    return true;
}

static void note_cpu(struct cell *cell)
{
    cell->cpu_clock_ns = clock_monotonic_ns() - cell->cpu_clock_ns;
    for (size_t i = 0; i < cell->shard_count; i++)
        cell->cpu_ns[i] = shard_cpu_ns(cell->shards[i]) - cell->cpu_ns[i];
}

/* A window in which too few requests ended is extended; one in which none did, further. */
static bool is_long_enough(const struct cell *cell, const struct shard_status *status,
                           double elapsed_s)
{
    const struct plan *plan = cell->order->plan;
    int64_t wanted = cell->order->concurrency;

    wanted = wanted < FEWEST_REQUESTS ? FEWEST_REQUESTS : wanted;
    wanted = wanted > ENOUGH_REQUESTS ? ENOUGH_REQUESTS : wanted;
    if (elapsed_s < plan->window_s)
        return false;
    if (status->window_ended >= wanted)
        return true;
    return elapsed_s >= LONGEST_WINDOW * plan->window_s
           && (status->window_ended > 0 || elapsed_s >= plan->request_timeout_s);
}

/* Asks for a bound of the window and waits until a request's end has set it; where none ends for
 * a while, it is now. */
static bool set_bound(struct cell *cell, atomic_bool *asked, atomic_int_fast64_t *bound_ns,
                      double patience_s, struct error *error)
{
    int64_t asked_ns = clock_monotonic_ns();

    atomic_store(asked, true);
    while (atomic_load(bound_ns) == INT64_MAX) {
        if (!tick(cell, "measuring", error))
            return false;
        if (seconds_since(asked_ns) >= patience_s && atomic_exchange(asked, false))
            atomic_store(bound_ns, clock_monotonic_ns());
    }
    return true;
}

static double patience_s(struct cell *cell)
{
    struct shard_status status;

    read_status(cell, &status);
    return 2e-9 * (double)settling_window_ns(&status);
}

static bool measure_window(struct cell *cell, struct error *error)
{
    struct load *load = &cell->load;
    struct shard_status status;
    int64_t start_ns;

    note_cpu(cell);
    if (!set_bound(cell, &load->window_start_asked, &load->window_start_ns, patience_s(cell),
                   error))
        return false;
    start_ns = atomic_load(&load->window_start_ns);
    cell->window_start_ms = clock_utc_ms() - (clock_monotonic_ns() - start_ns) / 1000000;
    do {
        if (!tick(cell, "measuring", error))
            return false;
        read_status(cell, &status);
    } while (!is_long_enough(cell, &status, seconds_since(start_ns)));
    if (!set_bound(cell, &load->window_end_asked, &load->window_end_ns, patience_s(cell), error))
        return false;
    note_cpu(cell);
    return true;
}

static bool all_done(struct cell *cell)
{
    for (size_t i = 0; i < cell->shard_count; i++)
        if (!shard_is_done(cell->shards[i]))
            return false;
    return true;
}

/* What is under way may end; what has not by then is cut. */
static bool drain(struct cell *cell, struct error *error)
{
    cell->drain_ns = clock_monotonic_ns();
    set_phase(cell, PHASE_DRAIN);
    while (!all_done(cell) && seconds_since(cell->drain_ns) < DRAIN_LIMIT_S)
        if (!tick(cell, "draining", error))
            return false;
    set_phase(cell, PHASE_ABORT);
    for (size_t i = 0; i < cell->shard_count; i++)
        tally_merge(&cell->total, shard_join(cell->shards[i]));
    cell->ended_ns = clock_monotonic_ns();
    return true;
}

static bool run_phases(struct cell *cell, enum failure *refused, bool *failing, struct error *error)
{
    if (!probe(cell, refused, error))
        return false;
    if (*refused == FAILURE_NONE && !warm_up(cell, failing, error))
        return false;
    if (*refused == FAILURE_NONE && !*failing && !measure_window(cell, error))
        return false;
    return drain(cell, error);
}

/* ---- From outside ---------------------------------------------------------------------------- */

static void cell_finish(struct cell *cell)
{
    for (size_t i = 0; i < cell->shard_count; i++)
        shard_destroy(cell->shards[i]);
    tally_finish(&cell->total);
    prompts_destroy(cell->prompts);
    reach_finish(&cell->reach);
}

static bool measure(struct cell *cell, struct cell_result *out, struct error *error)
{
    enum failure refused = FAILURE_NONE;
    bool failing = false;

    if (!prepare(cell, error)) {
        cell_result_fill_unsent(error, out);
        return true;
    }
    cell->begun_ns = clock_monotonic_ns();
    if (!run_phases(cell, &refused, &failing, error))
        return false;
    cell_result_fill(cell, out);
    return true;
}

bool cell_measure(const struct cell_order *order, struct cell_result *out, struct error *error)
{
    struct cell cell = { .order = order };
    bool done;

    *out = (struct cell_result){ 0 };
    if (!prompts_create(order->workload, order->endpoint->model, order->plan->seed,
                        order->input_tokens, order->output_tokens, &cell.prompts, error)) {
        out->state = CELL_INFEASIBLE;
        text_copy(out->reason, sizeof out->reason, error->message);
        return true;
    }
    done = measure(&cell, out, error);
    cell_finish(&cell);
    return done;
}
