/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/request_outcome.h"

#include <stdio.h>
#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"

/* Whether the answer has fewer tokens than requested, although it was not allowed to be shorter. If
 * the server does not report usage, the number of tokens is not known, because a chunk can contain
 * several tokens or none. Such an answer counts as short if it has fewer chunks than the requested
 * number of tokens, and has a finish reason other than a length limit. */
static bool is_short(const struct virtual_user *user)
{
    const struct request *request = &user->request;
    int64_t wanted = request->wanted.output_tokens;

    if (request->wanted.may_stop)
        return false;
    if (request->completion_tokens >= 0)
        return request->completion_tokens < wanted;
    return request->finish != FINISH_LENGTH && request->finish != FINISH_UNKNOWN
           && request->chunks < wanted;
}

static int64_t input_tokens(const struct request *request)
{
    return request->prompt_tokens >= 0 ? request->prompt_tokens : request->wanted.input_tokens;
}

/* Whether the answer reached a length limit, and the input plus the requested output exceed the
 * model's context. Some servers refuse such a request; others end the answer when the context is
 * full. */
static bool is_over_context(const struct virtual_user *user)
{
    const struct request *request = &user->request;
    int64_t context = user->load->context_tokens;

    return context > 0 && request->finish == FINISH_LENGTH
           && input_tokens(request) + request->wanted.output_tokens > context;
}

/* Whether the server truncated the prompt, as some servers silently do with a prompt that does not
 * fit in their context. A difference of up to an eighth plus 16 tokens can come from templates and
 * tokenizers. */
static bool is_truncated(const struct virtual_user *user)
{
    int64_t wanted = user->request.wanted.input_tokens;
    int64_t got = user->request.prompt_tokens;

    return got >= 0 && got < wanted - wanted / 8 - 16;
}

enum failure request_outcome_classify(const struct virtual_user *user)
{
    const struct request *request = &user->request;
    bool is_complete = request->done || request->finish != FINISH_UNKNOWN;

    if (request->failure != FAILURE_NONE)
        return request->failure;
    if (request->status != 0 && request->status / 100 != 2)
        return failure_of_status(request->status, request->failure_text,
                                 request->failure_text_length);
    if (user->gave_up)
        return FAILURE_PROTOCOL;
    if (user->transfer->failure != FAILURE_NONE && !is_complete)
        return user->transfer->failure;
    if (!request->is_stream)
        return FAILURE_PROTOCOL;
    if (!is_complete)
        return FAILURE_TRUNCATED;
    if (request->finish == FINISH_ABORTED)
        return FAILURE_ABORTED;
    if (request->chunks == 0)
        return FAILURE_EMPTY;
    if (is_truncated(user))
        return FAILURE_SHORT_INPUT;
    if (!is_short(user))
        return FAILURE_NONE;
    return is_over_context(user) ? FAILURE_TOO_LONG : FAILURE_SHORT_OUTPUT;
}

static bool describe_short_output(const struct virtual_user *user, char *out, size_t size)
{
    const struct request *request = &user->request;
    int64_t wanted = request->wanted.output_tokens;
    int64_t got = request->completion_tokens >= 0 ? request->completion_tokens : request->chunks;

    if (request->finish == FINISH_LENGTH)
        return snprintf(out, size,
                        "the answer ended with finish reason 'length' after %ld of %ld output "
                        "tokens, so the server has a lower limit of its own",
                        got, wanted)
               > 0;
    return snprintf(out, size,
                    "the model stopped after %ld of %ld output tokens: the server respects neither "
                    "ignore_eos nor min_tokens (natural_output lets answers end by themselves)",
                    got, wanted)
           > 0;
}

static bool describe_over_context(const struct virtual_user *user, char *out, size_t size)
{
    const struct request *request = &user->request;

    if (request->finish != FINISH_LENGTH) /* the server refused, and its message says why */
        return false;
    return snprintf(out, size,
                    "%ld input and %ld output tokens make %ld, more than the model's context of "
                    "%ld: the answer ended after %ld output tokens",
                    input_tokens(request), request->wanted.output_tokens,
                    input_tokens(request) + request->wanted.output_tokens,
                    user->load->context_tokens,
                    request->completion_tokens >= 0 ? request->completion_tokens : request->chunks)
           > 0;
}

