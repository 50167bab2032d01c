/* SPDX-License-Identifier: Apache-2.0 */
/* The URL at which the caller of a request can reach the server's pages. */
#pragma once

#include "server/http/exchange.h"

#define PUBLIC_URL_SIZE 512

/* Writes the setting public_url without trailing slashes. If the setting is empty, makes the URL
 * from the request's scheme and Host, which origin_check() must have accepted; if the request has
 * no Host that fits into a URL, writes "". Returns `out`. Call it on the loop's thread. */
const char *public_url_of(const struct exchange *exchange, char out[PUBLIC_URL_SIZE]);
/* The same, given the setting, the scheme and the Host; `host` can be NULL. */
const char *public_url_make(const char *setting, const char *scheme, const char *host,
                            char out[PUBLIC_URL_SIZE]);
