/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct span {
    const char *data;
    size_t length;
};

static bool span_is(struct span span, const char *text)
{
    return strlen(text) == span.length && strncasecmp(span.data, text, span.length) == 0;
}

static void span_copy(struct span span, char *out, size_t size)
{
    size_t length = span.length < size ? span.length : size - 1;

    memcpy(out, span.data, length);
    out[length] = '\0';
}

static bool span_number(struct span span, size_t limit, size_t *out)
{
    size_t number = 0;

    if (span.length == 0)
        return false;
    for (size_t i = 0; i < span.length; i++) {
        if (span.data[i] < '0' || span.data[i] > '9')
            return false;
        if (number <= limit)
            number = 10 * number + (size_t)(span.data[i] - '0');
    }
    *out = number;
    return true;
}

/* Takes the next line from `rest`, and sets `line` to it without its line ending. Returns false if
 * no line is complete. */
static bool next_line(struct span *rest, struct span *line)
{
    const char *end = memchr(rest->data, '\n', rest->length);

    if (end == NULL)
        return false;
    *line = (struct span){ rest->data, (size_t)(end - rest->data) };
    rest->length -= line->length + 1;
    rest->data = end + 1;
    if (line->length > 0 && line->data[line->length - 1] == '\r')
        line->length--;
    return true;
}

static bool next_word(struct span *rest, struct span *word)
{
    const char *end = memchr(rest->data, ' ', rest->length);

    *word = *rest;
    if (end)
        word->length = (size_t)(end - rest->data);
    rest->data += word->length + (end != NULL);
    rest->length -= word->length + (end != NULL);
    return word->length > 0;
}

static bool request_line(struct http_request *request, struct span line)
{
    struct span method, target, version, query = { "", 0 };
    const char *mark;

    if (!next_word(&line, &method) || !next_word(&line, &target) || !next_word(&line, &version))
        return false;
    mark = memchr(target.data, '?', target.length);
    if (mark) {
        query = (struct span){ mark + 1, target.length - (size_t)(mark + 1 - target.data) };
        target.length = (size_t)(mark - target.data);
    }
    if (method.length >= sizeof request->method || target.length >= sizeof request->path
        || query.length >= sizeof request->query || version.length < 8
        || memcmp(version.data, "HTTP/1.", 7) != 0)
        return false;
    span_copy(method, request->method, sizeof request->method);
    span_copy(target, request->path, sizeof request->path);
    span_copy(query, request->query, sizeof request->query);
    request->keep_alive = version.data[7] == '1';
    return true;
}

static bool header_line(struct http_request *request, struct span line)
{
    const char *colon = memchr(line.data, ':', line.length);
    struct span name, value;

    if (colon == NULL || colon == line.data)
        return false;
    name = (struct span){ line.data, (size_t)(colon - line.data) };
    value = (struct span){ colon + 1, line.length - name.length - 1 };
    while (value.length > 0 && (*value.data == ' ' || *value.data == '\t'))
        value.data++, value.length--;
    if (span_is(name, "content-length"))
        return span_number(value, HTTP_BODY_LIMIT, &request->body_bytes);
    if (span_is(name, "transfer-encoding"))
        request->chunked = span_is(value, "chunked");
    else if (span_is(name, "connection"))
        request->keep_alive =
            request->keep_alive ? !span_is(value, "close") : span_is(value, "keep-alive");
    else if (span_is(name, "expect"))
        request->expects_continue = span_is(value, "100-continue");
    else if (span_is(name, "authorization"))
        span_copy(value, request->authorization, sizeof request->authorization);
    else if (span_is(name, "x-request-id"))
        span_copy(value, request->request_id, sizeof request->request_id);
    else if (span_is(name, "x-sim-fault"))
        span_copy(value, request->fault, sizeof request->fault);
    return true;
}

/* Returns the position after the empty line that ends the head; 0 if the head is not complete. */
static size_t head_end(const struct text *input)
{
    const char *end = memmem(input->data, input->length, "\r\n\r\n", 4);

    return end ? (size_t)(end + 4 - input->data) : 0;
}

static enum http_state read_head(struct http_request *request, struct text *input)
{
    size_t end = head_end(input);
    struct span rest = { input->data, end }, line;