/* Whether the answer is a completion in a single JSON document, although a stream was requested. */
static bool is_plain_answer(const struct virtual_user *user)
{
    const struct request *request = &user->request;

    return request->status / 100 == 2 && !request->is_stream && request->failure_text[0] == '{'
           && strstr(request->failure_text, "\"choices\"") != NULL;
}

/* Writes our own explanation; false if the server or the transfer has a better one. */
static bool describe(const struct virtual_user *user, char *out, size_t size)
{
    const struct request *request = &user->request;
    double waited_s = (double)(request->end_ns - request->sent_ns) / 1e9;

    switch ((int)request->failure) {
    case FAILURE_TTFT_TIMEOUT:
        return snprintf(out, size, "no token within %.1f s", waited_s) > 0;
    case FAILURE_IDLE_TIMEOUT:
        return snprintf(out, size, "nothing arrived for %.1f s after %ld chunks",
                        (double)(request->end_ns - request->bytes_ns) / 1e9, request->chunks)
               > 0;
    case FAILURE_TOTAL_TIMEOUT:
        return snprintf(out, size, "not finished after %.1f s and %ld chunks", waited_s,
                        request->chunks)
               > 0;
    case FAILURE_TRUNCATED:
        return snprintf(out, size,
                        "the stream ended after %ld chunks with neither [DONE] nor a finish reason",
                        request->chunks)
               > 0;
    case FAILURE_EMPTY:
        return snprintf(out, size, "the answer had no content at all") > 0;
    case FAILURE_ABORTED:
        return snprintf(out, size, "the server ended the answer with the finish reason '%s'",
                        request->finish_reason)
               > 0;
    case FAILURE_SHORT_INPUT:
        return snprintf(out, size,
                        "the server counted %ld of the %ld prompt tokens that were sent: it "
                        "truncated the prompt",
                        request->prompt_tokens, request->wanted.input_tokens)
               > 0;
    case FAILURE_SHORT_OUTPUT:
        return describe_short_output(user, out, size);
    case FAILURE_TOO_LONG:
        return describe_over_context(user, out, size);
    case FAILURE_PROTOCOL:
        return is_plain_answer(user)
               && snprintf(out, size,
                           "the server does not stream: it answered \"stream\": true with one JSON "
                           "document")
                      > 0;
    default:
        return false;
    }
}

/* If the server sent its error as JSON, keeps only the error message. */
static void extract_message(struct request *request)
{
    json_auto_t *body = NULL;
    struct error ignored;
    const char *message;

    if (request->failure_text[0] != '{'
        || !json_parse(request->failure_text, strlen(request->failure_text), &body, &ignored))
        return;
    message = failure_message(body);
    if (message != NULL)
        text_copy(request->failure_text, sizeof request->failure_text, message);
}

/* Escapes the unprintable characters in a server's message. */
static void make_printable(struct request *request)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, request->failure_text, strlen(request->failure_text),
                       sizeof request->failure_text - 1);
    text_copy(request->failure_text, sizeof request->failure_text, text_string(&shown));
}

void request_outcome_explain(struct virtual_user *user)
{
    struct request *request = &user->request;
    const struct load *load = user->load;
    char *text = request->failure_text;
    size_t size = sizeof request->failure_text;

    if (request->failure == FAILURE_NONE) {
        text[0] = '\0';
        return;
    }
    load_credential_mask(load, request->finish_reason, sizeof request->finish_reason);
    if (describe(user, text, size))
        return;
    if (user->gave_up)
        snprintf(text, size, "an event in the stream is not JSON, or is longer than 64 KiB");
    else if (text[0] == '\0')
        snprintf(text, size, "%s", user->transfer->failure_text);
    load_credential_mask(load, text, size);
    extract_message(request);
    make_printable(request);
}
