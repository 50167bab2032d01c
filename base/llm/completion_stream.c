/* SPDX-License-Identifier: Apache-2.0 */
#include "base/llm/completion_stream.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/llm/completion_scan.h"

#define EVENT_LIMIT_BYTES (1024 * 1024)
#define LOAD_EVENT_LIMIT_BYTES (64 * 1024)
#define KEPT_BYTES (64 * 1024) /* a larger buffer is freed, not reused */

struct completion_stream {
    bool want_text, begun, broken;
    size_t event_limit;   /* bytes */
    bool names_error;     /* the event has a line "event: error" or "error: ..." */
    struct text line;     /* a line whose end has not arrived yet */
    struct text pending;  /* data lines that are not complete JSON yet */
    struct text repaired; /* an event whose invalid UTF-8 `parse` has replaced */
};

/* Who receives the events. */
struct listener {
    void (*each)(void *context, const struct completion_event *event);
    void *context;
};

struct completion_stream *completion_stream_create(bool want_text)
{
    struct completion_stream *stream = memory_zeroed(1, sizeof *stream);

    stream->want_text = want_text;
    stream->event_limit = want_text ? EVENT_LIMIT_BYTES : LOAD_EVENT_LIMIT_BYTES;
    return stream;
}

void completion_stream_destroy(struct completion_stream *stream)
{
    if (stream == NULL)
        return;
    text_finish(&stream->line);
    text_finish(&stream->pending);
    text_finish(&stream->repaired);
    free(stream);
}

static void clear_text(struct text *text)
{
    if (text->capacity > KEPT_BYTES)
        text_finish(text);
    else
        text_clear(text);
}

void completion_stream_reset(struct completion_stream *stream)
{
    clear_text(&stream->line);
    clear_text(&stream->pending);
    clear_text(&stream->repaired);
    stream->begun = stream->broken = stream->names_error = false;
}

/* ---- The slow path: events that the JSON library parses -------------------------------------- */

/* Unlike elsewhere, NUL is allowed here, because a model can write any character. Servers that
 * split text in the middle of a character send invalid UTF-8, which becomes U+FFFD. */
static json_t *parse(struct completion_stream *stream, const char *bytes, size_t length)
{
    json_error_t problem;
    json_t *json = json_loadb(bytes, length, JSON_ALLOW_NUL, &problem);

    if (json != NULL || json_error_code(&problem) != json_error_invalid_utf8)
        return json;
    text_clear(&stream->repaired);
    for (size_t at = 0, size; at<length; at += size> 0 ? size : 1) {
        size = text_utf8_sequence(bytes + at, length - at);
        text_add_bytes(&stream->repaired, size > 0 ? bytes + at : "\xef\xbf\xbd",
                       size > 0 ? size : 3);
    }
    return json_loadb(stream->repaired.data, stream->repaired.length, JSON_ALLOW_NUL, &problem);
}

static bool is_filled(const json_t *value)
{
    return json_is_string(value) && json_string_length(value) > 0;
}

static void note_text(const json_t *value, bool want_text, struct completion_event *event)
{
    if (!is_filled(value))
        return;
    event->has_content = true;
    if (want_text && event->text == NULL) {
        event->text = json_string_value(value);
        event->text_length = json_string_length(value);
    }
}

static void note_reasoning(const json_t *value, bool want_text, struct completion_event *event)
{
    if (!is_filled(value))
        return;
    event->has_reasoning = true;
    if (want_text && event->reasoning == NULL) {
        event->reasoning = json_string_value(value);
        event->reasoning_length = json_string_length(value);
    }
}

/* Content is a string; with Mistral and Databricks it can be a list of parts, some of which are
 * reasoning. */
