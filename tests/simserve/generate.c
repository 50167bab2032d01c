/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/generate.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/clock.h"
#include "tests/simserve/api.h"
#include "tests/simserve/body.h"
#include "tests/simserve/stream.h"

#define DEFAULT_COMPLETION_TOKENS 16 /* tokens of a completion without max_tokens, as in vLLM */

/* Sets the request's id to the one that the client sent, after replacing every character that is
 * not an ASCII letter, a digit or one of "-_.:" with "_". If it sent none, makes a new id. */
static void set_request_id(struct sequence *sequence)
{
    const char *given = sequence->connection->request.request_id;
    char *id = sequence->record.request_id;
    size_t size = sizeof sequence->record.request_id;

    if (given[0] == '\0') {
        snprintf(id, size, "%032" PRIx64, sequence->server->requests);
        return;
    }
    text_copy(id, size, given);
    for (; *id; id++)
        if (!isalnum((unsigned char)*id) && !strchr("-_.:", *id))
            *id = '_';
}

static struct sequence *begin(struct connection *connection, bool chat)
{
    struct server *server = connection->server;
    struct sequence *sequence = model_sequence_create(connection);

    server->requests++;
    sequence->chat = sequence->record.chat = chat;
    sequence->record.read_ns = connection->read_ns;
    sequence->record.status = 200;
    sequence->finish_reason = "length";
    sequence->word = server->requests;
    set_request_id(sequence);
    generator_init(&sequence->random, random_mix((uint64_t)server->config.seed, server->requests));
    return sequence;
}

static bool choose_faults(struct sequence *sequence, struct error *error)
{
    struct server *server = sequence->server;
    const char *requested = sequence->connection->request.fault;

    if (requested[0] == '\0')
        sequence->faults =
            faults_draw(server->config.faults, (uint64_t)server->config.seed, server->requests);
    else if (!faults_parse(requested, &sequence->faults, error))
        return false;
    sequence->record.faults = sequence->faults;
    sequence->connection->close_after_this = sequence_has_fault(sequence, FAULT_CLOSE_AFTER_ANSWER);
    return true;
}

static void refuse(struct sequence *sequence, int status, const char *type, const char *message)
{
    struct connection *connection = sequence->connection;
    char retry[64];

    snprintf(retry, sizeof retry, "retry-after: %lld\r\n",
             (long long)sequence->server->config.retry_after_s);
    sequence->record.status = status;
    model_retire(sequence, OUTCOME_REFUSED);
    api_respond_error(connection, status, type, message,
                      status == 429 || status == 503 ? retry : NULL);
}

static bool check_model(const struct sequence *sequence, const struct body *body,
                        struct error *error)
{
    if (body->model[0] && strcmp(body->model, sequence->server->config.model) != 0)
        return error_set(error, ERROR_NOT_FOUND, "The model `%s` does not exist.", body->model);
    return true;
}

/* Fails with vLLM's error message, by which clients recognize that a prompt is too long. */
static bool fail_too_long(const struct sequence *sequence, int64_t output_tokens,
                          struct error *error)
{
    int64_t prompt_tokens = sequence->record.prompt_tokens;

    return error_set(error, ERROR_INVALID,
                     "This model's maximum context length is %lld tokens. However, you requested "
                     "%lld tokens (%lld in the %s, %lld in the completion). Please reduce the "
                     "length of the %s or completion.",
                     (long long)sequence->server->config.max_model_len,
                     (long long)(prompt_tokens + output_tokens), (long long)prompt_tokens,
                     sequence->chat ? "messages" : "prompt", (long long)output_tokens,
                     sequence->chat ? "messages" : "prompt");
}

/* Moves the prompt's tokens out of `body`, and mixes the cache salt into the sequence's salt. */
static bool move_prompt(struct sequence *sequence, struct body *body, struct error *error)
{
    if (body->given != (sequence->chat ? BODY_MESSAGES : BODY_PROMPT))
        return error_set(error, ERROR_INVALID, "\"%s\" is missing",
                         sequence->chat ? "messages" : "prompt");
    if (body->tokens.count == 0)
        return error_set(error, ERROR_INVALID, "The prompt cannot be empty");
    for (const char *salt = body->cache_salt; *salt; salt++)
        sequence->salt = random_mix(sequence->salt, (uint64_t)*salt);
    sequence->prompt = body->tokens;
    body->tokens = (struct tokens){ 0 };
    sequence->record.prompt_tokens = (int64_t)sequence->prompt.count;
    return true;
}

/* Shortens the output to `natural_tokens` (or min_tokens, if that is more), as if the model ended
 * its answer on its own. */
static void apply_natural_end(struct sequence *sequence, const struct body *body)
{
    int64_t natural = sequence->server->config.natural_tokens;

    if (natural == 0 || body->ignore_eos)
        return;
    natural = natural > body->min_tokens ? natural : body->min_tokens;
    if (natural >= sequence->limit_tokens)
        return;
    sequence->limit_tokens = natural;
    sequence->finish_reason = "stop";
}

