/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an HTTP/1.1 answer as its bytes arrive: strict, and bounded whatever the server sends. The
 * body comes by chunks, by a length, or goes on until the connection closes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER_LINE 256             /* of a header line so much is looked at */
#define HTTP_ANSWER_HEAD (64 * 1024)     /* heads, interim ones included, and trailers */
#define HTTP_ANSWER_EXTENSION (4 * 1024) /* behind the size of a chunk */

/* What an answer tells. */
struct http_answer_listener {
    void (*on_head)(void *context, long status, const char *content_type);
    bool (*on_body)(void *context, const char *bytes, size_t length); /* false: no more */
};

/* Private, but for the members that are explained. */
struct http_answer {
    uint8_t state;
    bool begun;      /* a byte of it has come */
    bool keeps_open; /* once it is whole: the server takes another request */
    bool is_old;     /* HTTP/1.0 */
    bool is_chunked, has_length, says_close, says_keep;
    bool is_odd;         /* its head says something twice that is to be said once */
    unsigned digits;     /* of the chunk's size */
    uint64_t left;       /* of the body or the chunk */
    uint32_t head_bytes; /* of heads and trailers so far */
    uint32_t line_length;
    long status;
    const char *wrong; /* what is wrong with it; static */
    char type[64];
    char line[HTTP_ANSWER_LINE]; /* its start, where it has not ended yet */
};

enum http_answer_end {
    HTTP_ANSWER_OPEN,    /* more must come */
    HTTP_ANSWER_WHOLE,   /* it ended */
    HTTP_ANSWER_STOPPED, /* the listener wants no more */
    HTTP_ANSWER_WRONG,   /* not HTTP: `wrong` says why */
};

void http_answer_begin(struct http_answer *answer);
/* Takes bytes until the answer ends; *taken is how many. */
enum http_answer_end http_answer_feed(struct http_answer *answer, const char *bytes, size_t length,
                                      size_t *taken, const struct http_answer_listener *listener,
                                      void *context);
/* The connection was closed: WHOLE where that ends the answer, else OPEN. */
enum http_answer_end http_answer_close(struct http_answer *answer);
