/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/probe_request.h"

#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "base/llm/completion_stream.h"
#include "base/net/mask.h"

#define TIMEOUT_MS 300000 /* a server that scales to zero loads its model first */
#define STREAM_PIECES 8
#define STREAM_TOKENS 2
#define SHAPE_TOKENS 24
/* The maximum time for all waits of one call together. Only a server that says when to retry is
 * waited for. */
#define WAIT_LIMIT_S 120
#define STOP_CHECK_NS 100000000L

/* One call, and what its callbacks have seen of the answer. */
struct call {
    const struct asker *asker;
    struct completion_stream *stream; /* NULL: no stream is requested */
    bool broken, silent, reports_usage, reported_error, ended_by_model;
    int64_t event_ns; /* monotonic time of the latest event, or of the latest request's start */
    int64_t waited_s; /* time spent waiting because the server asked for it */
    int64_t events, chunks, reported_chunks, tokens;
    char failure_text[240];
};

static bool is_stopped(void *context)
{
    const struct call *call = context;

    return call->asker->stopped(call->asker->context);
}

static void on_event(void *context, const struct completion_event *event)
{
    struct call *call = context;
    TEXT_AUTO shown = { 0 };

    call->events++;
    call->event_ns = clock_monotonic_ns();
    if (event->has_usage && event->completion_tokens > 0) {
        call->reports_usage = true;
        call->tokens = event->completion_tokens;
    }
    if (event->has_finish)
        call->ended_by_model = strcmp(event->finish, "length") != 0;
    if (completion_event_has_output(event)) {
        call->chunks++;
        call->reported_chunks += event->token_ids > 0 || event->completion_tokens > 0;
    }
    if (!event->error || call->reported_error)
        return;
    call->reported_error = true;
    text_add_printable(&shown, event->text, event->text_length, sizeof call->failure_text - 1);
    text_copy(call->failure_text, sizeof call->failure_text, text_string(&shown));
}

static bool on_bytes(void *context, const char *bytes, size_t length)
{
    struct call *call = context;
    int64_t limit_ns = call->asker->silence_limit_ms * 1000000;

    call->broken = !completion_stream_feed(call->stream, bytes, length, on_event, call);
    call->silent = limit_ns > 0 && clock_monotonic_ns() - call->event_ns > limit_ns;
    return !call->broken && !call->silent;
}

/* If the server asked for a retry, and all waits of the call together stay within WAIT_LIMIT_S,
 * waits as long as the server asked (at least a second) and returns true. Otherwise returns false:
 * with CANCELLED if the caller stopped the wait, else without changing the error. */
static CHECKED bool wait_to_repeat(struct call *call, const struct outbound_response *response,
                                   struct error *error)
{
    const struct timespec pause = { .tv_nsec = STOP_CHECK_NS };
    int64_t wait_s = response->retry_after_s > 0 ? response->retry_after_s : 1;
    int64_t until_ns;

    if ((response->status != 429 && response->status != 503) || response->retry_after_s < 0
        || wait_s > WAIT_LIMIT_S - call->waited_s)
        return false;
    call->waited_s += wait_s;
    until_ns = clock_monotonic_ns() + wait_s * 1000000000;
    while (clock_monotonic_ns() < until_ns) {
        if (is_stopped(call))
            return error_set(error, ERROR_CANCELLED, "cancelled while waiting to retry");
        nanosleep(&pause, NULL);
    }
    return true;
}

static CHECKED bool perform_once(struct call *call, const char *path, const struct text *body,
                                 struct outbound_response *response, struct error *error)
{
    const struct endpoint *endpoint = call->asker->endpoint;
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s%s", endpoint->url, path);
    const struct outbound_request request = {
        .url = url.data,
        .bearer = endpoint->bearer[0] != '\0' ? endpoint->bearer : NULL,
        .servers = endpoint->servers,
        .tls = endpoint_tls(endpoint),
        .body = body->data,
        .body_length = body->length,
        .accept = call->stream != NULL ? "text/event-stream" : NULL,
        .total_timeout_ms = TIMEOUT_MS,
        .idle_timeout_ms = call->stream != NULL ? call->asker->silence_limit_ms : 0,
        .cancelled = is_stopped,
        .on_bytes = call->stream != NULL ? on_bytes : NULL,
        .context = call,
    };
    call->event_ns = clock_monotonic_ns();
    return outbound_perform(&request, response, error);
}

/* Sends the request, and repeats it if the server, or a gateway with a rate limit, asks for a retry
 * within WAIT_LIMIT_S. */
static CHECKED bool perform(struct call *call, const char *path, const struct text *body,
                            struct outbound_response *response, struct error *error)
{
    while (!perform_once(call, path, body, response, error)) {
        if (!wait_to_repeat(call, response, error))
            return false;
        outbound_response_finish(response);
    }
    return true;
}

bool probe_request_post(const struct asker *asker, const char *path, const struct text *body,
                        struct outbound_response *response, struct error *error)
{
    struct call call = { .asker = asker };

    return perform(&call, path, body, response, error);
}

static void write_request(const struct asker *asker, const struct workload *workload,
                          const size_t *which, size_t count, int64_t output_tokens, bool stream,
                          struct text *out)
{
    char limits[WORKLOAD_LIMITS_SIZE];

