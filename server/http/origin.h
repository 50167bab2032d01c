/* SPDX-License-Identifier: Apache-2.0 */
/* Host and Origin of a request: the defence against web pages that try to reach a server on the
 * reader's own machine (DNS rebinding, cross-site requests). */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"

struct origin_rules {
    const char *allowed_hosts;   /* names with commas; "*": any */
    const char *allowed_origins; /* the same */
    bool any_address;            /* an IP address as Host is fine: no name, so nothing to rebind */
};

/* `host` and `origin` may be NULL (absent). FORBIDDEN names the setting that would allow it. */
CHECKED bool origin_check(const struct origin_rules *rules, const char *host, const char *origin,
                          struct error *error);