    if (end > HTTP_HEAD_LIMIT || (end == 0 && input->length > HTTP_HEAD_LIMIT))
        return HTTP_TOO_LARGE;
    if (end == 0)
        return HTTP_INCOMPLETE;
    if (!next_line(&rest, &line) || !request_line(request, line))
        return HTTP_MALFORMED;
    while (next_line(&rest, &line) && line.length > 0)
        if (!header_line(request, line))
            return HTTP_MALFORMED;
    request->head_bytes = end;
    request->consumed = end;
    if (request->chunked)
        request->body_bytes = 0;
    return request->body_bytes > HTTP_BODY_LIMIT ? HTTP_TOO_LARGE : HTTP_COMPLETE;
}

/* Skips the trailers and the empty line after them. `rest` begins after the last chunk. */
static enum http_state skip_trailers(struct http_request *request, const struct text *input,
                                     struct span rest)
{
    struct span line;

    do
        if (!next_line(&rest, &line))
            return rest.length > HTTP_HEAD_LIMIT ? HTTP_TOO_LARGE : HTTP_INCOMPLETE;
    while (line.length > 0);
    request->consumed = (size_t)(rest.data - input->data);
    return HTTP_COMPLETE;
}

/* Decodes the chunk that begins at request->consumed, and appends it to the body. */
static enum http_state read_chunk(struct http_request *request, struct text *input, bool *last)
{
    struct span rest = { input->data + request->consumed, input->length - request->consumed }, line;
    size_t size;
    char *end;

    if (!next_line(&rest, &line))
        return rest.length > 64 ? HTTP_MALFORMED : HTTP_INCOMPLETE;
    size = strtoul(line.data, &end, 16); /* the line ending after the digits stops strtoul */
    if (end == line.data || size > HTTP_BODY_LIMIT - request->body_bytes)
        return end == line.data ? HTTP_MALFORMED : HTTP_TOO_LARGE;
    *last = size == 0;
    if (*last)
        return skip_trailers(request, input, rest);
    if (rest.length < size + 2)
        return HTTP_INCOMPLETE;
    memmove(input->data + request->head_bytes + request->body_bytes, rest.data, size);
    request->body_bytes += size;
    request->consumed = (size_t)(rest.data - input->data) + size + 2;
    return HTTP_COMPLETE;
}

static enum http_state read_chunks(struct http_request *request, struct text *input)
{
    bool last = false;
    enum http_state state = HTTP_COMPLETE;

    while (state == HTTP_COMPLETE && !last)
        state = read_chunk(request, input, &last);
    return state;
}

enum http_state http_read(struct http_request *request, struct text *input)
{
    if (input->length == 0)
        return HTTP_INCOMPLETE;
    if (request->head_bytes == 0) {
        enum http_state state = read_head(request, input);

        if (state != HTTP_COMPLETE)
            return state;
    }
    if (request->chunked)
        return read_chunks(request, input);
    if (input->length - request->head_bytes < request->body_bytes)
        return HTTP_INCOMPLETE;
    request->consumed = request->head_bytes + request->body_bytes;
    return HTTP_COMPLETE;
}

const char *http_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } table[] = {
        { 200, "OK" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 413, "Content Too Large" },
        { 429, "Too Many Requests" },
        { 500, "Internal Server Error" },
        { 503, "Service Unavailable" },
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].status == status)
            return table[i].text;
    return "Unknown";
}

void http_add_head(struct text *out, int status, const char *type, const char *extra,
                   int64_t body_bytes)
{
    text_addf(out, "HTTP/1.1 %d %s\r\nserver: uvicorn\r\ncontent-type: %s\r\n", status,
              http_status_text(status), type);
    if (extra)
        text_add(out, extra);
    if (body_bytes < 0)
        text_add(out, "transfer-encoding: chunked\r\n\r\n");
    else
        text_addf(out, "content-length: %lld\r\n\r\n", (long long)body_bytes);
}

int64_t http_query_integer(const char *query, const char *name, int64_t fallback)
{
    size_t length = strlen(name);

    while (*query) {
        size_t pair = strcspn(query, "&");
        char value[32];
        int64_t number;

        if (strncmp(query, name, length) == 0 && query[length] == '='
            && pair - length - 1 < sizeof value) {
            span_copy((struct span){ query + length + 1, pair - length - 1 }, value, sizeof value);
            return text_to_integer(value, INT64_MIN, INT64_MAX, &number) ? number : fallback;
        }
        query += pair + (query[pair] == '&');
    }
    return fallback;
}
