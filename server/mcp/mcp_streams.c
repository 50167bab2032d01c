/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of sessions: the streams of calls, and the long-lived stream that GET opens. A client
 * can resume both kinds if the session's revision of MCP numbers their events. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/rate_limit.h"
#include "server/http/exchange.h"
#include "server/mcp/mcp.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/protocol.h"
#include "server/streams/session.h"
#include "server/streams/stream.h"
#include "store/ledger/events.h"

/* ---- Streams of calls ---- */

/* how many bytes a call's stream costs its principal, in addition to its messages */
#define CALL_BYTES 1024

static void create_stream_id(char out[STREAM_ID_SIZE])
{
    uint64_t number;

    random_bytes(&number, sizeof number);
    snprintf(out, STREAM_ID_SIZE, "%016" PRIx64, number);
}

/* While a principal has used up its storage, the streams of its new calls cannot be resumed. */
static bool may_keep(const struct rpc *rpc)
{
    int64_t ignored_ms;

    return session_keeps_streams(rpc->session)
           && rate_limit_spend_many(rpc->server->kept_bytes, rpc->session->principal, CALL_BYTES,
                                    clock_monotonic_ns(), &ignored_ms);
}

void mcp_streams_keep(struct rpc *rpc)
{
    struct store *store = rpc->server->services->store;
    struct stream *stream = rpc->stream;
    char id[STREAM_ID_SIZE];
    struct error error;

    if (!may_keep(rpc))
        return;
    create_stream_id(id);
    stream_keep(stream, store, rpc->session->id, id, 0);
    stream_limit(stream, rpc->server->kept_bytes, rpc->session->principal);
    session_add_stream(rpc->session, stream);
    if (!event_call_begin(store, rpc->session->id, id, rpc->id, rpc->exchange->id, clock_utc_ms(),
                          &error))
        log_warning("%s: the call's stream will not survive a restart: %s", rpc->exchange->id,
                    error.message);
    if (session_primes_streams(rpc->session))
        stream_prime(stream);
}

void mcp_streams_end(struct rpc *rpc)
{
    const struct stream *stream = rpc->stream;
    const char *id = stream_id(stream);
    struct error error;

    if (id[0] == '\0')
        return;
    if (!event_call_end(rpc->server->services->store, rpc->session->id, id, clock_utc_ms(), &error))
        log_warning("%s: the end of the call's stream is not stored: %s", rpc->exchange->id,
                    error.message);
    session_remove_stream(rpc->session, stream);
}

/* ---- Resuming ---- */

/* The largest sequence number that is accepted in an event's id. No stream reaches this number, and
 * numbering could still continue after it. */
#define SEQUENCE_LIMIT (INT64_C(1) << 53)

/* A GET that needs the store: a worker resumes the stream, then the loop's thread begins the
 * answer. */
struct stream_request {
    struct session *session; /* a reference */
    char stream_id[STREAM_ID_SIZE];
    int64_t after; /* the number of the last event that the client has */
    struct sse_queue *sse_queue;
    bool resumed;
    bool complete; /* the stream has ended, and the client has all its events */
};

static void stream_request_free(void *context)
{
    struct stream_request *stream_request = context;

    session_release(stream_request->session);
    free(stream_request);
}

static bool is_session_stream(const struct stream_request *stream_request)
{
    return strcmp(stream_request->stream_id, SESSION_STREAM_ID) == 0;
}

/* Reads the id of an event: "<stream>_<sequence>". */
static bool read_event_id(const char *id, struct stream_request *out)
{
    size_t length = strspn(id, "0123456789abcdef");

    if (length == 0 || length >= sizeof out->stream_id || id[length] != '_'
        || !text_to_integer(id + length + 1, 0, SEQUENCE_LIMIT, &out->after))
        return false;
    memcpy(out->stream_id, id, length);
    return true;
}

/* Answers a call that was lost because the server process that ran it ended. */
static void answer_lost(struct store *store, struct stream *stream,
                        const struct stream_request *stream_request, const struct event_call *call)
{
    struct rpc rpc = { .id = call->message_id };
    TEXT_AUTO json = { 0 };
    char job[ID_SIZE] = "";
    struct error error;

    if (!event_call_job(store, call, job, &error))
        log_warning("the job of the lost call %s cannot be read: %s", call->request_id,
                    error.message);
    rpc_fail(&rpc, RPC_INTERNAL, 200, "outcome unknown: the server restarted; see %s%s",
             job[0] != '\0' ? "job " : "job_list and audit_list", job);
    rpc_write(&rpc, &json);
    stream_push(stream, text_string(&json), json.length);
    if (!event_call_end(store, stream_request->session->id, stream_request->stream_id,
                        clock_utc_ms(), &error))
        log_warning("the lost call %s cannot be marked as answered: %s", call->request_id,
                    error.message);
}

static CHECKED bool resume(struct stream *stream, struct stream_request *stream_request,
                           struct error *error)
{
    stream_request->complete =
        !stream_is_open(stream) && stream_sequence(stream) == stream_request->after;
    return !stream_request->complete
           && stream_resume(stream, stream_request->after, stream_request->sse_queue, error);
}

/* Resumes the stream of a call that is no longer running, from the store. A call whose end is not
 * stored counts as lost. */
static CHECKED bool revive(struct store *store, struct stream_request *stream_request,
                           const struct event_call *call, struct error *error)
{
    const char *session = stream_request->session->id;
    struct stream *stream = stream_create(NULL);
    int64_t last = call->sequence;
    bool resumed;

    if (call->ended_ms == 0 && last < stream_request->after)
        last = stream_request->after; /* the client received events that were not stored */
    stream_keep(stream, store, session, stream_request->stream_id, last);
    if (call->ended_ms == 0)
        answer_lost(store, stream, stream_request, call);
    stream_end(stream);
    resumed = resume(stream, stream_request, error);
    stream_release(stream);
    return resumed;
}

