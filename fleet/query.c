/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/query.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "base/llm/completion_stream.h"
#include "base/net/mask.h"
#include "base/net/outbound.h"
#include "fleet/query_body.h"
#include "fleet/utf8_stream.h"

#define TEXT_LIMIT_BYTES (1 << 20)
#define ANSWER_LIMIT_BYTES (64 << 20)
#define CONNECT_TIMEOUT_MS 10000
#define SHOWN_BYTES 240

/* A request and its answer while they are in progress. */
struct exchange {
    const struct query *query;
    struct query_result *result;
    struct mask *mask; /* hides the endpoint's secret */
    struct outbound_response response;
    struct completion_stream *stream;
    struct utf8_stream text, reasoning;
    struct text plain; /* an answer in one piece, although a stream was requested */
    /* the message of an error inside the answer, or how an answer without a completion begins */
    struct text complaint;
    bool is_plain;
    bool done;             /* the stream's end mark arrived */
    bool finished;         /* a finish reason arrived, or a complete answer in one piece */
    bool broken;           /* the answer is not a stream of JSON events */
    size_t reported_bytes; /* how many bytes of result->text have been passed to on_text */
    /* why we gave up, or the error that the answer reports; FAILURE_NONE: neither */
    enum failure stopped;
    int64_t first_ns; /* when the first token of a stream arrived (monotonic); 0: none yet */
    int64_t last_ns;  /* when the latest bytes arrived (monotonic); 0: none yet */
};

/* ---- What arrives ---- */

/* Passes on the new text. Bytes that could be the beginning of the secret are held back until more
 * bytes arrive. */
static void report_text(struct exchange *exchange, bool is_end)
{
    const struct query *query = exchange->query;
    const char *unreported = text_string(&exchange->result->text) + exchange->reported_bytes;
    size_t length = exchange->result->text.length - exchange->reported_bytes;
    TEXT_AUTO shown = { 0 };

    if (query->on_text == NULL)
        return;
    if (!is_end)
        length = mask_safe_length(exchange->mask, unreported, length);
    text_add_bytes(&shown, unreported, length);
    mask_text(exchange->mask, MASK_ANSWER, false, &shown);
    query->on_text(query->context, text_string(&shown), shown.length, exchange->result->chunks);
    exchange->reported_bytes += length;
}

static void add_text(struct exchange *exchange, const char *text, size_t length,
                     const char *reasoning, size_t reasoning_length)
{
    struct query_result *result = exchange->result;

    utf8_stream_add(&exchange->text, text, length, &result->text, TEXT_LIMIT_BYTES);
    utf8_stream_add(&exchange->reasoning, reasoning, reasoning_length, &result->reasoning,
                    TEXT_LIMIT_BYTES);
    report_text(exchange, false);
}

static void end_texts(struct exchange *exchange)
{
    struct query_result *result = exchange->result;

    utf8_stream_end(&exchange->text, &result->text, TEXT_LIMIT_BYTES);
    utf8_stream_end(&exchange->reasoning, &result->reasoning, TEXT_LIMIT_BYTES);
    if (result->text.length > exchange->reported_bytes)
        report_text(exchange, true);
}

/* Ignores 0, which servers report if they do not count tokens. */
static void set_usage(struct query_result *result, int64_t prompt_tokens, int64_t completion_tokens)
{
    if (prompt_tokens > 0)
        result->prompt_tokens = prompt_tokens;
    if (completion_tokens > 0)
        result->completion_tokens = completion_tokens;
}

static void set_complaint(struct exchange *exchange, const char *bytes, size_t length)
{
    TEXT_AUTO words = { 0 };

    text_add_bytes(&words, bytes, length);
    mask_text(exchange->mask, MASK_FAILURE, false, &words);
    text_clear(&exchange->complaint);
    text_add_printable(&exchange->complaint, text_string(&words), words.length, SHOWN_BYTES);
}

