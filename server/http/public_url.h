/* SPDX-License-Identifier: Apache-2.0 */
/* The address of the server's pages, as the caller of a request reaches them. */
#pragma once

#include "server/http/exchange.h"

#define PUBLIC_URL_SIZE 512

/* The setting public_url, without a slash at its end, or the request's scheme and Host, which
 * origin_check() accepted; "" if it has none. On the loop's thread. Returns `out`. */
const char *public_url_of(const struct exchange *exchange, char out[PUBLIC_URL_SIZE]);
/* The same, given a setting, a scheme and a Host, which may be NULL. */
const char *public_url_make(const char *setting, const char *scheme, const char *host,
                            char out[PUBLIC_URL_SIZE]);
