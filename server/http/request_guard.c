/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/request_guard.h"

#include <string.h>
#include <strings.h>

#include "base/formats/percent.h"
#include "server/http/http_text.h"

/* libmicrohttpd gets 10 KiB for each connection (http_thread.c). The head of a request (its first
 * line and its headers) must leave enough of that for the size line of a chunk; otherwise
 * libmicrohttpd loops forever. */
#define HEAD_BYTES (9 * 1024U)
#define RECORD_BYTES 80U /* more bytes than libmicrohttpd needs for a header besides its text */
#define LENGTH_DIGITS 18
#define CHUNK_DIGITS 15
#define WORD_TOO_LONG UINT8_MAX
#define CASE_BIT 0x20
#define EXTENSION_BYTES 255 /* maximum length of a chunk's extension */

enum part {
    PART_START, /* between requests */
    PART_VERB,
    PART_TARGET,
    PART_VERSION,
    PART_LINE, /* the first byte of a header line, or of the empty line that ends the head */
    PART_NAME,
    PART_VALUE,
    PART_BODY,
    PART_CHUNK_SIZE,
    PART_EXTENSION,
    PART_CHUNK,
    PART_CHUNK_END,
    PART_LINE_END, /* the LF after a CR */
    PART_HEAD_END, /* only in `next`: the empty line ends the head */
};

enum field { FIELD_OTHER, FIELD_LENGTH, FIELD_CODING, FIELD_COOKIE };

static bool refuse(struct request_guard *guard, enum request_fault_kind kind)
{
    guard->fault = &request_faults[kind];
    return false;
}

/* ---- Lines ---- */

struct input {
    const char *at, *end;
    /* where the current request begins; NULL: before this input; not set if the request's first
     * lines were recalled */
    const char *request;
};