static bool set_limits(struct sequence *sequence, const struct body *body, struct error *error)
{
    int64_t room = sequence->server->config.max_model_len - sequence->record.prompt_tokens;
    int64_t limit =
        body->max_completion_tokens > 0 ? body->max_completion_tokens : body->max_tokens;

    if (limit == 0)
        limit = sequence->chat ? room : DEFAULT_COMPLETION_TOKENS;
    if (limit > room && room > 0 && sequence->server->config.ends_at_context)
        limit = room;
    if (limit < 1 || limit > room)
        return fail_too_long(sequence, limit > 0 ? limit : 1, error);
    sequence->limit_tokens = limit;
    apply_natural_end(sequence, body);
    return true;
}

static bool set_options(struct sequence *sequence, const struct body *body, struct error *error)
{
    if (body->n != 1)
        return error_set(error, ERROR_INVALID, "only \"n\": 1 is supported");
    if (body->has_stream_options && !body->stream)
        return error_set(error, ERROR_INVALID,
                         "Stream options can only be defined when `stream=True`.");
    sequence->stream = sequence->record.stream =
        body->stream && !sequence_has_fault(sequence, FAULT_NOT_SSE);
    sequence->usage_in_chunks = (body->include_usage && body->continuous_usage_stats)
                                || sequence_has_fault(sequence, FAULT_USAGE_IN_EVERY_CHUNK);
    sequence->usage_at_end =
        body->include_usage && !sequence_has_fault(sequence, FAULT_USAGE_IN_LAST_CONTENT);
    if (sequence_has_fault(sequence, FAULT_MISSING_USAGE))
        sequence->usage_in_chunks = sequence->usage_at_end = false;
    return true;
}

/* Applies the faults that change the lengths of the prompt and the output. */
static void apply_length_faults(struct sequence *sequence)
{
    if (sequence_has_fault(sequence, FAULT_PROMPT_TRUNCATED) && sequence->prompt.count > 1) {
        sequence->prompt.count /= 2;
        sequence->record.prompt_tokens = (int64_t)sequence->prompt.count;
    }
    if (sequence_has_fault(sequence, FAULT_SHORT_OUTPUT) && sequence->limit_tokens > 1) {
        sequence->limit_tokens /= 2;
        sequence->finish_reason = "stop";
    }
    if (sequence_has_fault(sequence, FAULT_ABORTED) && sequence->limit_tokens > 1)
        sequence->limit_tokens /= 2;
}

static bool read_request(struct sequence *sequence, struct error *error)
{
    struct server *server = sequence->server;
    const struct connection *connection = sequence->connection;
    BODY_AUTO body = { 0 };

    if (!body_read(server->tokenizer, &server->config,
                   connection->input.data + connection->request.head_bytes,
                   connection->request.body_bytes, &body, error))
        return false;
    if (!check_model(sequence, &body, error) || !move_prompt(sequence, &body, error)
        || !set_limits(sequence, &body, error) || !set_options(sequence, &body, error))
        return false;
    apply_length_faults(sequence);
    return true;
}

static void write_event_head(struct sequence *sequence)
{
    text_addf(&sequence->head,
              "{\"id\":\"%s-%s\",\"object\":\"%s\",\"created\":%lld,\"model\":\"%s\",\"choices\":[",
              sequence->chat ? "chatcmpl" : "cmpl", sequence->record.request_id,
              sequence->chat ? "chat.completion.chunk" : "text_completion",
              (long long)(clock_utc_ms() / 1000), sequence->server->config.model);
}

static void run(struct sequence *sequence)
{
    if (sequence->stream) {
        write_event_head(sequence);
        stream_begin(sequence);
    }
    if (sequence_has_fault(sequence, FAULT_SLOW_HEADERS))
        model_submit_later(sequence, sequence->server->config.slow_headers_ms);
    else
        model_submit(sequence, sequence->record.read_ns);
}

/* Refuses the request, or resets its connection, if one of the request's faults demands that. Also
 * refuses it if too many requests wait. Returns whether the request has ended. */
static bool refuse_unread(struct sequence *sequence)
{
    const struct fault_kind *refusal = faults_refusal(sequence->faults);
    struct connection *connection = sequence->connection;
    struct error error;

    if (refusal) {
        fail_too_long(sequence, sequence->server->config.max_model_len + 1, &error);
        refuse(sequence, refusal->status, refusal->type,
               refusal->message ? refusal->message : error.message);
        return true;
    }
    if (sequence_has_fault(sequence, FAULT_RESET_BEFORE_HEADERS)) {
        model_retire(sequence, OUTCOME_RESET);
        connection_reset(connection);
        return true;
    }
    if (!model_accepts(sequence->server)) {
        refuse(sequence, 503, "ServiceUnavailableError", fault_kind(FAULT_UNAVAILABLE)->message);
        return true;
    }
    return false;
}

static void refuse_failure(struct sequence *sequence, const struct error *error)
{
    if (error->kind == ERROR_NOT_FOUND)
        refuse(sequence, 404, "NotFoundError", error->message);
    else
        refuse(sequence, 400, "BadRequestError", error->message);
}

static void generate(struct connection *connection, bool chat)
{
    struct sequence *sequence = begin(connection, chat);
    struct error error;

    if (!choose_faults(sequence, &error)) {
        refuse_failure(sequence, &error);
        return;
    }
    if (refuse_unread(sequence))
        return;
    if (read_request(sequence, &error))
        run(sequence);
    else
        refuse_failure(sequence, &error);
}

void generate_chat(struct connection *connection)
{
    generate(connection, true);
}

void generate_completions(struct connection *connection)
{
    generate(connection, false);
}
