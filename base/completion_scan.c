#include "base/completion_scan.h"

#include <string.h>

#include "base/text.h"

#define SCAN_DEPTH 16
#define SCAN_DIGITS 15 /* any integer of so many digits fits */

struct cursor {
    const char *at, *end;
};

struct span {
    const char *start;
    size_t length;
    bool escaped;
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end
           && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r'
               || *cursor->at == '\n'))
        cursor->at++;
}

/* Takes `c` behind blanks, if it is there. */
static bool take(struct cursor *cursor, char c)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind a backslash. A surrogate (d800 to dfff) or NUL is the library's to judge. */
static bool scan_escape(struct cursor *cursor)
{
    const char *hex = cursor->at + 1;

    if (cursor->at == cursor->end)
        return false;
    if (*cursor->at != '\0' && strchr("\"\\/bfnrt", *cursor->at) != NULL) {
        cursor->at++;
        return true;
    }
    if (*cursor->at != 'u' || cursor->end - hex < 4)
        return false;
    for (int i = 0; i < 4; i++)
        if (!is_hex(hex[i]))
            return false;
    if (memcmp(hex, "0000", 4) == 0 || ((hex[0] | 0x20) == 'd' && hex[1] >= '8'))
        return false;
    cursor->at = hex + 4;
    return true;
}

static bool is_plain(char c)
{
    return (signed char)c >= 0x20 && c != '"' && c != '\\';
}

/* The byte of a string that is not plain: the end, an escape, or a longer UTF-8 sequence. */
static bool scan_special(struct cursor *cursor, struct span *out)
{
    size_t size;

    if (*cursor->at == '\\') {
        cursor->at++;
        out->escaped = true;
        return scan_escape(cursor);
    }
    size = (unsigned char)*cursor->at < 0x80
               ? 0
               : text_utf8_sequence(cursor->at, (size_t)(cursor->end - cursor->at));
    cursor->at += size;
    return size > 0;
}

/* A string with its quotes, behind blanks. */
static bool scan_string(struct cursor *cursor, struct span *out)
{
    if (!take(cursor, '"'))
        return false;
    *out = (struct span){ .start = cursor->at };
    for (;;) {
        while (cursor->at < cursor->end && is_plain(*cursor->at))
            cursor->at++;
        if (cursor->at == cursor->end)
            return false;
        if (*cursor->at == '"')
            break;
        if (!scan_special(cursor, out))
            return false;
    }
    out->length = (size_t)(cursor->at++ - out->start);
    return true;
}

static size_t scan_digits(struct cursor *cursor)
{
    const char *start = cursor->at;

    while (cursor->at < cursor->end && is_digit(*cursor->at))
        cursor->at++;
    return (size_t)(cursor->at - start);
}

/* No exponents: whether they overflow is the library's to say. */
static bool scan_number(struct cursor *cursor)
{
    const char *start;
    size_t digits;

    if (*cursor->at == '-')
        cursor->at++;
    start = cursor->at;
    digits = scan_digits(cursor);
    if (digits == 0 || digits > SCAN_DIGITS || (digits > 1 && *start == '0'))
        return false;
    if (cursor->at < cursor->end && *cursor->at == '.') {
        cursor->at++;
        if (scan_digits(cursor) == 0)
            return false;
    }
    return cursor->at == cursor->end || (*cursor->at != 'e' && *cursor->at != 'E');
}

static bool skip_value(struct cursor *cursor, int depth);

static bool skip_members(struct cursor *cursor, int depth)
{
    struct span key;

    if (take(cursor, '}'))
        return true;
    do {
        if (!scan_string(cursor, &key) || key.escaped || !take(cursor, ':')
            || !skip_value(cursor, depth))
            return false;
    } while (take(cursor, ','));
    return take(cursor, '}');
}

static bool skip_elements(struct cursor *cursor, int depth)
{
    if (take(cursor, ']'))
        return true;
    do {
        if (!skip_value(cursor, depth))
            return false;
    } while (take(cursor, ','));
    return take(cursor, ']');
}

static bool skip_value(struct cursor *cursor, int depth)
{
    struct span string;

    skip_blanks(cursor);
    if (cursor->at == cursor->end || depth > SCAN_DEPTH)
        return false;
    switch (*cursor->at) {
    case '"':
        return scan_string(cursor, &string);
    case '{':
        cursor->at++;
        return skip_members(cursor, depth + 1);
    case '[':
        cursor->at++;
        return skip_elements(cursor, depth + 1);
    case 'n':
        return take_word(cursor, "null");
    case 't':
        return take_word(cursor, "true");
    case 'f':
        return take_word(cursor, "false");
    default:
        return (*cursor->at == '-' || is_digit(*cursor->at)) && scan_number(cursor);
    }
}

static bool take_null(struct cursor *cursor)
{
    skip_blanks(cursor);
    return take_word(cursor, "null");
}

/* The members that mean something, each with what it must be for a plain chunk. */
struct scan {
    struct cursor cursor;
    bool want_text;
    struct completion_event *event;
};

