/* SPDX-License-Identifier: Apache-2.0 */
/* request_guard: unless a head is too long, the verdict is the same whether the bytes arrive at
 * once or in pieces, and is that of a slow and simple reader, which gets all bytes and reads each
 * head line by line. */
#include <ctype.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "server/http/request_guard.h"
#include "tests/fuzz/fuzz.h"

struct bytes {
    const char *at, *end;
};

/* What the simple reader has found in a request. */
struct plain {
    bool good;        /* so far */
    bool is_old;      /* HTTP/1.0 */
    long long length; /* of the body; -1: not stated */
    bool chunked;
};

/* Reads a line, without its line end; returns false if the line is incomplete. */
static bool take_line(struct bytes *bytes, struct text *line)
{
    const char *end = memmem(bytes->at, (size_t)(bytes->end - bytes->at), "\r\n", 2);

    text_clear(line);
    if (end == NULL)
        return false;
    text_add_bytes(line, bytes->at, (size_t)(end - bytes->at));
    bytes->at = end + 2;
    return true;
}

static bool has_control(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)bytes[i] < ' ' && bytes[i] != '\t') || bytes[i] == 0x7f)
            return true;
    return false;
}

static bool is_token(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)bytes[i])
            && (bytes[i] == '\0' || strchr("!#$%&'*+-.^_`|~", bytes[i]) == NULL))
            return false;
    return length > 0;
}

static void read_request_line(const struct text *line, struct plain *out)
{
    const char *data = text_string(line), *end = data + line->length;
    const char *first = memchr(data, ' ', line->length);
    const char *second = first != NULL ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;

    out->good = second != NULL && is_token(data, (size_t)(first - data)) && second > first + 1
                && memchr(first, '\t', (size_t)(second - first)) == NULL && end - second == 9
                && memcmp(second, " HTTP/1.", 8) == 0 && isdigit((unsigned char)second[8])
                && !has_control(data, line->length);
    out->is_old = out->good && second[8] == '0';
}

static void read_length(const char *value, struct plain *out)
{
    size_t digits = strspn(value, "0123456789");

    out->good &= out->length < 0 && digits > 0 && digits <= 18 && value[digits] == '\0';
    out->length = out->good ? atoll(value) : 0;
}

/* Returns a header's value without the spaces and tabs around it; the caller frees it. */
static char *value_of(const char *text, size_t length)
{
    struct text value = { 0 };

    while (length > 0 && (*text == ' ' || *text == '\t'))
        text++, length--;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    text_add_bytes(&value, text, length);
    return text_take(&value);
}

static void read_header(const struct text *line, bool in_trailer, struct plain *out)
{
    const char *data = text_string(line), *colon = memchr(data, ':', line->length);
    size_t name = colon != NULL ? (size_t)(colon - data) : 0;
    bool is_length = name == 14 && strncasecmp(data, "Content-Length", 14) == 0;
    bool is_coding = name == 17 && strncasecmp(data, "Transfer-Encoding", 17) == 0;
    FREE_AUTO char *value = NULL;

    out->good &= colon != NULL && is_token(data, name) && !has_control(data, line->length)
                 && !(in_trailer && (is_length || is_coding));
    if (!out->good)
        return;
    value = value_of(colon + 1, line->length - name - 1);
    if (is_length)
        read_length(value, out);
    if (is_coding)
        out->good &= !out->chunked && strcasecmp(value, "chunked") == 0;
    out->chunked |= is_coding;
}

/* Reads headers and the empty line after them; returns false if they are faulty or incomplete. */
static bool read_headers(struct bytes *bytes, bool in_trailer, struct plain *out)
{
    TEXT_AUTO line = { 0 };

    while (out->good && take_line(bytes, &line)) {
        if (line.length == 0)
            return true;
        read_header(&line, in_trailer, out);
    }
    return false;
}

static bool skip(struct bytes *bytes, unsigned long long length)
{
    bool complete = (unsigned long long)(bytes->end - bytes->at) >= length;

    bytes->at = complete ? bytes->at + length : bytes->end;
    return complete;
}

static bool read_chunk_line(struct bytes *bytes, unsigned long long *size, struct plain *out)
{
    TEXT_AUTO line = { 0 };
    size_t digits;

    if (!take_line(bytes, &line))
        return false;
    digits = strspn(text_string(&line), "0123456789abcdefABCDEF");
    out->good = digits > 0 && digits <= 15 && !has_control(text_string(&line), line.length)
                && (digits == line.length || line.data[digits] == ';')
                && line.length - digits <= 256;
    *size = out->good ? strtoull(line.data, NULL, 16) : 0;
    return out->good;
}

static bool read_chunks(struct bytes *bytes, struct plain *out)
{
    unsigned long long size;

    while (read_chunk_line(bytes, &size, out)) {
        if (size == 0)
            return read_headers(bytes, true, out);
        if (!skip(bytes, size))
            return false;
        if (bytes->end - bytes->at >= 2 && memcmp(bytes->at, "\r\n", 2) != 0)
            out->good = false;
        if (!out->good || !skip(bytes, 2))
            return false;
    }
    return false;
}

/* Reads one request; returns false if it is faulty or incomplete. */
static bool read_request(struct bytes *bytes, struct plain *out)
{
    TEXT_AUTO line = { 0 };

    *out = (struct plain){ .good = true, .length = -1 };
    do
        if (!take_line(bytes, &line))
            return false;
    while (line.length == 0);
    read_request_line(&line, out);
    if (!read_headers(bytes, false, out))
        return false;
    out->good &= !(out->chunked && (out->length >= 0 || out->is_old));
    if (!out->good)
        return false;
    if (out->chunked)
        return read_chunks(bytes, out);
    return skip(bytes, out->length > 0 ? (unsigned long long)out->length : 0);
}

static bool is_too_long(const struct request_guard *guard)
{
    return guard->fault != NULL && guard->fault->status == 431;
}

/* The bytes must get the same verdict in pieces as they get at once, unless a head is too long: if
 * it is only just too long, or has a second fault, the two verdicts can differ. */
static void check_pieces(const char *data, size_t size, const struct request_guard *whole)
{
    for (size_t piece = 1; piece < size; piece = piece * 2 + 1) {
        struct request_guard guard = { 0 };

        for (size_t at = 0; at < size && guard.fault == NULL; at += piece)
            request_guard_check(&guard, data + at, size - at < piece ? size - at : piece);
        must(is_too_long(&guard) || is_too_long(whole)
             || (guard.fault == whole->fault && guard.passed == whole->passed));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = { (const char *)data, (const char *)data + size };
    struct request_guard guard = { 0 };
    struct plain plain;
    size_t good_bytes, passed = 0;
    const char *requests_end = bytes.at;

    good_bytes = request_guard_check(&guard, bytes.at, size);
    check_pieces(bytes.at, size, &guard);
    while (read_request(&bytes, &plain)) {
        passed++;
        requests_end = bytes.at;
    }
    if (is_too_long(&guard))
        return 0; /* the simple reader has no limit */
    must(guard.passed == passed);
    must(plain.good || guard.fault != NULL);
    must(guard.fault == NULL ? good_bytes == size
                             : (const char *)data + good_bytes == requests_end);
    return 0;
}
