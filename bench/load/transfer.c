/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/transfer.h"

#include "base/core/clock.h"

/* If a server closes a connection later than this after an answer, we assume that the connection
 * was idle for too long. If it closes the connection sooner, it may have reached its limit on
 * requests per connection. */
#define SOON_NS 1000000000

bool transfer_create(const struct load *load, struct load_loop *loop,
                     const struct transfer_listener *listener, void *context, struct transfer **out,
                     struct error *error)
{
    if (transfer_plain_can(load))
        *out = transfer_plain_create(load, loop);
    else if (!transfer_curl_create(load, loop, out, error))
        return false;
    (*out)->loop = loop;
    (*out)->reuse = load->reuse;
    (*out)->listener = listener;
    (*out)->context = context;
    (*out)->connect_deadline_ns = INT64_MAX;
    return true;
}

void transfer_destroy(struct transfer *transfer)
{
    if (transfer != NULL)
        transfer->kind->destroy(transfer);
}

static bool is_used_up(const struct transfer *transfer)
{
    int limit = atomic_load_explicit(&transfer->reuse->limit, memory_order_relaxed);

    return limit > 0 && transfer->answers >= limit;
}

void transfer_note_answer(struct transfer *transfer)
{
    int most = atomic_load_explicit(&transfer->reuse->most, memory_order_relaxed);

    transfer->answers = transfer->is_new ? 1 : transfer->answers + 1;
    transfer->ended_ns = clock_monotonic_ns();
    while (most < transfer->answers
           && !atomic_compare_exchange_weak(&transfer->reuse->most, &most, transfer->answers))
        ;
}

void transfer_note_closed(struct transfer *transfer)
{
    if (transfer->answers >= atomic_load_explicit(&transfer->reuse->most, memory_order_relaxed)
        && clock_monotonic_ns() - transfer->ended_ns < SOON_NS)
        atomic_store_explicit(&transfer->reuse->limit, transfer->answers, memory_order_relaxed);
}

void transfer_begin(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh)
{
    transfer->is_new = transfer->went_stale = transfer->was_unread = false;
    transfer->connect_ns = transfer->tls_ns = 0;
    transfer->failure = FAILURE_NONE;
    transfer->failure_text[0] = '\0';
    transfer->kind->begin(transfer, prompt, is_fresh || is_used_up(transfer));
}

static void unqueue(struct transfer *transfer)
{
    TAILQ_REMOVE(&transfer->loop->ended, transfer, link);
    transfer->is_queued = false;
}

void transfer_end(struct transfer *transfer)
{
    if (transfer->is_queued)
        unqueue(transfer);
    transfer->kind->end(transfer);
}

void transfer_queue_ended(struct transfer *transfer)
{
    TAILQ_INSERT_TAIL(&transfer->loop->ended, transfer, link);
    transfer->is_queued = true;
}

struct transfer *transfer_take_ended(struct load_loop *loop)
{
    struct transfer *first = TAILQ_FIRST(&loop->ended);

    if (first == NULL)
        return transfer_curl_take_ended(loop);
    unqueue(first);
    return first;
}
