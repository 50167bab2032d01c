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

/* Zeroed before the first byte of a request. */
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
    size_t body_bytes; /* declared; with `chunked`, decoded so far */
    size_t consumed;   /* of the input, once complete (chunked: decoded so far) */
};

/* Parses all input since the request's first byte; it may grow between calls; chunked bodies are
 * decoded in place. When complete, the body is at input->data + head_bytes. */
enum http_state http_read(struct http_request *request, struct text *input);

const char *http_status_text(int status);
/* Status line and headers, with the blank line. `extra`: more header lines ("name: value\r\n" each)
 * or NULL; body_bytes < 0: chunked. */
void http_add_head(struct text *out, int status, const char *type, const char *extra,
                   int64_t body_bytes);
/* Value of an integer in a query ("a=1&b=2"); fallback if absent or wrong. */
int64_t http_query_integer(const char *query, const char *name, int64_t fallback);
