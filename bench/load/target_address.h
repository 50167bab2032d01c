/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses that the users of a cell connect to: the host is resolved once, not once per
 * connection. */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "base/core/error.h"
#include "base/net/endpoint.h"

struct curl_slist;

#define TARGET_ADDRESSES 8 /* further addresses of the host are ignored */

struct target_address {
    char host[256];            /* lower case, no brackets */
    struct curl_slist *pinned; /* for CURLOPT_RESOLVE; NULL if the URL contains an address */
    size_t count;
    /* Including the port, in the resolver's order. */
    struct sockaddr_storage addresses[TARGET_ADDRESSES];
    /* The addresses may be tried one after the other: all are loopback, or of one family. With two
     * families, the connections of one may hang instead of failing. */
    bool is_simple;
};

/* INVALID or FORBIDDEN if url_check refuses the URL; UPSTREAM if the host does not resolve, or
 * resolves only to addresses that are refused, or that endpoint->servers does not have. Free with
 * target_address_finish. */
CHECKED bool target_address_resolve(const struct endpoint *endpoint, struct target_address *out,
                                    struct error *error);
void target_address_finish(struct target_address *target);
/* Raises this process's limit of open files as far as possible. BUSY if even the raised limit does
 * not allow this many more connections. */
CHECKED bool target_address_ensure_descriptors(int64_t connections, struct error *error);