static void on_event(void *context, const struct completion_event *event)
{
    struct exchange *exchange = context;
    struct query_result *result = exchange->result;

    if (event->error) {
        set_complaint(exchange, event->text, event->text_length);
        exchange->stopped = failure_in_stream(event->text, event->text_length);
        return;
    }
    if (completion_event_has_output(event)) {
        result->chunks++;
        if (exchange->first_ns == 0)
            exchange->first_ns = exchange->last_ns;
        add_text(exchange, event->text, event->text_length, event->reasoning,
                 event->reasoning_length);
    }
    if (event->has_finish) {
        text_copy(result->finish, sizeof result->finish, event->finish);
        exchange->finished = true;
    }
    if (event->has_usage)
        set_usage(result, event->prompt_tokens, event->completion_tokens);
    exchange->done |= event->done;
}

static bool is_plain_json(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\r\n", bytes[i]) == NULL || bytes[i] == '\0')
            return bytes[i] == '{';
    return false;
}

/* Returns false to end the transfer when nothing of interest can follow. */
static bool on_bytes(void *context, const char *bytes, size_t length)
{
    struct exchange *exchange = context;

    if (exchange->last_ns == 0)
        exchange->is_plain = is_plain_json(bytes, length);
    exchange->last_ns = clock_monotonic_ns();
    if (exchange->is_plain) {
        text_add_bytes(&exchange->plain, bytes, length);
        return true;
    }
    exchange->broken = !completion_stream_feed(exchange->stream, bytes, length, on_event, exchange);
    return !exchange->broken && !exchange->done && exchange->stopped == FAILURE_NONE;
}

static bool is_over(int64_t since_ns, int64_t limit_ms)
{
    return since_ns > 0 && limit_ms > 0 && clock_monotonic_ns() - since_ns > limit_ms * 1000000;
}

static bool must_stop(void *context)
{
    struct exchange *exchange = context;
    const struct query *query = exchange->query;

    if (query->cancelled != NULL && query->cancelled(query->context))
        exchange->stopped = FAILURE_CANCELLED;
    else if (exchange->first_ns == 0 && is_over(exchange->response.sent_ns, query->ttft_timeout_ms))
        exchange->stopped = FAILURE_TTFT_TIMEOUT;
    else if (exchange->first_ns > 0 && is_over(exchange->last_ns, query->idle_timeout_ms))
        exchange->stopped = FAILURE_IDLE_TIMEOUT;
    return exchange->stopped != FAILURE_NONE;
}

/* ---- An answer in one piece ---- */

static void read_choice(struct exchange *exchange, const json_t *choice)
{
    const json_t *message = json_object_get(choice, "message");
    const char *text = json_get_text(message, "content", json_get_text(choice, "text", ""));
    const char *reasoning =
        json_get_text(message, "reasoning", json_get_text(message, "reasoning_content", ""));

    exchange->result->chunks = text[0] != '\0' || reasoning[0] != '\0';
    add_text(exchange, text, strlen(text), reasoning, strlen(reasoning));
    text_copy(exchange->result->finish, sizeof exchange->result->finish,
              json_get_text(choice, "finish_reason", ""));
}

static CHECKED bool read_plain_answer(struct exchange *exchange, struct error *error)
{
    struct query_result *result = exchange->result;
    json_auto_t *answer = NULL;
    struct error problem;
    const json_t *choice, *usage;

    mask_text(exchange->mask, MASK_ANSWER, false, &exchange->plain);
    if (!json_parse(text_string(&exchange->plain), exchange->plain.length, &answer, &problem))
        return error_set(error, ERROR_UPSTREAM, "the answer is neither a stream nor JSON: %s",
                         problem.message);
    choice = json_array_get(json_object_get(answer, "choices"), 0);
    if (!json_is_object(choice)) {
        set_complaint(exchange, exchange->plain.data, exchange->plain.length);
        return error_set(error, ERROR_UPSTREAM, "the answer has no completion: %s",
                         text_string(&exchange->complaint));
    }
    usage = json_object_get(answer, "usage");
    set_usage(result, json_get_integer(usage, "prompt_tokens", -1),
              json_get_integer(usage, "completion_tokens", -1));
    text_copy(result->model, sizeof result->model, json_get_text(answer, "model", result->model));
    read_choice(exchange, choice);
    exchange->finished = true;
    return true;
}

/* ---- How the exchange ended ---- */

