/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the URLs of deployments, and determines their origins. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"

#define URL_HOST_SIZE 256
/* Checks a base URL. INVALID unless it begins with http:// or https://, has a host, optionally a
 * port and a path, no user, query or fragment, and at most 1,024 bytes. FORBIDDEN if its host is an
 * address for which outbound_address_is_refused returns true. Fills in the host (lower case, no
 * brackets) and the port (the scheme's default if the URL has none). A trailing '/' or '/v1' is
 * accepted; the caller must remove it. */
CHECKED bool url_check(const char *url, char host[URL_HOST_SIZE], int *port, struct error *error);
/* Returns the length of the host at the beginning of "HOST" or "HOST:PORT", including the brackets
 * of an IPv6 address. */
size_t url_host_length(const char *authority);
/* Whether a host that url_check filled in is this machine: "localhost", ::1, or an address in
 * 127.0.0.0/8. */
bool url_host_is_loopback(const char *host);
#define ORIGIN_SIZE 288
/* Writes the origin of a base URL, such as "https://host:8443": in lower case, with an IPv6 address
 * in its canonical form, and without the scheme's default port. Fails like url_check. */
CHECKED bool url_origin(const char *url, char out[ORIGIN_SIZE], struct error *error);