static CHECKED bool resume_call(struct store *store, struct stream_request *stream_request,
                                struct error *error)
{
    struct stream *running =
        session_find_stream(stream_request->session, stream_request->stream_id);
    struct event_call call = { 0 };
    bool found, resumed;

    if (running != NULL) {
        resumed = resume(running, stream_request, error);
        stream_release(running);
        return resumed;
    }
    if (!event_call_find(store, stream_request->session->id, stream_request->stream_id, &call,
                         &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND, "there is no such event in this session");
    resumed = revive(store, stream_request, &call, error);
    free(call.message_id);
    return resumed;
}

static void refuse(struct exchange *exchange, const struct error *error)
{
    if (error->kind == ERROR_NOT_FOUND) {
        mcp_refuse(exchange, 400, RPC_REFUSED, "Last-Event-ID: %s", error->message);
        return;
    }
    exchange_refuse_fault(exchange, "resuming a stream", error);
}

/* On a worker. */
static void run_resume(struct exchange *exchange)
{
    const struct mcp_server *server = exchange->context;
    struct stream_request *stream_request = exchange->request;
    struct error error;

    stream_request->sse_queue = sse_queue_create(exchange->loop, exchange_wake, exchange);
    if (is_session_stream(stream_request))
        stream_request->resumed = session_resume(stream_request->session, stream_request->after,
                                                 stream_request->sse_queue, &error);
    else
        stream_request->resumed = resume_call(server->services->store, stream_request, &error);
    /* If the client already has all events of the stream, the answer is 204: after a stream without
     * events, clients would reconnect again and again. */
    if (stream_request->complete)
        exchange_reply(exchange, 204, NULL, NULL);
    else if (!stream_request->resumed)
        refuse(exchange, &error);
}

static void release_session(void *session)
{
    session_release(session);
}

static void note_received(void *session, int64_t sequence)
{
    session_note_received(session, sequence);
}

/* Makes the exchange carry the session's long-lived stream. */
static void carry(struct exchange *exchange, struct session *session)
{
    exchange->long_lived = true;
    exchange_carry_take(exchange, &(struct exchange_carried){ .owner = session_retain(session),
                                                              .release = release_session,
                                                              .received = note_received });
}

/* On the loop's thread. An SSE comment is sent at once, so that the headers go out immediately. */
static void begin_resumed(struct exchange *exchange)
{
    struct stream_request *stream_request = exchange->request;

    if (!stream_request->resumed) {
        sse_queue_close(stream_request->sse_queue);
        sse_queue_release(stream_request->sse_queue);
        return;
    }
    sse_queue_put_comment(stream_request->sse_queue);
    exchange_take_queue(exchange, stream_request->sse_queue);
    if (is_session_stream(stream_request))
        carry(exchange, stream_request->session);
}

static void submit(struct exchange *exchange, const struct stream_request *wanted)
{
    const struct mcp_server *server = exchange->context;
    struct stream_request *stream_request = memory_zeroed(1, sizeof *stream_request);
    struct error error;

    *stream_request = *wanted;
    session_retain(stream_request->session);
    exchange->request = stream_request;
    exchange->request_finish = stream_request_free;
    exchange->worked = begin_resumed;
    if (!exchange_submit(exchange, server->workers, run_resume, &error)) {
        exchange_add_header(exchange, "Retry-After", "1");
        mcp_refuse(exchange, exchange->over_limit ? 429 : 503, RPC_REFUSED, "%s", error.message);
    }
}

/* ---- GET ---- */

/* Begins the long-lived stream. False: stored events after `last` must be sent first. */
static bool begin_session_stream(struct exchange *exchange, struct session *session, int64_t last)
{
    struct sse_queue *sse_queue = exchange_begin_stream(exchange);

    carry(exchange, session);
    if (!session_attach(session, last, sse_queue)) {
        exchange_drop_stream(exchange);
        return false;
    }
    if (session_primes_streams(session))
        stream_prime(session->stream);
    else
        sse_queue_put_comment(sse_queue);
    return true;
}

static void serve_get(struct exchange *exchange, struct session *session)
{
    const char *last = exchange->headers.last_event;
    struct stream_request stream_request = { .session = session, .stream_id = SESSION_STREAM_ID };

    if (last != NULL && last[0] != '\0') {
        if (session_keeps_streams(session) && read_event_id(last, &stream_request))
            submit(exchange, &stream_request);
        else
            mcp_refuse(exchange, 400, RPC_REFUSED, "Last-Event-ID \"%.60s\" is not valid", last);
        return;
    }
    stream_request.after = stream_received(session->stream);
    if (!begin_session_stream(exchange, session, stream_request.after))
        submit(exchange, &stream_request);
}

void mcp_get(struct exchange *exchange)
{
    struct session *session;

    if (mcp_legacy_refuse_modern(exchange))
        return;
    if (exchange->headers.has_accept && !exchange->headers.accepts_events) {
        mcp_refuse(exchange, 406, RPC_REFUSED, "Accept must name text/event-stream");
        return;
    }
    if (atomic_load(&exchange->loop->draining)) {
        mcp_refuse(exchange, 503, RPC_REFUSED, SERVER_STOPPING);
        return;
    }
    session = mcp_legacy_session(exchange);
    if (session == NULL)
        return;
    serve_get(exchange, session);
    session_release(session);
}
