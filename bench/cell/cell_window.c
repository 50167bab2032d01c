/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases in which the server is under load: the warm-up and the measured window. */
#include <math.h>

#include "base/core/clock.h"
#include "bench/cell/cell_private.h"

/* The warm-up gives up on the server once FAILING_S has passed without a success and at least
 * FEWEST_FAILURES requests have failed; in a closed loop, also at least two per user. */
#define FEWEST_FAILURES 20
#define FAILING_S 2.0
/* The window is extended, normally up to its limit, until it contains enough requests. In a closed
 * loop, the number that the plan gives must end in it; without such a number, as many as there are
 * users, but at least FEWEST_REQUESTS and at most ENOUGH_REQUESTS. In an open loop, the number that
 * the plan gives must be due in it; without such a number, FEWEST_REQUESTS. If the end of an open
 * loop's window is not set when the window starts (watch_window), FEWEST_REQUESTS must also end in
 * it. */
#define FEWEST_REQUESTS 3
#define ENOUGH_REQUESTS 64
/* The start and the end of an open loop's window are set at least this long in advance. If the
 * window is shorter than this, its end is set when it starts. */
#define BOUND_LEAD_NS 50000000
/* In an open loop, the load has settled when the rates of chunks in two successive windows differ
 * by at most AGREEMENT, as a share of the larger rate, or by as much as random arrivals explain.
 * About SETTLING_ARRIVALS requests or more arrive in each window, unless a third of the warm-up's
 * limit is too short for that. */
#define SETTLING_ARRIVALS 20
#define AGREEMENT 0.1
#define WARMING_UP "warming up"
#define MEASURING "measuring"