static void note_content(const json_t *value, bool want_text, struct completion_event *event)
{
    const json_t *part, *thought;
    size_t i, j;

    note_text(value, want_text, event);
    json_array_foreach(value, i, part) {
        note_text(json_object_get(part, "text"), want_text, event);
        json_array_foreach(json_object_get(part, "thinking"), j, thought)
            note_reasoning(json_object_get(thought, "text"), want_text, event);
        json_array_foreach(json_object_get(part, "summary"), j, thought)
            note_reasoning(json_object_get(thought, "text"), want_text, event);
    }
}

/* `function_call` is the older form, from a time when there could be only one call. */
static void note_tool_calls(const json_t *delta, struct completion_event *event)
{
    const json_t *older = json_object_get(delta, "function_call"), *call;
    size_t i;

    json_array_foreach(json_object_get(delta, "tool_calls"), i, call)
        event->has_tool_call |=
            is_filled(json_object_get(json_object_get(call, "function"), "arguments"));
    event->has_tool_call |= is_filled(json_object_get(older, "arguments"));
}

static void note_choice(const json_t *choice, bool want_text, struct completion_event *event)
{
    const json_t *delta = json_object_get(choice, "delta");
    const json_t *ids = json_object_get(choice, "token_ids");
    const json_t *finish = json_object_get(choice, "finish_reason");

    note_content(json_object_get(choice, "text"), want_text, event);
    note_content(json_object_get(delta, "content"), want_text, event);
    note_content(json_object_get(delta, "refusal"), want_text, event);
    note_reasoning(json_object_get(delta, "reasoning"), want_text, event);
    note_reasoning(json_object_get(delta, "reasoning_content"), want_text, event);
    note_tool_calls(delta, event);
    if (json_is_array(ids))
        event->token_ids =
            (event->token_ids < 0 ? 0 : event->token_ids) + (int64_t)json_array_size(ids);
    if (is_filled(finish)) { /* some servers send "" while the answer continues */
        event->has_finish = true;
        text_copy(event->finish, sizeof event->finish, json_string_value(finish));
    }
}

static int64_t count_or_unknown(const json_t *object, const char *name)
{
    int64_t count = json_get_integer(object, name, -1);

    return count < 0 ? -1 : count;
}

/* Returns the usage from its regular place, else from where Groq puts it, else from where Moonshot
 * does. */
static const json_t *find_usage(const json_t *json)
{
    const json_t *usage = json_object_get(json, "usage");

    if (!json_is_object(usage))
        usage = json_object_get(json_object_get(json, "x_groq"), "usage");
    if (!json_is_object(usage))
        usage = json_object_get(json_array_get(json_object_get(json, "choices"), 0), "usage");
    return usage;
}

/* SGLang reports reasoning tokens directly in `usage`, not in its details. */
static void note_usage(const json_t *usage, struct completion_event *event)
{
    const json_t *input = json_object_get(usage, "prompt_tokens_details");
    const json_t *output = json_object_get(usage, "completion_tokens_details");

    if (!json_is_object(usage))
        return;
    event->has_usage = true;
    event->prompt_tokens = count_or_unknown(usage, "prompt_tokens");
    event->completion_tokens = count_or_unknown(usage, "completion_tokens");
    event->cached_tokens = count_or_unknown(input, "cached_tokens");
    event->reasoning_tokens = count_or_unknown(output, "reasoning_tokens");
    if (event->reasoning_tokens < 0)
        event->reasoning_tokens = count_or_unknown(usage, "reasoning_tokens");
}

/* Before llama.cpp sent usage in streams, it reported `timings`: how many tokens of the prompt it
 * computed, how many it found in its cache, and how many tokens it generated. */
static void note_timings(const json_t *json, struct completion_event *event)
{
    const json_t *timings = json_object_get(json, "timings");
    int64_t computed = count_or_unknown(timings, "prompt_n");
    int64_t cached = count_or_unknown(timings, "cache_n");

    if (event->has_usage || computed < 0)
        return;
    event->has_usage = true;
    event->prompt_tokens = computed + (cached > 0 ? cached : 0);
    event->completion_tokens = count_or_unknown(timings, "predicted_n");
    event->cached_tokens = cached;
}