static CHECKED bool fail(struct query_result *result, enum failure failure, struct error *error,
                         enum error_kind kind, const char *sentence)
{
    result->failure = failure;
    return error_set(error, kind, "%s (%s)", sentence, failure_name(failure));
}

static CHECKED bool explain_stop(struct exchange *exchange, struct error *error)
{
    struct query_result *result = exchange->result;
    TEXT_AUTO sentence = { 0 };

    switch ((int)exchange->stopped) {
    case FAILURE_CANCELLED:
        return fail(result, FAILURE_CANCELLED, error, ERROR_CANCELLED, "the query was cancelled");
    case FAILURE_TTFT_TIMEOUT:
        text_addf(&sentence, "no token came within %g s",
                  (double)exchange->query->ttft_timeout_ms / 1000);
        break;
    case FAILURE_IDLE_TIMEOUT:
        text_addf(&sentence, "the answer stalled for %g s (chunks received until then: %lld)",
                  (double)exchange->query->idle_timeout_ms / 1000, (long long)result->chunks);
        break;
    default:
        text_addf(&sentence, "the server reported an error inside its answer: %s",
                  text_string(&exchange->complaint));
        return fail(result, exchange->stopped, error, ERROR_UPSTREAM, text_string(&sentence));
    }
    return fail(result, exchange->stopped, error, ERROR_TIMEOUT, text_string(&sentence));
}

/* Checks the answer after a transfer that is complete, or that we ended because nothing of interest
 * could follow. */
static CHECKED bool check_answer(struct exchange *exchange, struct error *error)
{
    struct query_result *result = exchange->result;
    TEXT_AUTO sentence = { 0 };

    if (exchange->broken)
        return fail(result, FAILURE_PROTOCOL, error, ERROR_UPSTREAM,
                    "the answer is not a stream of JSON events");
    if (!exchange->done && !exchange->finished && result->chunks == 0) {
        text_addf(&sentence, "the answer contains no completion; its content type is \"%s\"",
                  exchange->response.content_type);
        return fail(result, FAILURE_PROTOCOL, error, ERROR_UPSTREAM, text_string(&sentence));
    }
    if (!exchange->done && !exchange->finished)
        return fail(result, FAILURE_TRUNCATED, error, ERROR_UPSTREAM,
                    "the answer ended before it was complete");
    if (result->chunks == 0)
        return fail(result, FAILURE_EMPTY, error, ERROR_UPSTREAM, "the answer has no content");
    return true;
}

static CHECKED bool conclude(struct exchange *exchange, bool transferred,
                             const struct error *transport, struct error *error)
{
    struct query_result *result = exchange->result;

    if (transferred && exchange->is_plain && !read_plain_answer(exchange, error)) {
        result->failure = FAILURE_PROTOCOL;
        return false;
    }
    if (transferred && !exchange->is_plain)
        exchange->broken = !completion_stream_end(exchange->stream, on_event, exchange);
    if (exchange->stopped != FAILURE_NONE)
        return explain_stop(exchange, error);
    if (!transferred && !exchange->done && !exchange->broken) {
        result->failure = exchange->response.failure;
        *error = *transport;
        return false;
    }
    return check_answer(exchange, error);
}

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
    return from_ns > 0 && to_ns >= from_ns ? (double)(to_ns - from_ns) / 1e9 : NAN;
}

/* Leaves tokens_per_s NaN if there is only one chunk, because nothing then shows the time between
 * tokens. */
static void note_times(const struct exchange *exchange)
{
    struct query_result *result = exchange->result;
    const struct outbound_response *response = &exchange->response;
    int64_t end_ns = exchange->last_ns > 0 ? exchange->last_ns : response->end_ns;
    double decode_s;

    result->ttft_s =
        exchange->first_ns > 0 ? seconds_between(response->sent_ns, exchange->first_ns) : NAN;
    result->total_s = seconds_between(response->sent_ns, end_ns);
    decode_s = result->total_s - result->ttft_s;
    if (result->completion_tokens > 1 && result->chunks > 1 && decode_s > 0)
        result->tokens_per_s = (double)(result->completion_tokens - 1) / decode_s;
}

