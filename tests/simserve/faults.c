/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/faults.h"

#include <stddef.h>
#include <string.h>

#include "base/core/random.h"

static const struct fault_kind kinds[FAULT_COUNT] = {
    [FAULT_UNAUTHORIZED] = { "unauthorized", "401", 401, "AuthenticationError", "Unauthorized" },
    [FAULT_TOO_LONG] = { "too_long", "400 as for a prompt longer than the context", 400,
                         "BadRequestError", NULL },
    [FAULT_RATE_LIMITED] = { "rate_limited", "429 with Retry-After", 429, "RateLimitError",
                             "Too many requests, please try again later." },
    [FAULT_INTERNAL] = { "internal", "500", 500, "InternalServerError", "EngineCore died" },
    [FAULT_UNAVAILABLE] = { "unavailable", "503 with Retry-After", 503, "ServiceUnavailableError",
                            "The server is overloaded, please try again later." },
    [FAULT_RESET_BEFORE_HEADERS] = { "reset_before_headers", "TCP reset instead of an answer" },
    [FAULT_SLOW_HEADERS] = { "slow_headers",
                             "sends the status line of a stream at once, its headers "
                             "slow_headers_ms later" },
    [FAULT_CLOSE_AFTER_ANSWER] = { "close_after_answer",
                                   "closes the connection without notice after the answer" },
    [FAULT_STALL_BEFORE_FIRST] = { "stall_before_first",
                                   "sends nothing for stall_ms before the first token" },
    [FAULT_STALL_MID_STREAM] = { "stall_mid_stream",
                                 "sends nothing for stall_ms after fault_after_chunks chunks" },
    [FAULT_RESET_MID_STREAM] = { "reset_mid_stream", "TCP reset after fault_after_chunks chunks" },
    [FAULT_ERROR_EVENT] = { "error_event",
                            "an error event in the 200 stream after fault_after_chunks chunks" },
    [FAULT_TRUNCATED] = { "truncated",
                          "the stream ends cleanly after fault_after_chunks chunks, without "
                          "finish_reason, usage and [DONE]" },
    [FAULT_MISSING_DONE] = { "missing_done", "no [DONE]" },
    [FAULT_SHORT_OUTPUT] = { "short_output", "only half of the requested output" },
    [FAULT_PROMPT_TRUNCATED] = { "prompt_truncated",
                                 "silently uses, and reports, only half of the prompt" },
    [FAULT_NOT_SSE] = { "not_sse", "a plain JSON answer to a stream request" },
    [FAULT_MISSING_USAGE] = { "missing_usage", "no usage, although the request asks for it" },
    [FAULT_USAGE_IN_LAST_CONTENT] = { "usage_in_last_content", "usage in the last content chunk, "
                                                               "not in a chunk of its own" },
    [FAULT_USAGE_IN_EVERY_CHUNK] = { "usage_in_every_chunk",
                                     "usage in every chunk, even if not requested" },
    [FAULT_WRONG_FINISH_REASON] = { "wrong_finish_reason",
                                    "stop instead of length, and length instead of stop" },
    [FAULT_USAGE_NULL] = { "usage_null",
                           "usage is null in every chunk except the one that reports it" },
    [FAULT_USAGE_AS_TIMINGS] = { "usage_as_timings", "llama.cpp's timings instead of usage" },
    [FAULT_ABORTED] = { "aborted", "finish_reason is abort, after half of the requested output" },
    [FAULT_MISSING_FINISH] = { "missing_finish", "no finish_reason, although [DONE] is sent" },
    [FAULT_TOOL_CALL] = { "tool_call", "chat: all output is sent as the arguments of a tool call" },
    [FAULT_NO_ROLE_CHUNK] = { "no_role_chunk", "no role-only first chunk" },
    [FAULT_REASONING_FIRST] = { "reasoning_first",
                                "the first reasoning_chunks chunks are reasoning, in the member "
                                "reasoning_field" },
    [FAULT_COMMENT_LINES] = { "comment_lines", "a line \": ping\" before every event" },
    [FAULT_CRLF_LINES] = { "crlf_lines", "lines end in CR LF" },
    [FAULT_NO_SPACE_AFTER_DATA] = { "no_space_after_data", "\"data:{\" instead of \"data: {\"" },
    [FAULT_SPLIT_EVENTS] = { "split_events",
                             "every event in two TCP writes, split_pause_ms apart" },
    [FAULT_JOINED_EVENTS] = { "joined_events", "events_per_write events in one TCP write" },
};

const struct fault_kind *fault_kind(enum fault fault)
{
    return &kinds[fault];
}

enum fault fault_find(const char *name, size_t length)
{
    for (int fault = 0; fault < FAULT_COUNT; fault++)
        if (strlen(kinds[fault].name) == length && memcmp(kinds[fault].name, name, length) == 0)
            return (enum fault)fault;
    return FAULT_COUNT;
}

bool faults_parse(const char *names, uint64_t *out, struct error *error)
{
    uint64_t mask = 0;

    while (*names) {
        size_t length = strcspn(names, ", ");
        enum fault fault = fault_find(names, length);

        if (length > 0 && fault == FAULT_COUNT)
            return error_set(error, ERROR_INVALID, "no fault named \"%.*s\"; --help lists them",
                             (int)length, names);
        if (length > 0)
            mask |= FAULT_BIT(fault);
        names += length + (names[length] != '\0');
    }
    *out = mask;
    return true;
}

static bool strikes(struct fault_rate rate, uint64_t seed, uint64_t number)
{
    if (rate.period > 0 && number % (uint64_t)rate.period == 0)
        return true;
    if (rate.probability <= 0)
        return false;
    return (double)(random_mix(seed, number) >> 11) * 0x1p-53 < rate.probability;
}

uint64_t faults_draw(const struct fault_rate rates[FAULT_COUNT], uint64_t seed, uint64_t number)
{
    uint64_t mask = 0;

    for (unsigned fault = 0; fault < FAULT_COUNT; fault++)
        if (strikes(rates[fault], random_mix(seed, fault), number))
            mask |= FAULT_BIT(fault);
    return mask;
}

const struct fault_kind *faults_refusal(uint64_t mask)
{
    for (unsigned fault = 0; fault < FAULT_COUNT; fault++)
        if ((mask & FAULT_BIT(fault)) && kinds[fault].status)
            return &kinds[fault];
    return NULL;
}
