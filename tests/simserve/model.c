/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/model.h"

#include <math.h>
#include <stdlib.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "tests/simserve/connection.h"
#include "tests/simserve/prefix_cache.h"
#include "tests/simserve/stream.h"

#define UNSENT_LIMIT_BYTES (4 << 20)

static int64_t ms_to_ns(double ms)
{
    return (int64_t)llround(ms * 1e6);
}

void model_init(struct model *model)
{
    *model = (struct model){ 0 };
    TAILQ_INIT(&model->waiting);
    TAILQ_INIT(&model->running);
}

static int64_t blocks_of(int64_t tokens)
{
    return (tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
}

static int64_t blocks_committed(const struct sequence *sequence)
{
    return blocks_of(sequence->record.prompt_tokens + sequence->limit_tokens);
}

double model_kv_usage(const struct server *server)
{
    const struct sequence *sequence;
    int64_t blocks = 0;

    TAILQ_FOREACH(sequence, &server->model.running, link)
    blocks += blocks_of(sequence->record.prompt_tokens + sequence->produced_tokens);
    return fmin(1, (double)blocks / (double)server->config.kv_blocks);
}

void model_cool(struct server *server)
{
    prefix_cache_clear(server->prefix_cache);
    server->model.warm_shapes = 0;
}

/* Applies the configured jitter to a duration. */
static double jittered(struct sequence *sequence, double ms)
{
    double jitter = sequence->server->config.jitter;

    if (jitter > 0)
        ms *= 1 + jitter * (2 * generator_uniform(&sequence->random) - 1);
    return ms;
}

/* Returns the additional prefill time for the first prompt of a size class (2^n to 2^(n+1) - 1
 * tokens), as if the engine compiled a kernel for that class; 0 for later prompts of the class. */
static double cold_ms(struct server *server, int64_t prompt_tokens)
{
    uint64_t shape = UINT64_C(1) << (63 - __builtin_clzll((uint64_t)prompt_tokens | 1));

    if (server->model.warm_shapes & shape)
        return 0;
    server->model.warm_shapes |= shape;
    return server->config.cold_shape_ms;
}

static double prefill_ms(struct sequence *sequence)
{
    const struct config *config = &sequence->server->config;
    const struct truth_record *record = &sequence->record;
    double computed = (double)(record->prompt_tokens - record->cached_tokens)
                      + config->cached_token_cost * (double)record->cached_tokens;
    double ms = config->ttft_ms + cold_ms(sequence->server, record->prompt_tokens);

    if (config->prefill_tokens_per_s > 0)
        ms += computed * 1000 / config->prefill_tokens_per_s;
    return jittered(sequence, ms);
}

static double step_ms(struct sequence *sequence)
{
    const struct server *server = sequence->server;

    return jittered(sequence,
                    server->config.step_ms
                        + server->config.step_ms_per_running * server->model.running_count);
}

static void look_up_prefix(struct sequence *sequence)
{
    struct server *server = sequence->server;
    struct truth_record *record = &sequence->record;

    if (server->config.prefix_cache)
        record->cached_tokens = (int64_t)prefix_cache_use(
            server->prefix_cache, sequence->salt, sequence->prompt.ids, sequence->prompt.count);
    tokens_finish(&sequence->prompt);
    metrics_prompt(&server->metrics, record, server->config.prefix_cache);
}

static void plan_first(struct sequence *sequence)
{
    struct server *server = sequence->server;
    int64_t start_ns = sequence->record.admitted_ns;
    int64_t duration_ns = ms_to_ns(prefill_ms(sequence));

    if (server->config.prefill_serial) {
        if (start_ns < server->model.prefill_free_ns)
            start_ns = server->model.prefill_free_ns;
        server->model.prefill_free_ns = start_ns + duration_ns;
    }
    if (server->config.blast)
        duration_ns = 0;
    if (sequence_has_fault(sequence, FAULT_STALL_BEFORE_FIRST))
        duration_ns += ms_to_ns(server->config.stall_ms);
    timer_set(&server->timers, &sequence->step, start_ns + duration_ns);
}

static void start(struct sequence *sequence, int64_t now_ns)
{
    struct server *server = sequence->server;
    struct model *model = &server->model;

    sequence->state = SEQUENCE_RUNNING;
    sequence->record.admitted_ns = now_ns;
    TAILQ_INSERT_TAIL(&model->running, sequence, link);
    model->running_count++;
    model->kv_blocks_committed += blocks_committed(sequence);
    sequence->record.running_at_admission = model->running_count;
    look_up_prefix(sequence);
    plan_first(sequence);
}

static bool fits(const struct server *server, const struct sequence *sequence)
{
    const struct model *model = &server->model;

    if (model->running_count == 0)
        return true;
    return model->running_count < (unsigned)server->config.max_running
           && model->kv_blocks_committed + blocks_committed(sequence) <= server->config.kv_blocks;
}

bool model_accepts(const struct server *server)
{
    return server->config.max_waiting == 0
           || server->model.running_count < (unsigned)server->config.max_running
           || server->model.waiting_count < (unsigned)server->config.max_waiting;
}

void model_admit(struct server *server)
{
    struct model *model = &server->model;
    struct sequence *sequence;

    while ((sequence = TAILQ_FIRST(&model->waiting)) && fits(server, sequence)) {
        TAILQ_REMOVE(&model->waiting, sequence, link);
        model->waiting_count--;
        start(sequence, clock_monotonic_ns());
    }
}

static void leave(struct sequence *sequence)
{
    struct model *model = &sequence->server->model;

    if (sequence->state == SEQUENCE_WAITING) {
        TAILQ_REMOVE(&model->waiting, sequence, link);
        model->waiting_count--;
    } else if (sequence->state == SEQUENCE_RUNNING) {
        TAILQ_REMOVE(&model->running, sequence, link);
        model->running_count--;
        model->kv_blocks_committed -= blocks_committed(sequence);
    }
}

static void destroy(struct sequence *sequence)
{
    timer_cancel(&sequence->server->timers, &sequence->step);
    timer_cancel(&sequence->server->timers, &sequence->hold);
    tokens_finish(&sequence->prompt);
    text_finish(&sequence->head);
    text_finish(&sequence->held);
    free(sequence->record.times.offset_us);
    free(sequence);
}

void model_retire(struct sequence *sequence, enum outcome outcome)
{
    struct server *server = sequence->server;

    leave(sequence);
    sequence->connection->sequence = NULL;
    sequence->record.outcome = outcome;
    sequence->record.end_ns = clock_monotonic_ns();
    metrics_finished(&server->metrics, &sequence->record, sequence->finish_reason);
    truth_add_take(server->truth, &sequence->record);
    destroy(sequence);
    model_admit(server);
}

static void finish(struct sequence *sequence, enum outcome outcome)
{
    struct connection *connection = sequence->connection;

    model_retire(sequence, outcome);
    connection_done(connection);
}

static void finish_reset(struct sequence *sequence)
{
    struct connection *connection = sequence->connection;

    model_retire(sequence, OUTCOME_RESET);
    connection_reset(connection);
}

/* Returns the number of tokens in the next chunk: 1 if the chunk comes from the prefill, otherwise
 * `tokens_per_chunk` on average. */
static int64_t next_tokens(struct sequence *sequence)
{
    const struct config *config = &sequence->server->config;
    int64_t rest = sequence->limit_tokens - sequence->produced_tokens;
    double mean = config->tokens_per_chunk;
    int64_t tokens;

    if (sequence->chunks == 0 || mean <= 1)
        return 1;
    if (config->tokens_per_chunk_geometric) {
        double uniform = 1 - generator_uniform(&sequence->random);

        tokens = 1 + (int64_t)(log(uniform) / log(1 - 1 / mean));
        tokens =
            tokens < 1 + metrics_draft_tokens(config) ? tokens : 1 + metrics_draft_tokens(config);
    } else {
        sequence->owed_tokens += mean;
        tokens = (int64_t)sequence->owed_tokens;
        sequence->owed_tokens -= (double)tokens;
    }
    return tokens < rest ? tokens : rest;
}

static void produce(struct sequence *sequence)
{
    struct server *server = sequence->server;
    int64_t tokens = next_tokens(sequence);
    int64_t now = clock_monotonic_ns();

    if (sequence->chunks == 0)
        metrics_first_token(&server->metrics, &sequence->record, now);
    else
        metrics_step(&server->metrics, &server->config, tokens, now - sequence->last_token_ns);
    sequence->last_token_ns = now;
    stream_content(sequence, tokens, sequence->produced_tokens + tokens == sequence->limit_tokens);
}

/* Ends the sequence if one of its faults is due now. Returns whether the sequence has ended. */
static bool end_by_fault(struct sequence *sequence)
{
    const struct config *config = &sequence->server->config;
    bool last = sequence->produced_tokens >= sequence->limit_tokens;

    if (!sequence->stream || (sequence->chunks < config->fault_after_chunks && !last))
        return false;
    if (sequence_has_fault(sequence, FAULT_RESET_MID_STREAM)) {
        stream_flush(sequence);
        finish_reset(sequence);
    } else if (sequence_has_fault(sequence, FAULT_ERROR_EVENT)) {
        stream_error(sequence);
        finish(sequence, OUTCOME_STREAM_ERROR);
    } else if (sequence_has_fault(sequence, FAULT_TRUNCATED)) {
        stream_end_body(sequence);
        finish(sequence, OUTCOME_TRUNCATED);
    } else {
        return false;
    }
    return true;
}

static void plan_next(struct sequence *sequence, int64_t due_ns)
{
    struct server *server = sequence->server;

    if (server->config.blast && connection_unsent_bytes(sequence->connection) > 0) {
        sequence->blocked = true;
        return;
    }
    due_ns = server->config.blast ? clock_monotonic_ns() : due_ns + ms_to_ns(step_ms(sequence));
    if (sequence_has_fault(sequence, FAULT_STALL_MID_STREAM)
        && sequence->chunks == server->config.fault_after_chunks)
        due_ns += ms_to_ns(server->config.stall_ms);
    timer_set(&server->timers, &sequence->step, due_ns);
}

static bool reader_is_gone_or_stuck(const struct connection *connection)
{
    return connection->broken || connection_unsent_bytes(connection) > UNSENT_LIMIT_BYTES;
}

static void step(void *owner)
{
    struct sequence *sequence = owner;
    int64_t due_ns = sequence->step.due_ns;

    __builtin_prefetch(sequence->head.data);
    __builtin_prefetch(sequence->record.times.offset_us + sequence->record.times.count);
    if (reader_is_gone_or_stuck(sequence->connection)) {
        connection_reset(sequence->connection);
        return;
    }
    produce(sequence);
    if (end_by_fault(sequence))
        return;
    if (sequence->produced_tokens < sequence->limit_tokens) {
        plan_next(sequence, due_ns);
        return;
    }
    stream_end(sequence);
    finish(sequence, OUTCOME_OK);
}

void model_unblock(struct sequence *sequence)
{
    if (!sequence->blocked)
        return;
    sequence->blocked = false;
    timer_set(&sequence->server->timers, &sequence->step, clock_monotonic_ns());
}

static void release_held(void *owner)
{
    struct sequence *sequence = owner;

    stream_flush(sequence);
    if (sequence->state == SEQUENCE_NEW)
        model_submit(sequence, clock_monotonic_ns());
}

struct sequence *model_sequence_create(struct connection *connection)
{
    struct sequence *sequence = memory_zeroed(1, sizeof *sequence);

    sequence->server = connection->server;
    sequence->connection = connection;
    sequence->step = (struct timer){ .fire = step, .owner = sequence };
    sequence->hold = (struct timer){ .fire = release_held, .owner = sequence };
    connection->sequence = sequence;
    return sequence;
}

void model_submit(struct sequence *sequence, int64_t now_ns)
{
    struct model *model = &sequence->server->model;

    if (TAILQ_EMPTY(&model->waiting) && fits(sequence->server, sequence)) {
        start(sequence, now_ns);
        return;
    }
    sequence->state = SEQUENCE_WAITING;
    TAILQ_INSERT_TAIL(&model->waiting, sequence, link);
    model->waiting_count++;
}

void model_submit_later(struct sequence *sequence, double delay_ms)
{
    timer_set(&sequence->server->timers, &sequence->hold,
              clock_monotonic_ns() + ms_to_ns(delay_ms));
}
