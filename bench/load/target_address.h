/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses that a cell's simulated users connect to. The host is resolved once for each cell,
 * not for each connection. */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "base/core/error.h"
#include "base/net/endpoint.h"

struct curl_slist;

#define TARGET_ADDRESSES 8 /* further addresses of the host are ignored */

struct target_address {
    char host[256];            /* in lower case, without an IPv6 address's brackets */
    struct curl_slist *pinned; /* for CURLOPT_RESOLVE; NULL if the host is a numeric address */
    size_t count;
    /* In the resolver's order. Each includes the port. */
    struct sockaddr_storage addresses[TARGET_ADDRESSES];
    /* All addresses are loopback addresses, or all are of one family, so that they can be tried one
     * after the other. With two families, connections over one of them might hang instead of
     * failing. */
    bool is_simple;
};

/* INVALID or FORBIDDEN if url_check refuses the URL; UPSTREAM if the host does not resolve, or
 * resolves only to addresses that are refused or are not in endpoint->servers. Free with
 * target_address_finish. */
CHECKED bool target_address_resolve(const struct endpoint *endpoint, struct target_address *out,
                                    struct error *error);
void target_address_finish(struct target_address *target);
/* Raises this process's limit on open files as far as possible. BUSY if even the raised limit does
 * not allow this many more connections. */
CHECKED bool target_address_ensure_descriptors(int64_t connections, struct error *error);