/* ---- One request, repeated without fields that the server does not know ---- */

static void exchange_init(struct exchange *exchange, const struct endpoint *endpoint,
                          const struct query *query, struct query_result *result)
{
    *exchange = (struct exchange){ .query = query,
                                   .result = result,
                                   .mask = mask_create(endpoint->bearer),
                                   .stream = completion_stream_create(true) };
}

static void exchange_finish(struct exchange *exchange)
{
    completion_stream_destroy(exchange->stream);
    mask_destroy(exchange->mask);
    text_finish(&exchange->plain);
    text_finish(&exchange->complaint);
    outbound_response_finish(&exchange->response);
}

/* Must be called after all of the text has arrived, because a secret may arrive in pieces. */
static void hide_secret(const struct exchange *exchange, struct error *error)
{
    const struct mask *mask = exchange->mask;
    struct query_result *result = exchange->result;

    mask_text(mask, MASK_ANSWER, result->text.length + UTF8_LONGEST > TEXT_LIMIT_BYTES,
              &result->text);
    mask_text(mask, MASK_ANSWER, result->reasoning.length + UTF8_LONGEST > TEXT_LIMIT_BYTES,
              &result->reasoning);
    mask_string(mask, MASK_ANSWER, result->finish, sizeof result->finish);
    mask_string(mask, MASK_ANSWER, result->model, sizeof result->model);
    if (error != NULL)
        mask_error(mask, error);
}

static CHECKED bool transfer(struct exchange *exchange, const struct endpoint *endpoint,
                             const char *body, struct error *error)
{
    const struct query *query = exchange->query;
    TEXT_AUTO url = { 0 };
    struct outbound_request request = {
        .bearer = endpoint->bearer[0] != '\0' ? endpoint->bearer : NULL,
        .servers = endpoint->servers,
        .tls = endpoint_tls(endpoint),
        .body = body,
        .body_length = strlen(body),
        .accept = "text/event-stream, application/json",
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .total_timeout_ms = query->total_timeout_ms,
        .response_limit_bytes = ANSWER_LIMIT_BYTES,
        .on_bytes = on_bytes,
        .cancelled = must_stop,
        .context = exchange,
    };

    text_addf(&url, "%s/v1/%s", endpoint->url, query->chat ? "chat/completions" : "completions");
    request.url = text_string(&url);
    return outbound_perform(&request, &exchange->response, error);
}

/* Sends the request once. If the server refused one of *fields, removes it from *fields; the caller
 * then repeats the request. */
static CHECKED bool run_once(const struct endpoint *endpoint, const struct query *query,
                             unsigned *fields, struct query_result *result, struct error *error)
{
    char *body = query_body(endpoint, query, *fields);
    struct exchange exchange;
    struct error transport;
    bool ok;

    exchange_init(&exchange, endpoint, query, result);
    ok = transfer(&exchange, endpoint, body, &transport);
    ok = conclude(&exchange, ok, &transport, error);
    end_texts(&exchange);
    hide_secret(&exchange, ok ? NULL : error);
    note_times(&exchange);
    if (result->failure == FAILURE_REFUSED_400 || result->failure == FAILURE_SERVER_ERROR)
        *fields &= ~query_body_refused_field(*fields, text_string(&exchange.response.body),
                                             exchange.response.body.length);
    exchange_finish(&exchange);
    free(body);
    return ok;
}

bool query_run(const struct endpoint *endpoint, const struct query *query,
               struct query_result *result, struct error *error)
{
    unsigned fields = query_fields(query), sent;
    bool ok;

    do {
        *result = (struct query_result){ .ttft_s = NAN,
                                         .total_s = NAN,
                                         .tokens_per_s = NAN,
                                         .prompt_tokens = -1,
                                         .completion_tokens = -1 };
        text_copy(result->model, sizeof result->model, endpoint->model);
        sent = fields;
        ok = run_once(endpoint, query, &fields, result, error);
    } while (!ok && fields != sent);
    return ok;
}

void query_result_finish(struct query_result *result)
{
    text_finish(&result->text);
    text_finish(&result->reasoning);
}
