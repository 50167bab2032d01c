/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a streamed completion (server-sent events from /v1/completions or /v1/chat/completions) as
 * its bytes arrive. A byte scanner reads the common events; the JSON parser is used only for
 * unusual ones. The reader handles the peculiarities of OpenAI-compatible servers: role-only and
 * empty chunks are not tokens, usage can come in any chunk and in several places, lines can end in
 * CRLF, an event can be split across reads, and an error object can come inside a 200 stream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct completion_stream;

/* An event. `text` and `reasoning` are valid only during the call, and not NUL-terminated. */
struct completion_event {
    bool done;          /* data: [DONE] */
    bool error;         /* an error; `text` is its message or, if it has none, the whole error */
    bool has_content;   /* visible text: content, text or a refusal */
    bool has_reasoning; /* reasoning, reasoning_content, or a reasoning part of content */
    bool has_tool_call; /* arguments of a tool call */
    bool has_finish;    /* finish_reason is not empty; `finish` is a copy of it */
    bool has_usage;     /* the next four counts are set; -1: the server did not report the count */
    int64_t prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens;
    int64_t token_ids; /* how many the chunk lists, if return_token_ids was set; -1: no list */
    /* The chunk's first visible text and first reasoning, JSON-unescaped; NULL if there is none, or
     * if the stream was created without `want_text`. An error has `text` even then. */
    const char *text, *reasoning;
    size_t text_length, reasoning_length;
    char finish[24];
};

/* Whether the event has content, reasoning or a tool call. */
bool completion_event_has_output(const struct completion_event *event);

/* `want_text`: events include the text of chunks, which the load generator does not need. An event
 * longer than 1 MiB counts as malformed. Without `want_text`, the limit is 64 KiB, because a load
 * test has thousands of streams. Free with completion_stream_destroy. */
struct completion_stream *completion_stream_create(bool want_text);
void completion_stream_destroy(struct completion_stream *stream);
/* Whether a body that begins with these bytes is a stream of events: some servers send a wrong
 * content type. */
bool completion_stream_begins(const char *bytes, size_t length);
/* Prepares for the next answer. Keeps the memory of small buffers, and frees that of large ones. */
void completion_stream_reset(struct completion_stream *stream);
/* Reads bytes, and calls `each` for each event. Returns false if an event is too long, or if its
 * data is not JSON (except for [DONE], and for events of type `error`). The stream then stays
 * broken until it is reset. */
bool completion_stream_feed(struct completion_stream *stream, const char *bytes, size_t length,
                            void (*each)(void *context, const struct completion_event *event),
                            void *context);
/* Call it at the end of the body: text after the last line break is read as a line. Returns false
 * in the same cases as completion_stream_feed. */
bool completion_stream_end(struct completion_stream *stream,
                           void (*each)(void *context, const struct completion_event *event),
                           void *context);
