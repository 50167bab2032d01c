/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/cell_private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"

#define USERS_PER_SHARD 2048
#define TICK_NS 50000000
#define DESCRIBE_EVERY_NS 1000000000
/* The progress shows the mean tokens/s over this time. */
#define DESCRIBED_MEAN_NS (INT64_C(3) * DESCRIBE_EVERY_NS)
#define PROBES_LIMIT 3
#define PROBE_PAUSE_TICKS 10

static int64_t ns(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

double cell_seconds_since(int64_t from_ns)
{
    return (double)(clock_monotonic_ns() - from_ns) / 1e9;
}

/* ---- Threads --------------------------------------------------------------------------------- */

void cell_set_phase(struct cell *cell, enum phase phase)
{
    atomic_store(&cell->load.phase, phase);
    for (size_t i = 0; i < cell->shard_count; i++)
        shard_wake(cell->shards[i]);
}

bool cell_tick(struct cell *cell, const char *doing, struct error *error)
{
    int64_t until_ns = clock_monotonic_ns() + TICK_NS;
    const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };

    sem_clockwait(&cell->load.news, CLOCK_MONOTONIC, &until);
    if (!cell->order->stopped(cell->order->context, doing, cell_seconds_since(cell->begun_ns)))
        return true;
    return error_set(error, ERROR_CANCELLED, "stopped while %s", doing);
}

void cell_set_doing(struct cell *cell, const char *text)
{
    text_copy(cell->doing, sizeof cell->doing, text);
    cell->doing_ns = clock_monotonic_ns();
}

static void add_figure(struct text *out, double value)
{
    text_addf(out, value < 100 ? "%.3g" : "%.0f", value);
}

void cell_describe(struct cell *cell, const char *phase, const struct steady *chunks,
                   const struct shard_status *status)
{
    double chunks_per_s = steady_rate(chunks, DESCRIBED_MEAN_NS);
    TEXT_AUTO doing = { 0 };

    if (clock_monotonic_ns() - cell->doing_ns < DESCRIBE_EVERY_NS || status->token_chunks == 0
        || !(chunks_per_s > 0))
        return;
    text_addf(&doing, "%s: ", phase);
    add_figure(&doing, chunks_per_s * (double)status->tokens / (double)status->token_chunks);
    text_add(&doing, " tokens/s");
    if (status->succeeded > 0) {
        text_add(&doing, ", TTFT ");
        add_figure(&doing, status->ttft_ns / (double)status->succeeded / 1e6);
        text_add(&doing, " ms");
    }
    cell_set_doing(cell, text_string(&doing));
}

void cell_read_status(struct cell *cell, struct shard_status *out)
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
        out->ttft_ns += one.ttft_ns;
        out->tokens += one.tokens;
        out->token_chunks += one.token_chunks;
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

static CHECKED bool start_shards(struct cell *cell, struct error *error)
{
    size_t wanted = count_shards(cell->order), left = (size_t)cell->order->concurrency;

    for (; cell->shard_count < wanted; cell->shard_count++) {
        const struct shard_part part = { .index = cell->shard_count,
                                         .count = wanted,
                                         .users = left / (wanted - cell->shard_count) };

        if (!shard_create(&cell->load, part, &cell->shards[cell->shard_count], error))
            return false;
        left -= part.users;
    }
    return true;
}

/* The seed depends only on the plan, the rate and the repetition, so that all deployments that a
 * plan compares get their requests at the same times. */
static void prepare_arrivals(struct cell *cell)
{
    const struct cell_order *order = cell->order;
    uint64_t rate_bits;

    if (order->request_rate <= 0)
        return;
    memcpy(&rate_bits, &order->request_rate, sizeof rate_bits);
    cell->arrivals = (struct arrivals){
        .process = order->plan->arrival,
        .rate = order->request_rate,
        .burstiness = order->plan->burstiness,
        .ramp_s = order->plan->ramp_s,
        .seed = random_mix(random_mix(order->plan->seed, (uint64_t)order->repetition), rate_bits),
    };
    arrivals_share_begin(&cell->schedule, &cell->arrivals, 0, 1);
}

