/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of characters in the head of an HTTP message (RFC 9110, 5). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The characters of a name or verb, of a request target, and of a header value (including spaces
 * and tabs). */
enum { HTTP_TOKEN = 1, HTTP_TARGET = 2, HTTP_VALUE = 4 };

/* The first byte from `at` on that is not in the class, or `end`. */
const char *http_pass(const char *at, const char *end, unsigned class);
/* The same, but faster for long texts; only for HTTP_TARGET and HTTP_VALUE. */
const char *http_pass_text(const char *at, const char *end, unsigned class);