/* Returns the error in {"error": {...}}, {"error": "..."} or {"object": "error", ...}. If a line of
 * the event says that it is an error (`named`), any other document counts as an error, too. NULL if
 * there is no error. */
static const json_t *find_error(const json_t *json, bool named)
{
    const json_t *error = json_object_get(json, "error");

    if (error != NULL && !json_is_null(error) && !json_is_false(error))
        return error;
    if (named || strcmp(json_get_text(json, "object", ""), "error") == 0)
        return json;
    return NULL;
}

static void report_error(const json_t *error, const struct listener *listener)
{
    struct completion_event event;
    const json_t *message = json_is_string(error) ? error : json_object_get(error, "message");
    FREE_AUTO char *written = is_filled(message) ? NULL : json_write(error);

    completion_scan_clear(&event);
    event.error = true;
    event.text = written != NULL ? written : json_string_value(message);
    event.text_length = written != NULL ? strlen(written) : json_string_length(message);
    listener->each(listener->context, &event);
}

/* Reports the event in these bytes. Returns false if they are not a JSON object or array. */
static bool report_parsed(struct completion_stream *stream, const char *bytes, size_t length,
                          const struct listener *listener)
{
    json_auto_t *json = parse(stream, bytes, length);
    struct completion_event event;
    const json_t *error, *choice;
    size_t i;

    if (json == NULL)
        return false;
    error = find_error(json, stream->names_error);
    if (error != NULL) {
        report_error(error, listener);
        return true;
    }
    completion_scan_clear(&event);
    json_array_foreach(json_object_get(json, "choices"), i, choice)
        note_choice(choice, stream->want_text, &event);
    note_usage(find_usage(json), &event);
    note_timings(json, &event);
    listener->each(listener->context, &event);
    return true;
}

/* ---- Lines and events ------------------------------------------------------------------------ */

/* Reports an error event whose data is not JSON: the raw bytes become the message. */
static void report_raw_error(const char *bytes, size_t length, const struct listener *listener)
{
    struct completion_event event;

    completion_scan_clear(&event);
    event.error = true;
    event.text = bytes;
    event.text_length = length;
    listener->each(listener->context, &event);
}

static bool is_done(const char *data, size_t length)
{
    while (length > 0 && (data[length - 1] == ' ' || data[length - 1] == '\t'))
        length--;
    while (length > 0 && (*data == ' ' || *data == '\t')) {
        data++;
        length--;
    }
    return length == 6 && memcmp(data, "[DONE]", 6) == 0;
}

static void report_done(const struct listener *listener)
{
    struct completion_event event;

    completion_scan_clear(&event);
    event.done = true;
    listener->each(listener->context, &event);
}

/* Handles the data of a line. Usually this is a complete event; otherwise it is kept until the
 * event's other lines have arrived. */
static bool handle_data(struct completion_stream *stream, const char *data, size_t length,
                        const struct listener *listener)
{
    struct completion_event event;

    if (stream->pending.length > 0) {
        text_add_char(&stream->pending, '\n');
        text_add_bytes(&stream->pending, data, length);
        return stream->pending.length <= stream->event_limit;
    }
    if (!stream->names_error && completion_scan(data, length, stream->want_text, &event)) {
        listener->each(listener->context, &event);
        return true;
    }
    if (is_done(data, length))
        report_done(listener);
    else if (!report_parsed(stream, data, length, listener))
        text_add_bytes(&stream->pending, data, length);
    return true;
}

/* Handles the end of an event: a blank line, or the end of the body. */
static bool end_event(struct completion_stream *stream, const struct listener *listener)
{
    bool good = true;

    if (stream->pending.length > 0) {
        good = report_parsed(stream, stream->pending.data, stream->pending.length, listener);
        if (!good && stream->names_error) {
            report_raw_error(stream->pending.data, stream->pending.length, listener);
            good = true;
        }
    }
    clear_text(&stream->pending);
    stream->names_error = false;
    return good;
}

