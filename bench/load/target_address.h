/* SPDX-License-Identifier: Apache-2.0 */
/* The address that the users of a cell connect to: the host is resolved once, not once per
 * connection. */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "base/core/error.h"
#include "base/net/endpoint.h"

struct curl_slist;

#define TARGET_ADDRESS_ADDRESSES 8

struct target_address {
    char host[256];            /* lower case, no brackets */
    struct curl_slist *pinned; /* for CURLOPT_RESOLVE; NULL if the URL contains an address */
    size_t count;
    struct sockaddr_storage
        addresses[TARGET_ADDRESS_ADDRESSES]; /* with the port; in the resolver's order */
    /* Addresses that may be tried one after the other. They are of one family: with two, those of
     * one may lead nowhere without an error. */
    bool is_simple;
};

/* UPSTREAM if the host does not resolve, or only to addresses that no deployment may have. Free
 * with target_address_finish. */
CHECKED bool target_address_resolve(const struct endpoint *endpoint, struct target_address *out,
                                    struct error *error);
void target_address_finish(struct target_address *target);
/* Raises the limit of open files as far as possible. BUSY, with the limit and advice, if it does
 * not allow `connections` more. */
CHECKED bool target_address_fit(int64_t connections, struct error *error);