static int64_t ns(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

/* ---- Warm-up --------------------------------------------------------------------------------- */

static bool is_failing(const struct cell *cell, const struct shard_status *status, double elapsed_s)
{
    int64_t enough = cell_is_open(cell) ? 0 : 2 * cell->order->concurrency;

    return status->succeeded == 0 && elapsed_s >= FAILING_S
           && status->failed >= (enough > FEWEST_FAILURES ? enough : FEWEST_FAILURES);
}

/* How long a request takes on average, but at least 1 s. The windows whose rates are compared are
 * at least this long, so that waves of requests even out. */
static double settling_window_s(const struct shard_status *status)
{
    return fmax(status->succeeded > 0 ? status->e2e_ns / (double)status->succeeded / 1e9 : 0, 1);
}

/* Sets the time over which the starts of the users are spread: the plan's ramp; or, without a ramp,
 * the time of a request plus the think time, but at most a quarter of the warm-up's limit. */
static void set_stagger(struct cell *cell)
{
    const struct plan *plan = cell->order->plan;
    struct shard_status status;
    double stagger_s = cell->order->expected_e2e_s;

    shard_read(cell->shards[0], &status);
    if (status.probe_e2e_ns > 0)
        stagger_s = status.probe_e2e_ns / 1e9;
    stagger_s = fmin(stagger_s + plan->think_time_s, plan->warmup_limit_s / 4);
    atomic_store(&cell->load.stagger_ns, ns(plan->ramp_s > 0 ? plan->ramp_s : stagger_s));
}

/* Whether at least two requests of every user have ended, and the rate of chunks is stable. */
static bool closed_has_settled(const struct cell *cell, const struct steady *steady,
                               const struct shard_status *status)
{
    return status->users_settled == cell->order->concurrency
           && steady_agrees(steady,
                            ns(settling_window_s(status) + cell->order->plan->think_time_s));
}

/* Whether the rate of chunks is stable, as far as random arrivals allow. If n requests arrive per
 * window on average, the difference between the numbers of arrivals in two windows has a standard
 * deviation of sqrt(2 v n), where v is arrivals_variation. */
static bool open_has_settled(const struct cell *cell, const struct steady *steady,
                             const struct shard_status *status, double elapsed_s)
{
    const struct arrivals *arrivals = &cell->arrivals;
    double arrivals_s =
        fmin(SETTLING_ARRIVALS / arrivals->rate, cell->order->plan->warmup_limit_s / 3);
    double window_s = fmax(settling_window_s(status), arrivals_s);
    double chance = sqrt(2 * arrivals_variation(arrivals) / (arrivals->rate * window_s));

    return elapsed_s >= arrivals->ramp_s + 2 * window_s
           && steady_agrees_within(steady, ns(window_s), fmax(AGREEMENT, 2 * chance));
}

static bool has_settled(const struct cell *cell, const struct steady *steady,
                        const struct shard_status *status, double elapsed_s)
{
    if (status->succeeded == 0 || elapsed_s < cell->order->plan->ramp_s)
        return false;
    return cell_is_open(cell) ? open_has_settled(cell, steady, status, elapsed_s)
                              : closed_has_settled(cell, steady, status);
}

bool cell_warm_up(struct cell *cell, bool *failing, struct error *error)
{
    __attribute__((cleanup(steady_finish))) struct steady steady = { 0 };
    double limit_s = cell->order->plan->ramp_s + cell->order->plan->warmup_limit_s, elapsed_s;
    int64_t begun_ns = clock_monotonic_ns();
    struct shard_status status;

    set_stagger(cell);
    atomic_store(&cell->load.arrivals_ns, begun_ns);
    cell_set_phase(cell, PHASE_LOAD);
    cell_set_doing(cell, WARMING_UP);
    do {
        if (!cell_tick(cell, cell->doing, error))
            return false;
        elapsed_s = cell_seconds_since(begun_ns);
        cell_read_status(cell, &status);
        steady_add(&steady, clock_monotonic_ns(), status.chunks);
        cell_describe(cell, WARMING_UP, &steady, &status);
        *failing = is_failing(cell, &status, elapsed_s);
        if (*failing || has_settled(cell, &steady, &status, elapsed_s))
            return true;
    } while (elapsed_s < limit_s);
    cell->unsettled = true;
    return true;
}

/* ---- The window ------------------------------------------------------------------------------ */

/* Called before the window, notes the clock and the threads' CPU times. Called again after the
 * window, replaces each of these readings with its increase since then. */
static void note_cpu(struct cell *cell)
{
    cell->elapsed_ns = clock_monotonic_ns() - cell->elapsed_ns;
    for (size_t i = 0; i < cell->shard_count; i++) {
        cell->cpu_ns[i] = shard_cpu_ns(cell->shards[i]) - cell->cpu_ns[i];
        cell->cpu_wait_ns[i] = shard_cpu_wait_ns(cell->shards[i]) - cell->cpu_wait_ns[i];
    }
}

/* Waits for one tick, then adds a sample of the progress. */
static CHECKED bool sample(struct cell *cell, struct shard_status *status, struct error *error)
{
    if (!cell_tick(cell, cell->doing, error))
        return false;
    cell_read_status(cell, status);
    steady_add(&cell->progress, clock_monotonic_ns(), status->chunks);
    cell_describe(cell, MEASURING, &cell->progress, status);
    evenness_note(&cell->evenness, clock_monotonic_ns(), status->chunks, status->in_flight);
    return true;
}

/* Whether the throughput is known as precisely as the plan requires. */
static bool is_precise(const struct cell *cell)
{
    double wanted = cell->order->plan->ci_width;

    return wanted <= 0 || steady_half_width(&cell->progress) <= wanted;
}

/* ---- The window of a closed loop ------------------------------------------------------------- */

/* Whether the window can end: it has lasted as long as planned (unless the plan gives a number of
 * requests), enough requests have ended in it, and the throughput is precise enough. Once the
 * window's limit is reached, a single ended request is enough; without one, the window can end once
 * it has also lasted as long as the timeout of a request. */
static bool is_long_enough(const struct cell *cell, const struct shard_status *status,
                           double elapsed_s)
{
    const struct plan *plan = cell->order->plan;
    int64_t wanted = cell->order->concurrency;

    wanted = wanted < FEWEST_REQUESTS ? FEWEST_REQUESTS : wanted;
    wanted = wanted > ENOUGH_REQUESTS ? ENOUGH_REQUESTS : wanted;
    if (plan->requests > 0)
        wanted = plan->requests;
    if ((plan->requests > 0 || elapsed_s >= plan->window_s) && status->window_ended >= wanted
        && is_precise(cell))
        return true;
    return elapsed_s >= plan_window_limit_s(plan)
           && (status->window_ended > 0 || elapsed_s >= plan->request_timeout_s);
}

/* Asks the load threads to set a bound of the window (its start or its end) when the next request
 * ends, and waits until they have done so. If no request ends for patience_s, sets the bound
 * itself. */
static CHECKED bool set_bound(struct cell *cell, atomic_bool *asked, atomic_int_fast64_t *bound_ns,
                              double patience_s, struct error *error)
{
    int64_t asked_ns = clock_monotonic_ns();

    if (atomic_load(bound_ns) != INT64_MAX) /* the last of the plan's `requests` has ended */
        return true;
    atomic_store(asked, true);
    while (atomic_load(bound_ns) == INT64_MAX) {
        if (!cell_tick(cell, cell->doing, error))
            return false;
        if (cell_seconds_since(asked_ns) >= patience_s && atomic_exchange(asked, false))
            atomic_store(bound_ns, clock_monotonic_ns());
    }
    return true;
}

static double patience_s(struct cell *cell)
{
    struct shard_status status;

    cell_read_status(cell, &status);
    return 2 * settling_window_s(&status);
}

/* If the plan gives a number of requests, and demands no precision, the load thread in which the
 * last of these requests ends sets the window's end. */
static CHECKED bool measure_closed(struct cell *cell, struct error *error)
{
    const struct plan *plan = cell->order->plan;
    struct load *load = &cell->load;
    struct shard_status status;
    int64_t start_ns;

    if (plan->requests > 0 && plan->ci_width <= 0)
        atomic_store(&load->window_left, plan->requests);
    if (!set_bound(cell, &load->window_start_asked, &load->window_start_ns, patience_s(cell),
                   error))
        return false;
    start_ns = atomic_load(&load->window_start_ns);
    do {
        if (!sample(cell, &status, error))
            return false;
    } while (atomic_load(&load->window_end_ns) == INT64_MAX
             && !is_long_enough(cell, &status, cell_seconds_since(start_ns)));
    atomic_store(&load->window_left, 0);
    return set_bound(cell, &load->window_end_asked, &load->window_end_ns, patience_s(cell), error);
}

/* ---- The window of an open loop -------------------------------------------------------------- */

static int64_t due_ns(const struct cell *cell, const struct arrivals_share *cursor)
{
    return atomic_load(&cell->load.arrivals_ns) + arrivals_share_due_ns(cursor);
}

/* How many requests are due by at_ns, which must not be earlier than in the previous call. */
static int64_t arrived_by(struct cell *cell, int64_t at_ns)
{
    for (; due_ns(cell, &cell->schedule) <= at_ns; arrivals_share_step(&cell->schedule))
        cell->arrived++;
    return cell->arrived;
}

static CHECKED bool wait_until(struct cell *cell, int64_t at_ns, struct error *error)
{
    while (clock_monotonic_ns() < at_ns)
        if (!cell_tick(cell, cell->doing, error))
            return false;
    return true;
}

/* The time just after the next `count` arrivals; the first of them is the one at which the schedule
 * is positioned. */
static int64_t end_by_count_ns(const struct cell *cell, int64_t count)
{
    struct arrivals_share cursor = cell->schedule;

    for (int64_t i = 1; i < count; i++)
        arrivals_share_step(&cursor);
    return due_ns(cell, &cursor) + 1;
}

/* The earliest time at which the window can end, according to the plan and the schedule. */
static int64_t first_end_ns(const struct cell *cell, int64_t start_ns, int64_t limit_ns)
{
    const struct plan *plan = cell->order->plan;
    int64_t fewest_ns = end_by_count_ns(cell, FEWEST_REQUESTS), end_ns;

    end_ns =
        plan->requests > 0 ? end_by_count_ns(cell, plan->requests) : start_ns + ns(plan->window_s);
    if (plan->requests == 0 && end_ns < fewest_ns)
        end_ns = fewest_ns;
    return end_ns < limit_ns ? end_ns : limit_ns;
}

static CHECKED bool watch_until(struct cell *cell, int64_t end_ns, struct error *error)
{
    struct shard_status status;
    int64_t now_ns;

    do {
        if (!sample(cell, &status, error))
            return false;
        now_ns = clock_monotonic_ns();
        steady_add(&cell->backlog, now_ns,
                   arrived_by(cell, now_ns) - status.succeeded - status.failed);
    } while (now_ns < end_ns);
    return true;
}

/* How long the probe took, or the approximate time that the order gives for a request, whichever is
 * longer; 0 if neither is known. */
static double usual_request_s(const struct cell *cell)
{
    struct shard_status status;

    shard_read(cell->shards[0], &status);
    return fmax(status.probe_e2e_ns / 1e9, cell->order->expected_e2e_s);
}

static int64_t count_ended(struct cell *cell)
{
    struct shard_status status;

    cell_read_status(cell, &status);
    return status.succeeded + status.failed;
}

/* Whether the window might be shorter than a request, so that requests due in it end after it. If
 * the time of a request is not known, this is assumed until a request has ended. */
static bool is_short(struct cell *cell, int64_t window_ns)
{
    double request_s = usual_request_s(cell);

    return request_s > 0 ? ns(request_s) >= window_ns : count_ended(cell) == 0;
}

/* Whether the window must go on, because too few requests have ended in it, or the throughput is
 * not precise enough. Once the window's limit is reached, a single ended request is enough; if
 * there is none, the window is extended beyond its limit, by at most the timeout of a request. */
static bool must_extend(struct cell *cell, int64_t ended, int64_t end_ns, int64_t limit_ns)
{
    const struct plan *plan = cell->order->plan;

    if (end_ns >= limit_ns)
        return ended == 0 && end_ns < limit_ns + ns(plan->request_timeout_s);
    return ended < FEWEST_REQUESTS || !is_precise(cell);
}

/* Watches the window, and sets its end in advance, so that every thread learns of it in time. */
static CHECKED bool watch_window(struct cell *cell, int64_t start_ns, struct error *error)
{
    atomic_int_fast64_t *bound_ns = &cell->load.window_end_ns;
    int64_t limit_ns = start_ns + ns(plan_window_limit_s(cell->order->plan));
    int64_t end_ns = first_end_ns(cell, start_ns, limit_ns), ended_before = count_ended(cell);

    if (cell->order->plan->ci_width <= 0 && !is_short(cell, end_ns - start_ns)) {
        atomic_store(bound_ns, end_ns);
        return watch_until(cell, end_ns, error);
    }
    do {
        if (!watch_until(cell, end_ns - BOUND_LEAD_NS, error))
            return false;
        end_ns = clock_monotonic_ns() + BOUND_LEAD_NS;
    } while (must_extend(cell, count_ended(cell) - ended_before, end_ns, limit_ns));
    atomic_store(bound_ns, end_ns);
    return true;
}

/* The longest time to wait for answers after the window. It is the larger of two values: the plan's
 * window_s, but at least 1 s and at most DRAIN_LIMIT_S; and three times the usual time of a
 * request, but at most the timeout of a request. */
static double longest_wait_s(const struct cell *cell)
{
    const struct plan *plan = cell->order->plan;
    double usual_s = fmin(DRAIN_LIMIT_S, fmax(plan->window_s, 1));

    return fmax(usual_s, fmin(3 * usual_request_s(cell), plan->request_timeout_s));
}

/* Keeps up the load until the requests due in the window have ended, but for at most
 * longest_wait_s. */
static CHECKED bool await_answers(struct cell *cell, struct error *error)
{
    double limit_s = longest_wait_s(cell);
    struct shard_status status;

    cell->drain_ns = clock_monotonic_ns();
    do {
        if (!cell_tick(cell, "draining", error))
            return false;
        cell_read_status(cell, &status);
    } while (status.window_ended < cell->window_arrivals
             && cell_seconds_since(cell->drain_ns) < limit_s);
    return true;
}

/* The window contains the requests that are due in it, whenever they are answered. */
static CHECKED bool measure_open(struct cell *cell, struct error *error)
{
    int64_t start_ns = clock_monotonic_ns() + BOUND_LEAD_NS, end_ns;
    struct arrivals_share cursor;

    atomic_store(&cell->load.window_start_ns, start_ns);
    arrived_by(cell, start_ns - 1);
    cursor = cell->schedule;
    if (!wait_until(cell, start_ns, error) || !watch_window(cell, start_ns, error))
        return false;
    end_ns = atomic_load(&cell->load.window_end_ns);
    for (; due_ns(cell, &cursor) < end_ns; arrivals_share_step(&cursor))
        cell->window_arrivals++;
    return wait_until(cell, end_ns, error) && await_answers(cell, error);
}

/* ---- Both kinds of window -------------------------------------------------------------------- */

bool cell_measure_window(struct cell *cell, struct error *error)
{
    int64_t start_ns;

    note_cpu(cell);
    cell_set_doing(cell, MEASURING);
    if (!(cell_is_open(cell) ? measure_open(cell, error) : measure_closed(cell, error)))
        return false;
    note_cpu(cell);
    start_ns = atomic_load(&cell->load.window_start_ns);
    cell->window_start_ms = clock_utc_ms() - (clock_monotonic_ns() - start_ns) / 1000000;
    return true;
}