/* Finds the value of the field `name`; returns false if the line is not that field. */
static bool read_field(const char *line, size_t length, const char *name, const char **value,
                       size_t *value_length)
{
    size_t start = strlen(name);

    if (length <= start || memcmp(line, name, start) != 0 || line[start] != ':')
        return false;
    start++;
    if (start < length && line[start] == ' ')
        start++;
    *value = line + start;
    *value_length = length - start;
    return true;
}

/* Handles a line, given without its "\n". Comments, id:, retry: and unknown fields are ignored. The
 * field `error:` comes from older llama.cpp servers. */
static bool handle_line(struct completion_stream *stream, const char *line, size_t length,
                        const struct listener *listener)
{
    const char *value;
    size_t value_length;

    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (!stream->begun && length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        length -= 3;
    }
    stream->begun = true;
    if (length == 0)
        return end_event(stream, listener);
    if (read_field(line, length, "data", &value, &value_length))
        return value_length == 0 || handle_data(stream, value, value_length, listener);
    if (read_field(line, length, "event", &value, &value_length))
        stream->names_error = value_length == 5 && memcmp(value, "error", 5) == 0;
    if (!read_field(line, length, "error", &value, &value_length))
        return true;
    stream->names_error = true;
    return handle_data(stream, value, value_length, listener);
}

/* Handles the last piece of a line that may have begun in an earlier read. */
static bool end_line(struct completion_stream *stream, const char *piece, size_t length,
                     const struct listener *listener)
{
    bool good;

    if (stream->line.length + length > stream->event_limit)
        return false;
    if (stream->line.length == 0)
        return handle_line(stream, piece, length, listener);
    text_add_bytes(&stream->line, piece, length);
    good = handle_line(stream, stream->line.data, stream->line.length, listener);
    clear_text(&stream->line);
    return good;
}

static bool feed(struct completion_stream *stream, const char *bytes, size_t length,
                 const struct listener *listener)
{
    while (length > 0) {
        const char *newline = memchr(bytes, '\n', length);
        size_t piece = newline != NULL ? (size_t)(newline - bytes) : length;

        if (newline == NULL) {
            if (stream->line.length + piece > stream->event_limit)
                return false;
            text_add_bytes(&stream->line, bytes, piece);
            return true;
        }
        if (!end_line(stream, bytes, piece, listener))
            return false;
        bytes += piece + 1;
        length -= piece + 1;
    }
    return true;
}

bool completion_stream_begins(const char *bytes, size_t length)
{
    static const char *const beginnings[] = { "data:", "event:", "id:", "retry:", ":" };

    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    while (length > 0 && (*bytes == '\r' || *bytes == '\n')) {
        bytes++;
        length--;
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (length > 0 && strncmp(bytes, beginnings[i], strnlen(beginnings[i], length)) == 0)
            return true;
    return false;
}

bool completion_event_has_output(const struct completion_event *event)
{
    return event->has_content || event->has_reasoning || event->has_tool_call;
}

bool completion_stream_feed(struct completion_stream *stream, const char *bytes, size_t length,
                            void (*each)(void *context, const struct completion_event *event),
                            void *context)
{
    const struct listener listener = { each, context };

    if (!stream->broken)
        stream->broken = !feed(stream, bytes, length, &listener);
    return !stream->broken;
}

bool completion_stream_end(struct completion_stream *stream,
                           void (*each)(void *context, const struct completion_event *event),
                           void *context)
{
    const struct listener listener = { each, context };

    if (!stream->broken && stream->line.length > 0)
        stream->broken = !end_line(stream, "", 0, &listener);
    if (!stream->broken)
        stream->broken = !end_event(stream, &listener);
    return !stream->broken;
}
