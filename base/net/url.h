/* SPDX-License-Identifier: Apache-2.0 */
/* URLs that a deployment may have, and their origins. */
#pragma once

#include "base/core/error.h"

#define URL_HOST_SIZE 256
/* Checks a base URL: http or https, host, optional port and path, no user, query or fragment, at
 * most 1,024 bytes, and not a literal refused address (FORBIDDEN). Fills *host (lower case, no
 * brackets) and *port. The caller trims a trailing '/' or '/v1'. */
CHECKED bool url_check(const char *url, char host[URL_HOST_SIZE], int *port, struct error *error);
#define ORIGIN_SIZE 288
/* "https://host:port" of such a URL, in canonical form: lower case, IPv6 in its canonical form,
 * without the scheme's default port. Fails as url_check does. */
CHECKED bool url_origin(const char *url, char out[ORIGIN_SIZE], struct error *error);
