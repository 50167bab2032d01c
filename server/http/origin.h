/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a request's Host and Origin headers, to stop web pages that try to reach a server on their
 * viewer's machine (DNS rebinding, cross-site requests). */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"

struct origin_rules {
    const char *allowed_hosts;   /* names, separated by commas; "*": any */
    const char *allowed_origins; /* origins, in the same form */
    bool any_address; /* allow any IP address as Host: unlike a name, it cannot be rebound */
};

/* `host` and `origin` are NULL if the header is absent. FORBIDDEN: the message names the setting
 * that would allow the request. */
CHECKED bool origin_check(const struct origin_rules *rules, const char *host, const char *origin,
                          struct error *error);
