/* SPDX-License-Identifier: Apache-2.0 */
/* The address of the server's pages, as the caller of a request reaches them. */
#pragma once

#include "server/http/exchange.h"

#define PUBLIC_URL_SIZE 512

/* The setting public_url, without slashes at its end; if that is empty, the request's scheme and
 * Host, which origin_check() accepted; "" if the request has no Host that fits into a URL. On the
 * loop's thread. Returns `out`. */
const char *public_url_of(const struct exchange *exchange, char out[PUBLIC_URL_SIZE]);
/* The same, given the setting, the scheme and the Host; `host` may be NULL. */
const char *public_url_make(const char *setting, const char *scheme, const char *host,
                            char out[PUBLIC_URL_SIZE]);
