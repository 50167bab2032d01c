/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that is sent in one piece, not as a stream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/text.h"

#define HTTP_REPLY_HEADERS 16

struct http_reply {
    unsigned status; /* 0: none yet */
    const char *content_type;
    struct text body;
    struct {
        const char *name;
        char *value;
    } headers[HTTP_REPLY_HEADERS];
    size_t header_count;
    bool closes; /* the connection is closed after the answer */
};
