/* SPDX-License-Identifier: Apache-2.0 */
/* Checks Host and Origin of a request, to stop web pages that try to reach a server on the machine
 * of the person who views them (DNS rebinding, cross-site requests). */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"

struct origin_rules {
    const char *allowed_hosts;   /* names, separated by commas; "*": any */
    const char *allowed_origins; /* origins, in the same form */
    bool any_address; /* an IP address is allowed as Host: it is no name that could be rebound */
};

/* `host` and `origin` may be NULL (absent). FORBIDDEN names the setting that would allow it. */
CHECKED bool origin_check(const struct origin_rules *rules, const char *host, const char *origin,
                          struct error *error);
