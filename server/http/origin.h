/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a request's Host and Origin headers, to stop web pages that try to reach a server on their
 * viewer's machine (DNS rebinding, cross-site requests). */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"

struct origin_rules {
    const char *allowed_hosts;   /* names, with or without a port, separated by commas; "*": any */
    const char *allowed_origins; /* such as "https://example.com", separated by commas; "*": any */
    bool any_address; /* any IP address is allowed as Host: unlike a name, it cannot be rebound */
};

/* `host` and `origin` are NULL if the header is absent. FORBIDDEN: the message names the setting
 * that would allow the request. */
CHECKED bool origin_check(const struct origin_rules *rules, const char *host, const char *origin,
                          struct error *error);
