/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes of an HTTP/1 connection before libmicrohttpd does, and refuses input that two
 * readers could interpret as different requests (RFC 9112): a space before a colon, a bare CR, a
 * NUL, two lengths. Otherwise a request could be smuggled past a proxy inside another request.
 * The guard interprets only the headers that say where a body ends; for the others, it checks only
 * the form and how much of libmicrohttpd's memory they take. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/http/request_fault.h"

#define REQUEST_GUARD_KNOWN 448

/* The state of one connection; zero at first. */
struct request_guard {
    const struct request_fault *fault; /* static; NULL: none so far */
    uint64_t heads;                    /* how many requests' headers have arrived */
    uint64_t passed;                   /* how many requests have arrived completely */

    /* for request_guard.c: kept between requests */
    struct {
        char bytes[REQUEST_GUARD_KNOWN]; /* the first lines of an earlier head */
        uint16_t length;                 /* 0: none */
        /* bytes that the lines take in libmicrohttpd's memory, besides their text */
        uint32_t record_bytes;
        bool is_old;
    } known;

    /* for request_guard.c: the state of one request; zero at its beginning */
    uint8_t part;  /* what the next byte belongs to */
    uint8_t next;  /* the part that follows the end of the line */
    uint8_t field; /* the current header */
    bool is_old;   /* the request is HTTP/1.0 */
    bool is_known; /* the request's first lines are those in `known` */
    bool has_length, has_coding, in_trailer, had_blank;
    /* how many bytes of the current version, chunk size or extension have been read; for a target,
     * 1 if any have been read */
    uint16_t length;
    uint8_t word_length;
    char word[30];       /* a header's name, or a value that the guard interprets */
    uint32_t head_bytes; /* how many bytes the head and trailer take in libmicrohttpd's memory */
    uint64_t body_left;  /* how many bytes of the body, or of the chunk, are still to come */
};

/* Checks the next bytes. Returns how many of them can be passed on: all of them or, if there is a
 * fault, those of the requests before the faulty one. Must not be called again after a fault. */
size_t request_guard_check(struct request_guard *guard, const char *bytes, size_t size);