struct member {
    const char *name;
    size_t length;
    bool (*read)(struct scan *scan);
};

#define MEMBER(name, read)                                                                         \
    {                                                                                              \
        name, sizeof(name) - 1, read                                                               \
    }

/* An object whose known members are read and whose others are skipped. A known one that comes twice
 * is not plain. */
static bool scan_object(struct scan *scan, const struct member *members, int depth)
{
    unsigned seen = 0;
    struct span key;
    int i;

    if (!take(&scan->cursor, '{'))
        return false;
    if (take(&scan->cursor, '}'))
        return true;
    do {
        if (!scan_string(&scan->cursor, &key) || key.escaped || !take(&scan->cursor, ':'))
            return false;
        for (i = 0; members[i].name != NULL; i++)
            if (members[i].length == key.length
                && memcmp(members[i].name, key.start, key.length) == 0)
                break;
        if (members[i].name == NULL) {
            if (!skip_value(&scan->cursor, depth))
                return false;
            continue;
        }
        if ((seen & 1U << i) != 0 || !members[i].read(scan))
            return false;
        seen |= 1U << i;
    } while (take(&scan->cursor, ','));
    return take(&scan->cursor, '}');
}

static bool read_null(struct scan *scan)
{
    return take_null(&scan->cursor);
}

static bool is_null_next(struct scan *scan)
{
    skip_blanks(&scan->cursor);
    return scan->cursor.at < scan->cursor.end && *scan->cursor.at == 'n';
}

/* null, or "". */
static bool read_unsaid(struct scan *scan)
{
    return is_null_next(scan) ? take_null(&scan->cursor)
                              : take(&scan->cursor, '"') && take_word(&scan->cursor, "\"");
}

/* A string or null. False where its text is wanted and has to be unescaped. */
static bool read_text(struct scan *scan, struct span *out)
{
    skip_blanks(&scan->cursor);
    *out = (struct span){ .start = NULL };
    if (scan->cursor.at < scan->cursor.end && *scan->cursor.at == 'n')
        return take_null(&scan->cursor);
    return scan_string(&scan->cursor, out) && !(out->escaped && scan->want_text);
}

static bool read_content(struct scan *scan)
{
    struct completion_event *event = scan->event;
    struct span text;

    if (!read_text(scan, &text))
        return false;
    if (text.length == 0)
        return true;
    if (event->has_content) /* both `text` and `content`: the library decides */
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
    struct span text;

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

/* An object, or null. */
static bool read_object(struct scan *scan, const struct member *members, int depth)
{
    return is_null_next(scan) ? take_null(&scan->cursor) : scan_object(scan, members, depth);
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

/* How many there are. */
static bool read_ids(struct scan *scan)
{
    int64_t count = 0;

    if (is_null_next(scan))
        return take_null(&scan->cursor);
    if (!take(&scan->cursor, '['))
        return false;
    if (!take(&scan->cursor, ']')) {
        do {
            if (!skip_value(&scan->cursor, 4))
                return false;
            count++;
        } while (take(&scan->cursor, ','));
        if (!take(&scan->cursor, ']'))
            return false;
    }
    scan->event->token_ids = count;
    return true;
}

/* None, or one: more are not plain. */
static bool read_choices(struct scan *scan)
{
    static const struct member members[] = {
        MEMBER("delta", read_delta),          MEMBER("text", read_content),
        MEMBER("token_ids", read_ids),        MEMBER("usage", read_null),
        MEMBER("finish_reason", read_unsaid), { NULL, 0, NULL },
    };

    if (!take(&scan->cursor, '['))
        return false;
    if (take(&scan->cursor, ']'))
        return true;
    return scan_object(scan, members, 2) && take(&scan->cursor, ']');
}

/* ---- Usage: servers that tell it at all may tell it in every chunk ---- */

/* Digits alone. */
static bool read_count(struct scan *scan, int64_t *out)
{
    const char *digits;
    int64_t count = 0;

    skip_blanks(&scan->cursor);
    digits = scan->cursor.at;
    if (digits == scan->cursor.end || !is_digit(*digits) || !scan_number(&scan->cursor))
        return false;
    for (; digits < scan->cursor.at; digits++) {
        if (!is_digit(*digits))
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

/* The same in the usage itself: the one in the details counts. */
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
        return take_null(&scan->cursor);
    scan->event->has_usage = true;
    return scan_object(scan, members, 2);
}

/* "object" is "error" in older error events. */
static bool read_kind(struct scan *scan)
{
    struct span kind;

    return scan_string(&scan->cursor, &kind) && !kind.escaped
           && !(kind.length == 5 && memcmp(kind.start, "error", 5) == 0);
}

void completion_event_clear(struct completion_event *event)
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

    completion_event_clear(&event);
    if (!scan_object(&scan, members, 1))
        return false;
    skip_blanks(&scan.cursor);
    if (scan.cursor.at != scan.cursor.end)
        return false;
    *out = event;
    return true;
}
