/* SPDX-License-Identifier: Apache-2.0 */
#include "base/llm/completion_scan.h"

#include <string.h>

#include "base/json/json_cursor.h"

struct scan {
    struct json_cursor cursor;
    bool want_text;
    struct completion_event *event;
};

/* A member of a JSON object that completion_scan reads. `read` reads its value, and returns false
 * if the value shows that the chunk is not plain (see completion_scan.h). */
struct member {
    const char *name;
    size_t length;
    bool (*read)(struct scan *scan);
};

#define MEMBER(name, read)                                                                         \
    {                                                                                              \
        name, sizeof(name) - 1, read                                                               \
    }

/* Scans an object: reads the members that `members` lists, and skips the others. Returns false if
 * the chunk is not plain, for example because a listed member occurs twice. */
static bool scan_object(struct scan *scan, const struct member *members, int depth)
{
    unsigned read = 0; /* one bit per row of `members` */
    struct json_span key;
    int i;

    if (!json_skip_char(&scan->cursor, '{'))
        return false;
    if (json_skip_char(&scan->cursor, '}'))
        return true;
    do {
        if (!json_take_string(&scan->cursor, &key) || key.escaped
            || !json_skip_char(&scan->cursor, ':'))
            return false;
        for (i = 0; members[i].name != NULL; i++)
            if (members[i].length == key.length
                && memcmp(members[i].name, key.start, key.length) == 0)
                break;
        if (members[i].name == NULL) {
            if (!json_skip_value(&scan->cursor, depth))
                return false;
            continue;
        }
        if ((read & 1U << i) != 0 || !members[i].read(scan))
            return false;
        read |= 1U << i;
    } while (json_skip_char(&scan->cursor, ','));
    return json_skip_char(&scan->cursor, '}');
}

static bool read_null(struct scan *scan)
{
    return json_take_null(&scan->cursor);
}

static bool is_null_next(struct scan *scan)
{
    json_skip_blanks(&scan->cursor);
    return scan->cursor.at < scan->cursor.end && *scan->cursor.at == 'n';
}

/* Reads null or "", the finish reason of a chunk after which the answer continues. */
static bool read_no_finish(struct scan *scan)
{
    struct json_span text;

    if (is_null_next(scan))
        return json_take_null(&scan->cursor);
    return json_take_string(&scan->cursor, &text) && text.length == 0;
}

/* Reads a string or null. Also returns false if the text is wanted, but has escapes. */
static bool read_text(struct scan *scan, struct json_span *out)
{
    json_skip_blanks(&scan->cursor);
    *out = (struct json_span){ .start = NULL };
    if (scan->cursor.at < scan->cursor.end && *scan->cursor.at == 'n')
        return json_take_null(&scan->cursor);
    return json_take_string(&scan->cursor, out) && !(out->escaped && scan->want_text);
}

static bool read_content(struct scan *scan)
{
    struct completion_event *event = scan->event;
    struct json_span text;

    if (!read_text(scan, &text))
        return false;
    if (text.length == 0)
        return true;
    if (event->has_content) /* both `text` and `content`: left to the JSON library */
        return false;
    event->has_content = true;
    if (scan->want_text) {
        event->text = text.start;
        event->text_length = text.length;
    }
    return true;
}

static bool read_reasoning(struct scan *scan)
{
    struct completion_event *event = scan->event;
    struct json_span text;

    if (!read_text(scan, &text))
        return false;
    if (text.length == 0)
        return true;
    if (event->has_reasoning)
        return false;
    event->has_reasoning = true;
    if (scan->want_text) {
        event->reasoning = text.start;
        event->reasoning_length = text.length;
    }
    return true;
}

/* Reads an object or null. */
static bool read_object(struct scan *scan, const struct member *members, int depth)
{
    return is_null_next(scan) ? json_take_null(&scan->cursor) : scan_object(scan, members, depth);
}

static bool read_delta(struct scan *scan)
{
    static const struct member members[] = {
        MEMBER("content", read_content),
        MEMBER("refusal", read_null),
        MEMBER("reasoning", read_reasoning),
        MEMBER("tool_calls", read_null),
        MEMBER("function_call", read_null),
        MEMBER("reasoning_content", read_reasoning),
        { NULL, 0, NULL },
    };

    return read_object(scan, members, 3);
}

/* Counts the elements of a list; null leaves the count unset. */
static bool read_ids(struct scan *scan)
{
    int64_t count = 0;

    if (is_null_next(scan))
        return json_take_null(&scan->cursor);
    if (!json_skip_char(&scan->cursor, '['))
        return false;
    if (!json_skip_char(&scan->cursor, ']')) {
        do {
            if (!json_skip_value(&scan->cursor, 4))
                return false;
            count++;
        } while (json_skip_char(&scan->cursor, ','));
        if (!json_skip_char(&scan->cursor, ']'))
            return false;
    }
    scan->event->token_ids = count;
    return true;
}

