/* SPDX-License-Identifier: Apache-2.0 */
/* Parses HTTP/1.1 requests from a byte stream, and writes the heads of answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

#define HTTP_HEAD_LIMIT 65536
#define HTTP_BODY_LIMIT (8 << 20)

enum http_state { HTTP_INCOMPLETE, HTTP_COMPLETE, HTTP_MALFORMED, HTTP_TOO_LARGE };

/* The caller zeroes it before each request. */
struct http_request {
    char method[16];
    char path[256];
    char query[256];
    char request_id[80];
    char fault[256];
    char authorization[256];
    bool keep_alive;
    bool expects_continue; /* the caller clears it after sending 100 */
    bool chunked;
    size_t head_bytes; /* 0 until the head is complete */
    size_t body_bytes; /* the declared length or, if `chunked`, the bytes decoded so far */
    size_t consumed;   /* bytes of the input parsed so far as part of the request */
};

/* Parses `input`, which begins with the request's first byte and can grow between calls. Decodes a
 * chunked body in place. Once the request is complete, its body is at input->data + head_bytes. */
enum http_state http_read(struct http_request *request, struct text *input);

const char *http_status_text(int status);
/* Writes the status line, the headers and the empty line. `extra`: further header lines, each
 * "name: value\r\n", or NULL. A negative body_bytes means a chunked body. */
void http_add_head(struct text *out, int status, const char *type, const char *extra,
                   int64_t body_bytes);
/* Returns the integer value of `name` in a query such as "a=1&b=2"; `fallback` if the name is
 * missing or its value is not an integer. */
int64_t http_query_integer(const char *query, const char *name, int64_t fallback);