    workload_open(workload, asker->endpoint->model, stream, out);
    text_add_bytes(out, limits, workload_limits(workload, output_tokens, 1, limits));
    text_add(out, workload_lead(workload));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 || workload->form == PROMPT_WORDS)
            text_add_char(out, workload_separator(workload));
        text_add(out, workload->pieces[which != NULL ? which[i] : i % workload->piece_count]);
    }
    text_add(out, workload_close(workload));
}

static void on_count(void *context, const struct completion_event *event)
{
    int64_t *tokens = context;

    if (event->has_usage && event->prompt_tokens > 0)
        *tokens = event->prompt_tokens;
}

/* Some servers stream even if no stream was requested. */
static bool read_streamed_count(const struct text *body, int64_t *tokens)
{
    struct completion_stream *stream = completion_stream_create(true);
    bool read = completion_stream_feed(stream, body->data, body->length, on_count, tokens)
                && completion_stream_end(stream, on_count, tokens);

    completion_stream_destroy(stream);
    return read;
}

static CHECKED bool read_count(const struct outbound_response *response, int64_t *tokens,
                               struct error *error)
{
    json_auto_t *json = NULL;
    const json_t *usage;

    *tokens = -1;
    if (completion_stream_begins(response->body.data, response->body.length)
        && read_streamed_count(&response->body, tokens))
        return true;
    if (!json_parse(text_string(&response->body), response->body.length, &json, error))
        return error_set(error, ERROR_UPSTREAM,
                         "the server's answer to a completion request is not JSON: %s",
                         error->message);
    usage = json_object_get(json, "usage");
    if (json_get_integer(usage, "prompt_tokens", 0) > 0)
        *tokens = json_get_integer(usage, "prompt_tokens", -1);
    return true;
}

bool probe_request_count(const struct asker *asker, const struct workload *workload,
                         const size_t *which, size_t count, int64_t *tokens, long *status,
                         struct error *error)
{
    struct outbound_response response = { 0 };
    TEXT_AUTO body = { 0 };
    bool done;

    write_request(asker, workload, which, count, 1, false, &body);
    done = probe_request_post(asker, workload_path(workload->api), &body, &response, error);
    *status = response.status;
    done = done && read_count(&response, tokens, error);
    outbound_response_finish(&response);
    return done;
}

/* Sets the error and returns false if the answer was not a stream of events, contained an error, or
 * fell silent. */
static CHECKED bool judge_stream(const struct call *call, const struct outbound_response *response,
                                 struct error *error)
{
    if (call->reported_error)
        return error_set(error, ERROR_UPSTREAM, "the server sent an error inside its stream: %s",
                         call->failure_text);
    if (call->silent)
        return error_set(error, ERROR_TIMEOUT,
                         "the server's stream had only comments, and no event, for more than %g s "
                         "(events before that: %ld)",
                         (double)call->asker->silence_limit_ms / 1e3, call->events);
    if (call->broken || call->events == 0)
        return error_set(error, ERROR_UPSTREAM,
                         "the server's answer to a streaming request is not a readable stream of "
                         "events (its content type is '%s')",
                         response->content_type);
    return true;
}

/* Requests a streamed answer of at most output_tokens to a prompt of `pieces` pieces. The callbacks
 * set the members of *call. */
static CHECKED bool stream(struct call *call, const struct workload *workload, size_t pieces,
                           int64_t output_tokens, long *status, struct error *error)
{
    const struct asker *asker = call->asker;
    MASK_AUTO mask = mask_create(asker->endpoint->bearer);
    struct outbound_response response = { 0 };
    TEXT_AUTO body = { 0 };
    bool done;

    call->stream = completion_stream_create(false);
    write_request(asker, workload, NULL, pieces, output_tokens, true, &body);
    done = perform(call, workload_path(workload->api), &body, &response, error) || call->broken
           || call->silent;
    *status = response.status;
    mask_string(mask, MASK_FAILURE, call->failure_text, sizeof call->failure_text);
    done = done && judge_stream(call, &response, error);
    completion_stream_destroy(call->stream);
    outbound_response_finish(&response);
    return done;
}

bool probe_request_stream(const struct asker *asker, const struct workload *workload,
                          bool *reports_usage, long *status, struct error *error)
{
    struct call call = { .asker = asker };

    if (!stream(&call, workload, STREAM_PIECES, STREAM_TOKENS, status, error))
        return false;
    *reports_usage = call.reports_usage;
    return true;
}

bool probe_request_shape(const struct asker *asker, const struct workload *workload,
                         struct stream_shape *out, long *status, struct error *error)
{
    struct call call = { .asker = asker, .tokens = -1 };

    if (!stream(&call, workload, STREAM_PIECES, SHAPE_TOKENS, status, error))
        return false;
    *out = (struct stream_shape){ .chunks = call.chunks,
                                  .tokens = call.tokens,
                                  .reports_chunk_tokens = call.reported_chunks == call.chunks };
    return true;
}

bool probe_request_ending(const struct asker *asker, const struct workload *workload, size_t pieces,
                          int64_t output_tokens, struct stream_ending *out, long *status,
                          struct error *error)
{
    struct call call = { .asker = asker, .tokens = -1 };

    if (!stream(&call, workload, pieces, output_tokens, status, error))
        return false;
    *out = (struct stream_ending){ .tokens = call.tokens >= 0 ? call.tokens : call.chunks,
                                   .by_model = call.ended_by_model };
    return true;
}
