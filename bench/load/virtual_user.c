/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/virtual_user.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/core/clock.h"
#include "bench/load/request_outcome.h"
#include "bench/load/stream_events.h"

/* Sending on a connection that the server has closed fails within this time. */
#define STALE_NS 1000000000
#define LEFT_OPEN_NS 250000000 /* how long to wait for the end of the body after [DONE] */

/* ---- What an exchange reports ---------------------------------------------------------------- */

/* If the request is sent again on a new connection, its latencies count from then, unless the stale
 * connection delayed it by STALE_NS or more. */
static void on_send(void *context, int64_t now_ns)
{
    struct virtual_user *user = context;
    struct request *request = &user->request;
    bool was_sent = request->sent_ns != 0;

    if (!was_sent || now_ns - request->sent_ns < STALE_NS)
        request->sent_ns = now_ns;
    request->sends++;
    if (!was_sent)
        tally_sent(user->tally, now_ns);
}

static void on_event(void *context, const struct completion_event *event)
{
    struct virtual_user *user = context;

    stream_events_record(user->tally, &user->request, event);
    if (!event->done || user->done_ns != 0)
        return;
    user->done_ns = user->request.bytes_ns;
    if (user->is_busy)
        timer_heap_set(user->deadlines, &user->deadline, user->done_ns + LEFT_OPEN_NS);
}

static void on_head(void *context, long status, const char *content_type)
{
    struct virtual_user *user = context;
    struct request *request = &user->request;

    request->status = status;
    request->is_stream =
        status / 100 == 2 && strncasecmp(content_type, "text/event-stream", 17) == 0;
}

/* Keeps the start of an answer that is not a stream: it explains the failure. */
static void keep_text(struct request *request, const char *bytes, size_t length)
{
    size_t room = sizeof request->failure_text - 1 - request->failure_text_length;
    size_t count = length < room ? length : room;

    memcpy(request->failure_text + request->failure_text_length, bytes, count);
    request->failure_text_length += count;
    request->failure_text[request->failure_text_length] = '\0';
}

static bool on_bytes(void *context, const char *bytes, size_t length, int64_t now_ns)
{
    struct virtual_user *user = context;
    struct request *request = &user->request;

    if (load_in_window(user->load, now_ns))
        histogram_record(user->tally->lag, (uint64_t)(now_ns - user->loop->readable_ns));
    if (request->bytes_ns == 0 && request->status / 100 == 2) /* whatever its content type says */
        request->is_stream = request->is_stream || completion_stream_begins(bytes, length);
    request->bytes_ns = now_ns;
    if (!request->is_stream) {
        keep_text(request, bytes, length);
        return true;
    }
    if (completion_stream_feed(user->stream, bytes, length, on_event, user))
        return true;
    user->gave_up = true;
    return false;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static const struct transfer_listener listener = { on_send, on_head, on_bytes };

bool virtual_user_init(struct virtual_user *user, const struct load *load, struct tally *tally,
                       struct load_loop *loop, struct timer_heap *deadlines, struct error *error)
{
    *user =
        (struct virtual_user){ .load = load, .tally = tally, .loop = loop, .deadlines = deadlines };
    if (!transfer_create(load, loop, &listener, user, &user->transfer, error))
        return false;
    user->stream = completion_stream_create(false);
    return true;
}

void virtual_user_finish(struct virtual_user *user)
{
    transfer_destroy(user->transfer);
    completion_stream_destroy(user->stream);
    *user = (struct virtual_user){ 0 };
}

/* ---- One request ----------------------------------------------------------------------------- */

static void begin(struct virtual_user *user)
{
    user->gave_up = false;
    user->done_ns = 0;
    completion_stream_reset(user->stream);
    prompt_source_rewind(&user->prompt);
    transfer_begin(user->transfer, &user->prompt, user->request.sends > 0);
}

void virtual_user_begin(struct virtual_user *user, uint64_t index, bool is_probe, int64_t due_ns)
{
    uint64_t nonce = user->load->nonce;

    user->request = (struct request){ .index = index,
                                      .is_probe = is_probe,
                                      .due_ns = due_ns,
                                      .prompt_tokens = -1,
                                      .completion_tokens = -1,
                                      .cached_tokens = -1,
                                      .reasoning_tokens = -1 };
    request_id_write(nonce, index, user->transfer->request_id);
    prompt_source_make(user->load->prompts, index, &user->prompt);
    user->request.wanted = user->prompt.wanted;
    begin(user);
}

bool virtual_user_retry(struct virtual_user *user)
{
    if (!user->transfer->went_stale || user->request.sends != 1)
        return false;
    user->request.unread +=
        user->transfer->was_unread && clock_monotonic_ns() - user->request.sent_ns < STALE_NS;
    begin(user);
    return true;
}

int64_t virtual_user_deadline_ns(const struct virtual_user *user, enum failure *which)
{
    const struct load *load = user->load;
    const struct request *request = &user->request;
    int64_t next_ns, total_ns = request->sent_ns + load->request_timeout_ns;

    *which = FAILURE_NONE;
    if (user->done_ns != 0)
        return user->done_ns + LEFT_OPEN_NS;
    *which = FAILURE_CONNECT_TIMEOUT;
    if (request->sent_ns == 0)
        return user->transfer->connect_deadline_ns;
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

/* If an answer with an error status has no body, the status is all that can be shown. */
static void explain_bare_answer(struct request *request)
{
    if (request->bytes_ns == 0 && request->status != 0 && request->status / 100 != 2)
        snprintf(request->failure_text, sizeof request->failure_text,
                 "status %ld with an empty answer", request->status);
}

/* Some servers report 0 for what they do not count. A prompt never has 0 tokens, and neither does
 * an answer of which chunks have arrived. */
static void forget_zeros(struct request *request)
{
    if (request->prompt_tokens == 0)
        request->prompt_tokens = -1;
    if (request->completion_tokens == 0 && request->chunks > 0)
        request->completion_tokens = -1;
}

void virtual_user_end(struct virtual_user *user, enum failure cut)
{
    struct request *request = &user->request;
    int64_t now_ns = clock_monotonic_ns();

    explain_bare_answer(request);
    if (user->transfer->failure == FAILURE_NONE && request->is_stream && cut == FAILURE_NONE
        && !completion_stream_end(user->stream, on_event, user))
        user->gave_up = true;
    forget_zeros(request);
    if (cut != FAILURE_NONE)
        request->failure = cut;
    request->failure = request_outcome_classify(user);
    request->end_ns = request->failure == FAILURE_NONE ? request->bytes_ns : now_ns;
    request_outcome_explain(user);
    if (user->transfer->is_new)
        tally_connection(user->tally, user->transfer->connect_ns, user->transfer->tls_ns);
    tally_request(user->tally, request, now_ns);
}