static CHECKED bool prepare(struct cell *cell, struct error *error)
{
    const struct cell_order *order = cell->order;
    const struct plan *plan = order->plan;

    if (!target_address_ensure_descriptors(order->concurrency, error)
        || !target_address_resolve(order->endpoint, &cell->target, error))
        return false;
    prepare_arrivals(cell);
    cell->load = (struct load){
        .endpoint = order->endpoint,
        .prompts = cell->prompts,
        .workload = order->workload,
        .nonce = order->nonce,
        .output_tokens = order->output_tokens,
        .context_tokens = order->context_tokens,
        .ttft_timeout_ns = ns(plan->ttft_timeout_s),
        .idle_timeout_ns = ns(plan->idle_timeout_s),
        .request_timeout_ns = ns(plan->request_timeout_s),
        .goodput_ttft_ns = ns(plan->goodput_ttft_ms / 1e3),
        .goodput_tpot_ns = ns(plan->goodput_tpot_ms / 1e3),
        .target = &cell->target,
        .reuse = order->reuse != NULL ? order->reuse : &cell->reuse,
        .only_libcurl = order->only_libcurl,
        .arrivals = cell_is_open(cell) ? &cell->arrivals : NULL,
        .think_ns = ns(plan->think_time_s),
        .thinks_exponential = plan->think_time == THINK_EXPONENTIAL,
        .http2_streams = plan->http2_streams,
        .phase = PHASE_PROBE,
        .window_start_ns = INT64_MAX,
        .window_end_ns = INT64_MAX,
    };
    sem_init(&cell->load.news, 0, 0);
    tally_init(&cell->total, &cell->load);
    load_credential_set(&cell->load, order->endpoint->bearer);
    return credential_renewal_begin(&cell->load, &cell->renewal, error)
           && start_shards(cell, error);
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* Whether a retry is pointless: the server refuses or truncates requests of this shape, does not
 * answer them in time, or refuses all requests. */
static bool is_final(enum failure failure)
{
    return failure == FAILURE_TOO_LONG || failure == FAILURE_SHORT_INPUT
           || failure == FAILURE_REFUSED_400 || failure == FAILURE_AUTH
           || failure == FAILURE_NOT_FOUND || failure == FAILURE_TTFT_TIMEOUT
           || failure == FAILURE_IDLE_TIMEOUT || failure == FAILURE_TOTAL_TIMEOUT;
}

static CHECKED bool probe_once(struct cell *cell, int64_t number, enum failure *failure,
                               struct error *error)
{
    struct shard_status status = { 0 };

    atomic_store(&cell->load.probes, number);
    shard_wake(cell->shards[0]);
    do {
        if (!cell_tick(cell, "probing", error))
            return false;
        shard_read(cell->shards[0], &status);
    } while (status.probes_ended < number);
    *failure = status.probe_failure;
    return true;
}

/* If the order asks for a probe, sends a single request. If it fails, sends it again at most twice,
 * unless that is pointless (is_final). */
static CHECKED bool probe(struct cell *cell, enum failure *failure, struct error *error)
{
    *failure = FAILURE_NONE;
    for (int64_t number = 1; cell->order->probe; number++) {
        if (!probe_once(cell, number, failure, error))
            return false;
        if (*failure == FAILURE_NONE || is_final(*failure) || number == PROBES_LIMIT)
            break;
        for (int i = 0; i < PROBE_PAUSE_TICKS; i++)
            if (!cell_tick(cell, "probing", error))
                return false;
    }
    return true;
}

static bool all_done(struct cell *cell)
{
    for (size_t i = 0; i < cell->shard_count; i++)
        if (!shard_is_done(cell->shards[i]))
            return false;
    return true;
}

/* Lets requests in flight end, and cuts off those that take longer than DRAIN_LIMIT_S. If
 * cell_measure_window has already waited for answers (in an open loop), cuts off all at once. */
static CHECKED bool drain(struct cell *cell, struct error *error)
{
    bool has_waited = cell->drain_ns != 0;

    if (!has_waited) {
        cell->drain_ns = clock_monotonic_ns();
        cell_set_phase(cell, PHASE_DRAIN);
    }
    while (!has_waited && !all_done(cell) && cell_seconds_since(cell->drain_ns) < DRAIN_LIMIT_S)
        if (!cell_tick(cell, "draining", error))
            return false;
    cell_set_phase(cell, PHASE_ABORT);
    for (size_t i = 0; i < cell->shard_count; i++)
        tally_merge(&cell->total, shard_join(cell->shards[i]));
    cell->ended_ns = clock_monotonic_ns();
    return true;
}

static CHECKED bool run_phases(struct cell *cell, struct error *error)
{
    enum failure probe_failure = FAILURE_NONE;
    bool failing = false;

    if (!probe(cell, &probe_failure, error))
        return false;
    if (probe_failure == FAILURE_NONE && !cell_warm_up(cell, &failing, error))
        return false;
    if (probe_failure == FAILURE_NONE && !failing && !cell_measure_window(cell, error))
        return false;
    return drain(cell, error);
}

/* ---- The whole cell -------------------------------------------------------------------------- */

static void cell_finish(struct cell *cell)
{
    credential_renewal_end(cell->renewal);
    for (size_t i = 0; i < cell->shard_count; i++)
        shard_destroy(cell->shards[i]);
    load_credential_finish(&cell->load);
    tally_finish(&cell->total);
    steady_finish(&cell->progress);
    steady_finish(&cell->backlog);
    prompt_source_destroy(cell->prompts);
    target_address_finish(&cell->target);
}

static CHECKED bool measure(struct cell *cell, struct cell_result *out, struct error *error)
{
    if (!prepare(cell, error)) {
        cell_result_fill_unsent(error, out);
        return true;
    }
    cell->begun_ns = clock_monotonic_ns();
    if (!run_phases(cell, error))
        return false;
    cell_result_fill(cell, out);
    return true;
}

bool cell_measure(const struct cell_order *order, struct cell_result *out, struct error *error)
{
    const struct prompt_source_order prompts = {
        .workload = order->workload,
        .plan = order->plan,
        .model = order->endpoint->model,
        .input_tokens = order->input_tokens,
        .output_tokens = order->output_tokens,
        .context_tokens = order->context_tokens,
        .room = order->room,
        .dataset = order->dataset,
        .dataset_sent = order->dataset_sent,
        .nonce = order->nonce,
    };
    struct cell cell = { .order = order };
    bool done;

    *out = (struct cell_result){ 0 };
    if (!prompt_source_create(&prompts, &cell.prompts, error)) {
        out->state = CELL_INFEASIBLE;
        text_copy(out->reason, sizeof out->reason, error->message);
        return true;
    }
    done = measure(&cell, out, error);
    cell_finish(&cell);
    return done;
}