static bool is_in(char c, unsigned class)
{
    return http_pass(&c, &c + 1, class) != &c;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t count(const char *at, const char *end, char c)
{
    size_t found = 0;

    for (; at < end; at++)
        found += *at == c;
    return found;
}

static bool begin(struct request_guard *guard, enum part part)
{
    guard->part = (uint8_t)part;
    guard->length = 0;
    guard->word_length = 0;
    guard->had_blank = false;
    return true;
}

static bool complete(struct request_guard *guard)
{
    size_t kept = offsetof(struct request_guard, part);

    memset((char *)guard + kept, 0, sizeof *guard - kept);
    guard->passed++;
    return true;
}

/* Ends the headers, or the trailer after a chunked body. */
static bool end_head(struct request_guard *guard)
{
    if (guard->in_trailer)
        return complete(guard);
    if (guard->has_coding && guard->has_length)
        return refuse(guard, CONTRADICTION);
    if (guard->has_coding && guard->is_old)
        return refuse(guard, OLD_CODING);
    guard->heads++;
    if (guard->has_coding)
        return begin(guard, PART_CHUNK_SIZE);
    return guard->body_left > 0 ? begin(guard, PART_BODY) : complete(guard);
}

static bool read_line_end(struct request_guard *guard, struct input *input)
{
    if (*input->at++ != '\n')
        return refuse(guard, BAD_LINE_END);
    return guard->next == PART_HEAD_END ? end_head(guard) : begin(guard, guard->next);
}

static bool end_line(struct request_guard *guard, struct input *input, enum part next)
{
    if (*input->at++ != '\r')
        return refuse(guard, BAD_LINE_END);
    guard->next = (uint8_t)next;
    guard->part = PART_LINE_END;
    return input->at == input->end || read_line_end(guard, input);
}

/* ---- The request line ---- */

/* Clients usually send the same head again, and lines that are the same as before need not be
 * examined again. `known` holds the request line of an earlier request, the header lines up to the
 * first that the guard had to examine, and what these lines change in the guard. False: the input
 * does not begin with the same lines. */
static bool recall(struct request_guard *guard, struct input *input)
{
    size_t length = guard->known.length;

    if (length == 0 || (size_t)(input->end - input->at) < length
        || memcmp(input->at, guard->known.bytes, length) != 0)
        return false;
    input->at += length;
    guard->head_bytes += guard->known.record_bytes;
    guard->is_old = guard->known.is_old;
    guard->is_known = true;
    return begin(guard, PART_LINE);
}

static void remember(struct request_guard *guard, const struct input *input)
{
    size_t length = input->request != NULL ? (size_t)(input->at - input->request) : SIZE_MAX;

    if (guard->is_known || length > sizeof guard->known.bytes)
        return;
    memcpy(guard->known.bytes, input->request, length);
    guard->known.length = (uint16_t)length;
    guard->known.record_bytes = guard->head_bytes - (uint32_t)length;
    guard->known.is_old = guard->is_old;
    guard->is_known = true;
}

/* Skips empty lines before the request line: they are harmless. */
static bool read_start(struct request_guard *guard, struct input *input)
{
    if (*input->at == '\r')
        return end_line(guard, input, PART_START);
    if (recall(guard, input))
        return true;
    input->request = input->at;
    return is_in(*input->at, HTTP_TOKEN) ? begin(guard, PART_VERB)
                                         : refuse(guard, BAD_REQUEST_LINE);
}

static bool read_verb(struct request_guard *guard, struct input *input)
{
    input->at = http_pass(input->at, input->end, HTTP_TOKEN);
    if (input->at == input->end)
        return true;
    return *input->at++ == ' ' ? begin(guard, PART_TARGET) : refuse(guard, BAD_REQUEST_LINE);
}

static bool read_target(struct request_guard *guard, struct input *input)
{
    const char *from = input->at;

    input->at = http_pass_text(from, input->end, HTTP_TARGET);
    guard->head_bytes += (uint32_t)count(from, input->at, '&') * RECORD_BYTES;
    guard->length |= input->at > from;
    if (input->at == input->end)
        return true;
    return *input->at++ == ' ' && guard->length > 0 ? begin(guard, PART_VERSION)
                                                    : refuse(guard, BAD_REQUEST_LINE);
}

static bool read_version(struct request_guard *guard, struct input *input)
{
    static const char form[] = "HTTP/1.1";

    if (guard->length == 0 && input->end - input->at >= (ptrdiff_t)sizeof form
        && memcmp(input->at, form, sizeof form - 1) == 0) { /* the usual case */
        input->at += sizeof form - 1;
        return end_line(guard, input, PART_LINE);
    }
    for (; input->at < input->end && guard->length < sizeof form - 1; input->at++, guard->length++)
        if (*input->at != form[guard->length]) {
            bool is_digit = *input->at >= '0' && *input->at <= '9';

            if (guard->length == 5 && is_digit)
                return refuse(guard, BAD_VERSION);
            if (guard->length != 7 || !is_digit)
                return refuse(guard, BAD_REQUEST_LINE);
            guard->is_old = *input->at == '0';
        }
    return input->at == input->end || end_line(guard, input, PART_LINE);
}

/* ---- Headers ---- */

/* Adds to the word, which is a header's name, or a value that the guard interprets. A word that
 * does not fit is longer than all words that it could be compared with. */
static void add_to_word(struct request_guard *guard, const char *bytes, size_t size)
{
    if (guard->word_length == WORD_TOO_LONG || size > sizeof guard->word - guard->word_length) {
        guard->word_length = WORD_TOO_LONG;
        return;
    }
    memcpy(guard->word + guard->word_length, bytes, size);
    guard->word_length = (uint8_t)(guard->word_length + size);
}

static bool end_length(struct request_guard *guard)
{
    if (guard->has_length)
        return refuse(guard, TWICE);
    if (guard->word_length == 0 || guard->word_length > LENGTH_DIGITS)
        return refuse(guard, BAD_LENGTH);
    for (size_t i = 0; i < guard->word_length; i++) {
        if (guard->word[i] < '0' || guard->word[i] > '9')
            return refuse(guard, BAD_LENGTH);
        guard->body_left = guard->body_left * 10 + (uint64_t)(guard->word[i] - '0');
    }
    guard->has_length = true;
    return true;
}

/* The end of the body can be found only if the last coding is "chunked". */
static bool end_coding(struct request_guard *guard)
{
    static const char last[] = "chunked";
    size_t before = guard->word_length - (sizeof last - 1);

    if (guard->has_coding)
        return refuse(guard, TWICE);
    guard->has_coding = guard->word_length == sizeof last - 1
                        && strncasecmp(guard->word, last, sizeof last - 1) == 0;
    if (guard->has_coding)
        return true;
    if (guard->word_length < sizeof last || guard->word_length == WORD_TOO_LONG
        || strncasecmp(guard->word + before, last, sizeof last - 1) != 0
        || (guard->word[before - 1] != ',' && !is_blank(guard->word[before - 1])))
        return refuse(guard, BAD_CODING);
    return refuse(guard, UNKNOWN_CODING);
}

static bool end_value(struct request_guard *guard)
{
    if (guard->field == FIELD_LENGTH)
        return end_length(guard);
    return guard->field != FIELD_CODING || end_coding(guard);
}

/* Spaces and tabs around a value do not belong to it; a run of them within it counts as one
 * space. */
static void add_value(struct request_guard *guard, const char *at, const char *end)
{
    for (; at < end; at++) {
        if (is_blank(*at)) {
            guard->had_blank = guard->word_length > 0;
            continue;
        }
        if (guard->had_blank)
            add_to_word(guard, " ", 1);
        guard->had_blank = false;
        add_to_word(guard, at, 1);
    }
}

static void handle_value(struct request_guard *guard, const char *at, const char *end)
{
    if (guard->field == FIELD_COOKIE) /* libmicrohttpd copies it and records each cookie */
        guard->head_bytes += (uint32_t)((size_t)(end - at) + count(at, end, ';') * RECORD_BYTES);
    else if (guard->field != FIELD_OTHER)
        add_value(guard, at, end);
}

static bool read_value(struct request_guard *guard, struct input *input)
{
    const char *from = input->at;

    input->at = http_pass_text(from, input->end, HTTP_VALUE);
    handle_value(guard, from, input->at);
    if (input->at == input->end)
        return true;
    if (*input->at != '\r' && *input->at != '\n')
        return refuse(guard, BAD_VALUE);
    return end_value(guard) && end_line(guard, input, PART_LINE);
}

static enum field find_field(const char *name, size_t length)
{
    static const struct {
        const char *name;
        size_t length;
        enum field field;
    } known[] = {
        { "Content-Length", 14, FIELD_LENGTH },
        { "Transfer-Encoding", 17, FIELD_CODING },
        { "Cookie", 6, FIELD_COOKIE },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (length == known[i].length && ((*name ^ *known[i].name) & ~CASE_BIT) == 0
            && strncasecmp(name, known[i].name, length) == 0)
            return known[i].field;
    return FIELD_OTHER;
}

static bool read_name(struct request_guard *guard, struct input *input)
{
    const char *from = input->at;

    input->at = http_pass(from, input->end, HTTP_TOKEN);
    add_to_word(guard, from, (size_t)(input->at - from));
    if (input->at == input->end)
        return true;
    if (*input->at != ':' || guard->word_length == 0)
        return refuse(guard, is_blank(*input->at) ? BAD_BLANK : BAD_NAME);
    input->at++;
    guard->field = (uint8_t)find_field(guard->word, guard->word_length);
    if (guard->in_trailer && (guard->field == FIELD_LENGTH || guard->field == FIELD_CODING))
        return refuse(guard, BAD_TRAILER);
    return begin(guard, PART_VALUE);
}

/* Returns the end of the header line at `at` if the line is complete and well formed and the guard
 * need not interpret it, which is so for most lines. NULL: the line must be examined. */
static const char *pass_line(const char *at, const char *end)
{
    const char *colon = http_pass(at, end, HTTP_TOKEN), *after;

    if (colon == end || *colon != ':' || find_field(at, (size_t)(colon - at)) != FIELD_OTHER)
        return NULL;
    after = http_pass_text(colon + 1, end, HTTP_VALUE);
    return colon > at && end - after >= 2 && after[0] == '\r' && after[1] == '\n' ? after + 2
                                                                                  : NULL;
}

static bool read_line(struct request_guard *guard, struct input *input)
{
    const char *from = input->at, *after;

    while ((after = pass_line(input->at, input->end)) != NULL) {
        guard->head_bytes += RECORD_BYTES;
        input->at = after;
    }
    if (input->at > from)
        return true;
    remember(guard, input);
    if (*input->at == '\r')
        return end_line(guard, input, PART_HEAD_END);
    if (is_blank(*input->at))
        return refuse(guard, BAD_FOLD);
    guard->head_bytes += RECORD_BYTES;
    return begin(guard, PART_NAME);
}

/* ---- Bodies ---- */

static void skip_body(struct request_guard *guard, struct input *input)
{
    size_t here = (size_t)(input->end - input->at);

    if (here > guard->body_left)
        here = (size_t)guard->body_left;
    input->at += here;
    guard->body_left -= here;
}

static bool read_body(struct request_guard *guard, struct input *input)
{
    skip_body(guard, input);
    return guard->body_left > 0 || complete(guard);
}

static bool end_chunk_line(struct request_guard *guard, struct input *input)
{
    guard->in_trailer = guard->body_left == 0;
    return end_line(guard, input, guard->in_trailer ? PART_LINE : PART_CHUNK);
}

static bool read_chunk_size(struct request_guard *guard, struct input *input)
{
    int digit;

    for (; input->at < input->end && (digit = percent_hex_digit(*input->at)) >= 0; input->at++) {
        if (guard->length++ == CHUNK_DIGITS)
            return refuse(guard, BAD_CHUNK);
        guard->body_left = guard->body_left << 4 | (uint64_t)digit;
    }
    if (input->at == input->end)
        return true;
    if (guard->length == 0 || (*input->at != ';' && *input->at != '\r'))
        return refuse(guard, BAD_CHUNK);
    return *input->at == ';' ? begin(guard, PART_EXTENSION) : end_chunk_line(guard, input);
}

static bool read_extension(struct request_guard *guard, struct input *input)
{
    const char *from = input->at;
    size_t size;

    input->at = http_pass(from, input->end, HTTP_VALUE);
    size = guard->length + (size_t)(input->at - from);
    if (size > EXTENSION_BYTES)
        return refuse(guard, BAD_CHUNK);
    guard->length = (uint16_t)size;
    return input->at == input->end || end_chunk_line(guard, input);
}

static bool read_chunk(struct request_guard *guard, struct input *input)
{
    skip_body(guard, input);
    return guard->body_left > 0 || begin(guard, PART_CHUNK_END);
}

static bool read_chunk_end(struct request_guard *guard, struct input *input)
{
    return *input->at == '\r' ? end_line(guard, input, PART_CHUNK_SIZE) : refuse(guard, BAD_CHUNK);
}

/* ---- The whole request ---- */

static bool (*const readings[])(struct request_guard *guard, struct input *input) = {
    [PART_START] = read_start,
    [PART_VERB] = read_verb,
    [PART_TARGET] = read_target,
    [PART_VERSION] = read_version,
    [PART_LINE] = read_line,
    [PART_NAME] = read_name,
    [PART_VALUE] = read_value,
    [PART_BODY] = read_body,
    [PART_CHUNK_SIZE] = read_chunk_size,
    [PART_EXTENSION] = read_extension,
    [PART_CHUNK] = read_chunk,
    [PART_CHUNK_END] = read_chunk_end,
    [PART_LINE_END] = read_line_end,
};

/* Reads one part, or as much of it as has arrived. */
static bool read_part(struct request_guard *guard, struct input *input)
{
    const char *from = input->at;
    bool is_head = guard->part < PART_BODY;

    if (!readings[guard->part](guard, input))
        return false;
    if (is_head)
        guard->head_bytes += (uint32_t)(input->at - from);
    return guard->head_bytes <= HEAD_BYTES || refuse(guard, TOO_LONG);
}

size_t request_guard_check(struct request_guard *guard, const char *bytes, size_t size)
{
    struct input input = { .at = bytes, .end = bytes + size };
    size_t good = 0;

    while (input.at < input.end) {
        uint64_t passed = guard->passed;

        if (!read_part(guard, &input))
            return good;
        if (guard->passed > passed)
            good = (size_t)(input.at - bytes);
    }
    return size;
}
