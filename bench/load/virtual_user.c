/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/virtual_user.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/core/clock.h"
#include "bench/load/request_outcome.h"
#include "bench/load/stream_events.h"

#define STALE_NS 1000000000    /* so that a connection that was closed earlier is noticed sooner */
#define LEFT_OPEN_NS 250000000 /* how long to wait for the end of the body after [DONE] */

/* ---- What an exchange reports ---- */

/* If the request is sent again on a new connection, its time counts from then, unless the stale
 * connection delayed the user. */
static void on_send(void *context, int64_t now_ns)
{
    struct virtual_user *connection = context;
    struct request *request = &connection->request;
    bool was_sent = request->sent_ns != 0;

    if (!was_sent || now_ns - request->sent_ns < STALE_NS)
        request->sent_ns = now_ns;
    request->sends++;
    if (!was_sent)
        tally_sent(connection->tally, now_ns);
}

static void on_event(void *context, const struct completion_event *event)
{
    struct virtual_user *connection = context;

    stream_events_take(connection->tally, &connection->request, event);
    if (!event->done || connection->done_ns != 0)
        return;
    connection->done_ns = connection->request.bytes_ns;
    if (connection->is_busy)
        timer_heap_set(connection->deadlines, &connection->deadline,
                       connection->done_ns + LEFT_OPEN_NS);
}

static void on_head(void *context, long status, const char *content_type)
{
    struct virtual_user *connection = context;
    struct request *request = &connection->request;

    request->status = status;
    request->is_stream =
        status / 100 == 2 && strncasecmp(content_type, "text/event-stream", 17) == 0;
}

/* Keeps the start of an answer that is not a stream, for the message. */
static void keep(struct request *request, const char *bytes, size_t length)
{
    size_t room = sizeof request->failure_text - 1 - request->failure_text_length;
    size_t count = length < room ? length : room;

    memcpy(request->failure_text + request->failure_text_length, bytes, count);
    request->failure_text_length += count;
    request->failure_text[request->failure_text_length] = '\0';
}

static bool on_bytes(void *context, const char *bytes, size_t length, int64_t now_ns)
{
    struct virtual_user *connection = context;
    struct request *request = &connection->request;

    if (load_in_window(connection->load, now_ns))
        histogram_record(connection->tally->lag,
                         (uint64_t)(now_ns - connection->loop->readable_ns));
    if (request->bytes_ns == 0 && request->status / 100 == 2) /* whatever its content type says */
        request->is_stream = request->is_stream || completion_stream_begins(bytes, length);
    request->bytes_ns = now_ns;
    if (!request->is_stream) {
        keep(request, bytes, length);
        return true;
    }
    if (completion_stream_feed(connection->stream, bytes, length, on_event, connection))
        return true;
    connection->gave_up = true;
    return false;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static const struct transfer_listener listener = { on_send, on_head, on_bytes };

bool virtual_user_init(struct virtual_user *connection, const struct load *load,
                       struct tally *tally, struct load_loop *loop, struct timer_heap *deadlines,
                       struct error *error)
{
    *connection =
        (struct virtual_user){ .load = load, .tally = tally, .loop = loop, .deadlines = deadlines };
    if (!transfer_create(load, loop, &listener, connection, &connection->transfer, error))
        return false;
    connection->stream = completion_stream_create(false);
    return true;
}

void virtual_user_finish(struct virtual_user *connection)
{
    transfer_destroy(connection->transfer);
    completion_stream_destroy(connection->stream);
    *connection = (struct virtual_user){ 0 };
}

/* ---- One request ----------------------------------------------------------------------------- */

static void begin(struct virtual_user *connection)
{
    connection->gave_up = false;
    connection->done_ns = 0;
    completion_stream_reset(connection->stream);
    prompt_source_rewind(&connection->prompt);
    transfer_begin(connection->transfer, &connection->prompt, connection->request.sends > 0);
}

void virtual_user_begin(struct virtual_user *connection, uint64_t index, bool is_probe,
                        int64_t due_ns)
{
    uint64_t nonce = connection->load->nonce;

    connection->request = (struct request){ .index = index,
                                            .is_probe = is_probe,
                                            .due_ns = due_ns,
                                            .prompt_tokens = -1,
                                            .completion_tokens = -1,
                                            .cached_tokens = -1,
                                            .reasoning_tokens = -1 };
    request_id_write(nonce, index, connection->transfer->request_id);
    prompt_source_make(connection->load->prompts, index, &connection->prompt);
    connection->request.wanted = connection->prompt.wanted;
    begin(connection);
}

bool virtual_user_retry(struct virtual_user *connection)
{
    if (!connection->transfer->went_stale || connection->request.sends != 1)
        return false;
    connection->request.unread += connection->transfer->was_unread
                                  && clock_monotonic_ns() - connection->request.sent_ns < STALE_NS;
    begin(connection);
    return true;
}

int64_t virtual_user_deadline_ns(const struct virtual_user *connection, enum failure *which)
{
    const struct load *load = connection->load;
    const struct request *request = &connection->request;
    int64_t next_ns, total_ns = request->sent_ns + load->request_timeout_ns;

    *which = FAILURE_NONE;
    if (connection->done_ns != 0)
        return connection->done_ns + LEFT_OPEN_NS;
    *which = FAILURE_CONNECT_TIMEOUT;
    if (request->sent_ns == 0)
        return connection->transfer->reach_ns;
    *which = FAILURE_TTFT_TIMEOUT;
    next_ns = request->sent_ns + load->ttft_timeout_ns;
    if (request->first_ns != 0) {
        *which = FAILURE_IDLE_TIMEOUT;
        next_ns = request->bytes_ns + load->idle_timeout_ns;
    }
    if (total_ns < next_ns)
        *which = FAILURE_TOTAL_TIMEOUT;
    return total_ns < next_ns ? total_ns : next_ns;
}

/* If an answer has no body, its status is all that can be shown. */
static void explain_bare_answer(struct request *request)
{
    if (request->bytes_ns == 0 && request->status != 0 && request->status / 100 != 2)
        snprintf(request->failure_text, sizeof request->failure_text,
                 "status %ld with an empty answer", request->status);
}

/* Some servers fill in zeros. No prompt has 0 tokens, and no received output has. */
static void forget_zeros(struct request *request)
{
    if (request->prompt_tokens == 0)
        request->prompt_tokens = -1;
    if (request->completion_tokens == 0 && request->chunks > 0)
        request->completion_tokens = -1;
}

void virtual_user_end(struct virtual_user *connection, enum failure cut)
{
    struct request *request = &connection->request;
    int64_t now_ns = clock_monotonic_ns();

    explain_bare_answer(request);
    if (connection->transfer->failure == FAILURE_NONE && request->is_stream && cut == FAILURE_NONE
        && !completion_stream_end(connection->stream, on_event, connection))
        connection->gave_up = true;
    forget_zeros(request);
    if (cut != FAILURE_NONE)
        request->failure = cut;
    request->failure = request_outcome_reach(connection);
    request->end_ns = request->failure == FAILURE_NONE ? request->bytes_ns : now_ns;
    request_outcome_explain(connection);
    if (connection->transfer->is_new)
        tally_connection(connection->tally, connection->transfer->connect_ns,
                         connection->transfer->tls_ns);
    tally_request(connection->tally, request, now_ns);
}
