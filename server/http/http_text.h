/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of characters in the head of an HTTP message (RFC 9110, 5). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The characters that are allowed in a part of the head. A character can be in several classes. */
enum {
    HTTP_TOKEN = 1,  /* in a verb or a header's name */
    HTTP_TARGET = 2, /* in a request target */
    HTTP_VALUE = 4,  /* in a header's value; includes spaces and tabs */
};

/* Points to the first byte from `at` on that is not in the class, or to `end`. */
const char *http_pass(const char *at, const char *end, unsigned class);
/* The same, but faster for long texts; only for HTTP_TARGET and HTTP_VALUE. */
const char *http_pass_text(const char *at, const char *end, unsigned class);