/* Reads a list of at most one choice: a chunk with several choices is not plain. */
static bool read_choices(struct scan *scan)
{
    static const struct member members[] = {
        MEMBER("delta", read_delta),
        MEMBER("text", read_content),
        MEMBER("token_ids", read_ids),
        MEMBER("usage", read_null),
        MEMBER("finish_reason", read_no_finish),
        { NULL, 0, NULL },
    };

    if (!json_skip_char(&scan->cursor, '['))
        return false;
    if (json_skip_char(&scan->cursor, ']'))
        return true;
    return scan_object(scan, members, 2) && json_skip_char(&scan->cursor, ']');
}

/* ---- Usage: some servers report it in every chunk -------------------------------------------- */

/* Reads a number that has only digits. */
static bool read_count(struct scan *scan, int64_t *out)
{
    const char *digits;
    int64_t count = 0;

    json_skip_blanks(&scan->cursor);
    digits = scan->cursor.at;
    if (digits == scan->cursor.end || !json_is_digit(*digits) || !json_take_number(&scan->cursor))
        return false;
    for (; digits < scan->cursor.at; digits++) {
        if (!json_is_digit(*digits))
            return false;
        count = 10 * count + (*digits - '0');
    }
    *out = count;
    return true;
}

static bool read_prompt_tokens(struct scan *scan)
{
    return read_count(scan, &scan->event->prompt_tokens);
}

static bool read_completion_tokens(struct scan *scan)
{
    return read_count(scan, &scan->event->completion_tokens);
}

static bool read_cached_tokens(struct scan *scan)
{
    return read_count(scan, &scan->event->cached_tokens);
}

static bool read_reasoning_tokens(struct scan *scan)
{
    return read_count(scan, &scan->event->reasoning_tokens);
}

/* Some servers report reasoning tokens directly in `usage`. A count in `completion_tokens_details`
 * takes precedence. */
static bool read_bare_reasoning_tokens(struct scan *scan)
{
    int64_t count;

    if (!read_count(scan, &count))
        return false;
    if (scan->event->reasoning_tokens < 0)
        scan->event->reasoning_tokens = count;
    return true;
}

static bool read_input_details(struct scan *scan)
{
    static const struct member members[] = {
        MEMBER("cached_tokens", read_cached_tokens),
        { NULL, 0, NULL },
    };

    return read_object(scan, members, 3);
}

static bool read_output_details(struct scan *scan)
{
    static const struct member members[] = {
        MEMBER("reasoning_tokens", read_reasoning_tokens),
        { NULL, 0, NULL },
    };

    return read_object(scan, members, 3);
}

static bool read_usage(struct scan *scan)
{
    static const struct member members[] = {
        MEMBER("prompt_tokens", read_prompt_tokens),
        MEMBER("completion_tokens", read_completion_tokens),
        MEMBER("prompt_tokens_details", read_input_details),
        MEMBER("completion_tokens_details", read_output_details),
        MEMBER("reasoning_tokens", read_bare_reasoning_tokens),
        { NULL, 0, NULL },
    };

    if (is_null_next(scan))
        return json_take_null(&scan->cursor);
    scan->event->has_usage = true;
    return scan_object(scan, members, 2);
}

/* In older error events, "object" is "error": these events are left to the JSON library. */
static bool read_kind(struct scan *scan)
{
    struct json_span kind;

    return json_take_string(&scan->cursor, &kind) && !kind.escaped
           && !(kind.length == 5 && memcmp(kind.start, "error", 5) == 0);
}

void completion_scan_clear(struct completion_event *event)
{
    *event = (struct completion_event){ .prompt_tokens = -1,
                                        .completion_tokens = -1,
                                        .cached_tokens = -1,
                                        .reasoning_tokens = -1,
                                        .token_ids = -1 };
}

bool completion_scan(const char *json, size_t length, bool want_text, struct completion_event *out)
{
    static const struct member members[] = {
        MEMBER("choices", read_choices),
        MEMBER("usage", read_usage),
        MEMBER("error", read_null),
        MEMBER("object", read_kind),
        MEMBER("timings", read_null),
        MEMBER("x_groq", read_null),
        { NULL, 0, NULL },
    };
    struct completion_event event;
    struct scan scan = { { json, json + length }, want_text, &event };

    completion_scan_clear(&event);
    if (!scan_object(&scan, members, 1))
        return false;
    json_skip_blanks(&scan.cursor);
    if (scan.cursor.at != scan.cursor.end)
        return false;
    *out = event;
    return true;
}
