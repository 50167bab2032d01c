/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/stream.h"

#include <string.h>

#include "base/core/clock.h"
#include "tests/simserve/connection.h"

#define CHUNK_HEADROOM 16 /* for the size line of the HTTP chunk */
#define ERROR_JSON                                                                                 \
    "{\"error\":{\"message\":\"EngineCore encountered an issue. See stack trace (above) for the "  \
    "root cause.\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}"

/* Each word here and in `unicode_words` is one token for the toy tokenizer, and needs no escaping
 * in JSON. */
static const char *const words[] = {
    "the",    "of",     "and",   "to",    "in",     "is",     "that",    "for",   "as",    "was",
    "with",   "it",     "on",    "are",   "by",     "this",   "from",    "at",    "which", "or",
    "had",    "first",  "one",   "their", "its",    "new",    "after",   "but",   "who",   "not",
    "they",   "have",   "her",   "she",   "two",    "been",   "other",   "when",  "time",  "during",
    "there",  "into",   "all",   "may",   "world",  "school", "more",    "years", "over",  "only",
    "would",  "state",  "later", "where", "people", "about",  "between", "city",  "made",  "such",
    "system", "number", "river", "war",
};

static const char *const unicode_words[] = {
    "größer", "été", "naïve", "日本", "π", "слон", "→", "😀", "ağaç", "año", "żółw", "한국",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *word_at(const struct sequence *sequence, uint64_t position)
{
    position += sequence->word;
    if (sequence->server->config.unicode_output)
        return unicode_words[position % COUNT(unicode_words)];
    return words[position % COUNT(words)];
}

static void add_words(const struct sequence *sequence, int64_t from, int64_t count,
                      struct text *out)
{
    for (int64_t i = from; i < from + count; i++) {
        if (i > 0)
            text_add_char(out, ' ');
        text_add(out, word_at(sequence, (uint64_t)i));
    }
}

static const char *reported_finish(const struct sequence *sequence)
{
    bool is_length = strcmp(sequence->finish_reason, "length") == 0;

    if (sequence_has_fault(sequence, FAULT_ABORTED))
        return "abort";
    if (sequence_has_fault(sequence, FAULT_WRONG_FINISH_REASON))
        is_length = !is_length;
    return is_length ? "length" : "stop";
}

/* Counts each reasoning chunk as one token, which is right only if tokens_per_chunk is 1. */
static void add_reasoning_tokens(const struct sequence *sequence, struct text *out)
{
    int64_t chunks = sequence->server->config.reasoning_chunks;

    if (!sequence->server->config.reasoning_tokens_in_usage)
        return;
    if (!sequence->chat || !sequence_has_fault(sequence, FAULT_REASONING_FIRST))
        chunks = 0;
    text_addf(out, ",\"completion_tokens_details\":{\"reasoning_tokens\":%lld}",
              (long long)(sequence->chunks < chunks ? sequence->chunks : chunks));
}

static void add_usage(const struct sequence *sequence, struct text *out)
{
    const struct truth_record *record = &sequence->record;
    int64_t total_tokens = record->prompt_tokens + sequence->produced_tokens;

    if (sequence_has_fault(sequence, FAULT_USAGE_AS_TIMINGS)) {
        text_addf(out, "\"timings\":{\"prompt_n\":%lld,\"cache_n\":%lld,\"predicted_n\":%lld}",
                  (long long)(record->prompt_tokens - record->cached_tokens),
                  (long long)record->cached_tokens, (long long)sequence->produced_tokens);
        return;
    }
    text_addf(out,
              "\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":%lld,\"completion_tokens\":%lld",
              (long long)record->prompt_tokens, (long long)total_tokens,
              (long long)sequence->produced_tokens);
    add_reasoning_tokens(sequence, out);
    if (sequence->server->config.cached_tokens_in_usage)
        text_addf(out, ",\"prompt_tokens_details\":{\"cached_tokens\":%lld}}",
                  (long long)record->cached_tokens);
    else
        text_add(out, ",\"prompt_tokens_details\":null}");
}

static const char *line_end(const struct sequence *sequence)
{
    return sequence_has_fault(sequence, FAULT_CRLF_LINES) ? "\r\n" : "\n";
}

/* Begins the next event in the server's buffer. */
static struct text *event_open(struct sequence *sequence)
{
    struct text *out = &sequence->server->scratch;

    text_clear(out);
    text_add_bytes(out, "                ", CHUNK_HEADROOM);
    if (sequence_has_fault(sequence, FAULT_COMMENT_LINES))
        text_addf(out, ": ping%s%s", line_end(sequence), line_end(sequence));
    text_add(out, sequence_has_fault(sequence, FAULT_NO_SPACE_AFTER_DATA) ? "data:" : "data: ");
    return out;
}

/* Records that `count` content chunks that were due at due_ns are written now. */
static void record_contents(struct sequence *sequence, int64_t count, int64_t due_ns)
{
    int64_t now_ns = clock_monotonic_ns();

    while (count-- > 0)
        truth_chunk(sequence->server->truth, &sequence->record, due_ns, now_ns);
}

void stream_flush(struct sequence *sequence)
{
    timer_cancel(&sequence->server->timers, &sequence->hold);
    if (sequence->held.length == 0)
        return;
    record_contents(sequence, sequence->holding.contents, sequence->holding.due_ns);
    connection_send(sequence->connection, sequence->held.data, sequence->held.length);
    text_clear(&sequence->held);
    sequence->holding.events = 0;
    sequence->holding.contents = 0;
}

/* Sends the first part of an event now and the rest after a pause. The position of the split
 * changes with every content chunk. */
static void send_split(struct sequence *sequence, const char *bytes, size_t length, bool content)
{
    struct server *server = sequence->server;
    int64_t pause_ns = (int64_t)(server->config.split_pause_ms * 1e6);
    size_t cut = length * (1 + (size_t)sequence->chunks % 7) / 8;

    stream_flush(sequence);
    connection_send(sequence->connection, bytes, cut);
    text_add_bytes(&sequence->held, bytes + cut, length - cut);
    sequence->holding.contents = content;
    sequence->holding.due_ns = sequence->step.due_ns + pause_ns;
    timer_set(&server->timers, &sequence->hold, clock_monotonic_ns() + pause_ns);
}

static void send_joined(struct sequence *sequence, const char *bytes, size_t length, bool content)
{
    text_add_bytes(&sequence->held, bytes, length);
    sequence->holding.contents += content;
    sequence->holding.due_ns = sequence->step.due_ns;
    if (++sequence->holding.events >= sequence->server->config.events_per_write)
        stream_flush(sequence);
}

/* Writes the size line so that it ends at `end`; returns its beginning. */
static char *put_chunk_size(char *end, size_t size)
{
    *--end = '\n';
    *--end = '\r';
    do
        *--end = "0123456789abcdef"[size % 16];
    while (size /= 16);
    return end;
}

/* Completes the event as an HTTP chunk, and sends it; faults can hold back all or part of it until
 * later. */
static void event_close(struct sequence *sequence, struct text *out, bool content)
{
    char *bytes;
    size_t length;

    text_add(out, line_end(sequence));
    text_add(out, line_end(sequence));
    text_add_bytes(out, "\r\n", 2);
    bytes = put_chunk_size(out->data + CHUNK_HEADROOM, out->length - CHUNK_HEADROOM - 2);
    length = (size_t)(out->data + out->length - bytes);

    if (sequence_has_fault(sequence, FAULT_SPLIT_EVENTS)) {
        send_split(sequence, bytes, length, content);
    } else if (sequence_has_fault(sequence, FAULT_JOINED_EVENTS)) {
        send_joined(sequence, bytes, length, content);
    } else {
        record_contents(sequence, content, sequence->step.due_ns);
        connection_send(sequence->connection, bytes, length);
    }
}

static void add_choice_open(const struct sequence *sequence, struct text *out)
{
    const struct config *config = &sequence->server->config;

    text_add_bytes(out, sequence->head.data, sequence->head.length);
    if (!sequence->chat) {
        text_add(out, "{\"index\":0,\"text\":\"");
    } else if (sequence_has_fault(sequence, FAULT_TOOL_CALL)) {
        text_add(out, "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
                      "{\"arguments\":\"");
    } else if (sequence_has_fault(sequence, FAULT_REASONING_FIRST)
               && sequence->chunks < config->reasoning_chunks) {
        text_addf(out, "{\"index\":0,\"delta\":{\"%s\":\"", config->reasoning_field);
    } else {
        text_add(out, "{\"index\":0,\"delta\":{\"content\":\"");
    }
}

static void add_choice_close(const struct sequence *sequence, bool finished, struct text *out)
{
    text_add(out, sequence->chat ? "\"},\"logprobs\":null," : "\",\"logprobs\":null,");
    if (finished && !sequence_has_fault(sequence, FAULT_MISSING_FINISH))
        text_addf(out, "\"finish_reason\":\"%s\",\"stop_reason\":null}]",
                  reported_finish(sequence));
    else if (sequence->chat)
        text_add(out, "\"finish_reason\":null}]");
    else
        text_add(out, "\"finish_reason\":null,\"stop_reason\":null}]");
}

static void add_chunk_usage(const struct sequence *sequence, bool wanted, struct text *out)
{
    if (wanted) {
        text_add_char(out, ',');
        add_usage(sequence, out);
    } else if (sequence_has_fault(sequence, FAULT_USAGE_NULL)) {
        text_add(out, ",\"usage\":null");
    }
    text_add_char(out, '}');
}

static void send_role(struct sequence *sequence)
{
    struct text *out;

    if (sequence->role_sent || !sequence->chat || !sequence->server->config.role_chunk
        || sequence_has_fault(sequence, FAULT_NO_ROLE_CHUNK))
        return;
    sequence->role_sent = true;
    out = event_open(sequence);
    text_add_bytes(out, sequence->head.data, sequence->head.length);
    text_add(out, "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
                  "\"logprobs\":null,\"finish_reason\":null}]");
    add_chunk_usage(sequence, sequence->usage_in_chunks, out);
    event_close(sequence, out, false);
}

void stream_begin(struct sequence *sequence)
{
    struct server *server = sequence->server;
    TEXT_AUTO head = { 0 };
    size_t now_bytes;

    http_add_head(&head, 200, "text/event-stream; charset=utf-8", NULL, -1);
    now_bytes = sequence_has_fault(sequence, FAULT_SLOW_HEADERS) ? strcspn(head.data, "\n") + 1
                                                                 : head.length;
    connection_send(sequence->connection, head.data, now_bytes);
    text_add_bytes(&sequence->held, head.data + now_bytes, head.length - now_bytes);
    if (now_bytes == head.length && server->config.role_early)
        send_role(sequence);
}

static void send_content(struct sequence *sequence, int64_t tokens, bool last)
{
    bool usage_in_last = last && sequence_has_fault(sequence, FAULT_USAGE_IN_LAST_CONTENT);
    struct text *out;

    send_role(sequence);
    out = event_open(sequence);
    add_choice_open(sequence, out);
    add_words(sequence, sequence->produced_tokens, tokens, out);
    if (sequence->chat && sequence_has_fault(sequence, FAULT_TOOL_CALL))
        text_add(out, "\"}}],\"content\":\"");
    add_choice_close(sequence, last && sequence->server->config.finish_joined, out);
    sequence->produced_tokens += tokens;
    add_chunk_usage(sequence, sequence->usage_in_chunks || usage_in_last, out);
    event_close(sequence, out, true);
}

void stream_content(struct sequence *sequence, int64_t tokens, bool last)
{
    if (sequence->stream)
        send_content(sequence, tokens, last);
    else
        sequence->produced_tokens += tokens;
    sequence->record.output_tokens = sequence->produced_tokens;
    sequence->chunks++;
}

static void send_finish(struct sequence *sequence)
{
    struct text *out = event_open(sequence);

    text_add_bytes(out, sequence->head.data, sequence->head.length);
    text_add(out, sequence->chat ? "{\"index\":0,\"delta\":{\"content\":\""
                                 : "{\"index\":0,\"text\":\"");
    add_choice_close(sequence, true, out);
    add_chunk_usage(sequence, sequence->usage_in_chunks, out);
    event_close(sequence, out, false);
}

static void send_usage(struct sequence *sequence)
{
    struct text *out = event_open(sequence);

    text_add_bytes(out, sequence->head.data, sequence->head.length);
    text_add_char(out, ']');
    add_chunk_usage(sequence, true, out);
    event_close(sequence, out, false);
}

static void send_literal(struct sequence *sequence, const char *data)
{
    struct text *out = event_open(sequence);

    text_add(out, data);
    event_close(sequence, out, false);
}

/* Writes the JSON body of the answer to a client that does not stream. */
static void add_answer(const struct sequence *sequence, struct text *out)
{
    const char *id = sequence->record.request_id;
    const char *model = sequence->server->config.model;

    text_addf(out, "{\"id\":\"%s-%s\",\"object\":\"%s\",\"created\":%lld,\"model\":\"%s\",",
              sequence->chat ? "chatcmpl" : "cmpl", id,
              sequence->chat ? "chat.completion" : "text_completion",
              (long long)(clock_utc_ms() / 1000), model);
    text_add(out, sequence->chat ? "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
                                   "\"content\":\""
                                 : "\"choices\":[{\"index\":0,\"text\":\"");
    add_words(sequence, 0, sequence->produced_tokens, out);
    add_choice_close(sequence, true, out);
    add_chunk_usage(sequence, !sequence_has_fault(sequence, FAULT_MISSING_USAGE), out);
}

static void send_answer(struct sequence *sequence)
{
    TEXT_AUTO body = { 0 };
    TEXT_AUTO answer = { 0 };

    add_answer(sequence, &body);
    http_add_head(&answer, 200, "application/json", NULL, (int64_t)body.length);
    text_add_bytes(&answer, body.data, body.length);
    record_contents(sequence, 1, sequence->step.due_ns);
    connection_send(sequence->connection, answer.data, answer.length);
}

void stream_end(struct sequence *sequence)
{
    if (!sequence->stream) {
        send_answer(sequence);
        return;
    }
    if (!sequence->server->config.finish_joined)
        send_finish(sequence);
    if (sequence->usage_at_end)
        send_usage(sequence);
    if (!sequence_has_fault(sequence, FAULT_MISSING_DONE))
        send_literal(sequence, "[DONE]");
    stream_end_body(sequence);
}

void stream_error(struct sequence *sequence)
{
    send_literal(sequence, ERROR_JSON);
    send_literal(sequence, "[DONE]");
    stream_end_body(sequence);
}

void stream_end_body(struct sequence *sequence)
{
    stream_flush(sequence);
    connection_send(sequence->connection, "0\r\n\r\n", 5);
}
