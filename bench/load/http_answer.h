/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an HTTP/1.0 or HTTP/1.1 answer as its bytes arrive. Parsing is strict, and uses a bounded
 * amount of memory whatever the server sends. The body can be chunked, have a Content-Length, or
 * extend until the connection closes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER_LINE 256             /* how many bytes of a line are kept and examined */
#define HTTP_ANSWER_HEAD (64 * 1024)     /* limit in bytes on all heads and trailers together */
#define HTTP_ANSWER_EXTENSION (4 * 1024) /* limit in bytes on the text after a chunk's size */

/* Callbacks that receive the answer. on_head is not called for interim (1xx) answers. */
struct http_answer_listener {
    void (*on_head)(void *context, long status, const char *content_type);
    bool (*on_body)(void *context, const char *bytes, size_t length); /* false: stop reading */
};

struct http_answer {
    bool begun;        /* at least one byte has arrived */
    bool keeps_open;   /* valid once the answer is complete: the server keeps the connection open */
    const char *wrong; /* what is wrong with the answer; a static string; NULL: nothing */

    /* Private to http_answer.c: */
    uint8_t state;
    bool is_old; /* HTTP/1.0 */
    bool is_chunked, has_length, says_close, says_keep;
    bool is_odd;          /* the head repeats Transfer-Encoding */
    unsigned digits;      /* digits of the chunk's size so far; after its data: 1 if CR was read */
    uint64_t left;        /* bytes of the body, or of the chunk, that have not arrived */
    uint32_t head_bytes;  /* bytes of heads and trailers so far */
    uint32_t line_length; /* bytes in `line`; after a chunk's size: bytes skipped on its line */
    long status;
    char type[64];
    char line[HTTP_ANSWER_LINE]; /* the start of the current line, if it has not ended yet */
};

enum http_answer_end {
    HTTP_ANSWER_OPEN,    /* incomplete */
    HTTP_ANSWER_WHOLE,   /* complete */
    HTTP_ANSWER_STOPPED, /* on_body returned false */
    HTTP_ANSWER_WRONG,   /* not valid, or not acceptable: `wrong` says why */
};

void http_answer_begin(struct http_answer *answer);
/* Reads `bytes` up to their end or the answer's end, whichever comes first; *taken is how many were
 * read. */
enum http_answer_end http_answer_feed(struct http_answer *answer, const char *bytes, size_t length,
                                      size_t *taken, const struct http_answer_listener *listener,
                                      void *context);
/* To be called if the connection was closed before the answer ended. Returns WHOLE if the answer is
 * one that extends until the connection closes, else OPEN. */
enum http_answer_end http_answer_close(struct http_answer *answer);
