/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/stream_events.h"

#include <stdio.h>
#include <string.h>

#include "base/core/text.h"

static void note_error(struct request *request, const struct completion_event *event)
{
    if (request->failure != FAILURE_NONE)
        return;
    request->failure = failure_in_stream(event->text, event->text_length);
    request->failure_text_length = 0;
    snprintf(request->failure_text, sizeof request->failure_text, "%.*s", (int)event->text_length,
             event->text);
}

/* Whether the server repeats the usage of the whole answer in each chunk, so that usage says
 * nothing about single chunks. In that case, the usage of the first chunk already counts several
 * tokens, and the usage of the second chunk counts the same number. */
static bool repeats_usage(const struct request *request, bool listed, int64_t tokens)
{
    return !listed && tokens == 0 && request->chunks == 1 && request->first_tokens > 1;
}

/* How many tokens have come since the previous chunk with output: the number of token ids that the
 * events list, or else the growth of the count in usage. Returns -1 if the event has no output, or
 * if the server does not report tokens with each chunk. A server that reports 0 tokens for the
 * first chunk does not really count them. */
static int64_t count_tokens(struct request *request, const struct completion_event *event)
{
    bool listed = event->token_ids >= 0, counted = event->completion_tokens >= 0;
    int64_t tokens;

    if (listed)
        request->reported_tokens += event->token_ids;
    else if (counted)
        request->reported_tokens = event->completion_tokens;
    if (!completion_event_has_output(event))
        return -1;
    tokens = request->reported_tokens - request->chunk_tokens;
    if (request->chunks == 0)
        request->has_chunk_tokens = (listed || counted) && tokens > 0;
    if (!(listed || counted) || tokens < 0)
        request->has_chunk_tokens = false;
    if (request->has_chunk_tokens && repeats_usage(request, listed, tokens)) {
        request->has_chunk_tokens = false;
        request->first_tokens = 1;
    }
    if (!request->has_chunk_tokens)
        return -1;
    request->chunk_tokens = request->reported_tokens;
    return tokens;
}

static void note_output(struct tally *tally, struct request *request,
                        const struct completion_event *event, int64_t tokens)
{
    bool visible = event->has_content || event->has_tool_call;

    request->reasoned |= event->has_reasoning;
    if (visible && request->visible_ns == 0)
        request->visible_ns = request->bytes_ns;
    tally_chunk(tally, request, request->bytes_ns, tokens);
}

/* A later report replaces an earlier one. */
static void note_count(int64_t count, int64_t *out)
{
    if (count >= 0)
        *out = count;
}

static void note_usage(struct request *request, const struct completion_event *event)
{
    note_count(event->prompt_tokens, &request->prompt_tokens);
    note_count(event->completion_tokens, &request->completion_tokens);
    note_count(event->cached_tokens, &request->cached_tokens);
    note_count(event->reasoning_tokens, &request->reasoning_tokens);
}

/* Finish reasons of answers that the server broke off. */
static const char *const aborts[] = {
    "abort",    "aborted", "error",          "failed",        "cancelled",
    "canceled", "timeout", "content_filter", "network_error", "insufficient_system_resource",
};

static enum finish find_finish(const char *reason)
{
    if (strcmp(reason, "length") == 0)
        return FINISH_LENGTH;
    if (strcmp(reason, "stop") == 0)
        return FINISH_STOP;
    for (size_t i = 0; i < sizeof aborts / sizeof *aborts; i++)
        if (strncmp(reason, aborts[i], sizeof((struct request *)0)->finish_reason - 1) == 0)
            return FINISH_ABORTED;
    return FINISH_OTHER;
}

static void note_finish(struct request *request, const struct completion_event *event)
{
    request->finish = find_finish(event->finish);
    text_copy(request->finish_reason, sizeof request->finish_reason, event->finish);
}

void stream_events_record(struct tally *tally, struct request *request,
                          const struct completion_event *event)
{
    int64_t tokens = count_tokens(request, event);

    if (event->error)
        note_error(request, event);
    if (completion_event_has_output(event))
        note_output(tally, request, event, tokens);
    if (event->has_usage)
        note_usage(request, event);
    request->done |= event->done;
    if (event->has_finish)
        note_finish(request, event);
}
