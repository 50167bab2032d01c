/* SPDX-License-Identifier: Apache-2.0 */
/* Reads along with an HTTP/1 connection, before libmicrohttpd does, and refuses what two readers
 * could take for different requests (RFC 9112): a blank before a colon, a bare CR, a NUL, two
 * lengths. Else a request could be smuggled past a proxy inside another one. It looks at the form
 * alone, not at what headers mean. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/http/request_fault.h"

#define REQUEST_GUARD_KNOWN 448

/* Of one connection; zero at first. */
struct request_guard {
    const struct request_fault *fault; /* NULL: none so far. Static. */
    uint64_t heads, passed;            /* requests whose headers came, and those that came
                                        * completely */

    /* of request_guard.c: what is kept between requests */
    struct {
        char bytes[REQUEST_GUARD_KNOWN]; /* the front of the head before, whole lines */
        uint16_t length;                 /* 0: none */
        uint32_t records;                /* what they take in libmicrohttpd's memory beside that */
        bool is_old;
    } known;

    /* of request_guard.c: of one request; zero at its begin */
    uint8_t part, next; /* what the next byte belongs to, and what follows the end of the line */
    uint8_t field;      /* the header in work */
    bool is_old, has_length, has_coding, in_trailer, had_blank, knew;
    uint16_t length; /* bytes of the part so far */
    uint8_t word_length;
    char word[30];       /* a name, or a value that matters here */
    uint32_t head_bytes; /* what the head takes in libmicrohttpd's memory */
    uint64_t body_left;  /* bytes of the body, or of the chunk */
};

/* Checks the next bytes. Returns how many of them may be read: all, or, where there is a fault,
 * those of the requests before the faulty one. After a fault nothing may be given any more. */
size_t request_guard_check(struct request_guard *guard, const char *bytes, size_t size);
