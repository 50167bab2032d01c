/* Where the users of a cell connect to: the host is resolved once, not once per connection. */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "base/core/error.h"
#include "base/net/endpoint.h"

struct curl_slist;

#define REACH_ADDRESSES 8

struct reach {
    char host[256];            /* lower case, no brackets */
    struct curl_slist *pinned; /* for CURLOPT_RESOLVE; NULL where the URL names an address */
    size_t count;
    struct sockaddr_storage addresses[REACH_ADDRESSES]; /* with the port; in the resolver's order */
    /* One address after the other may be tried: not of two families, of which one may lead nowhere
     * without saying so. */
    bool is_simple;
};

/* UPSTREAM where the host does not resolve, or only to addresses that no deployment may have. Free
 * with reach_finish. */
bool reach_resolve(const struct endpoint *endpoint, struct reach *out, struct error *error);
void reach_finish(struct reach *reach);
/* Raises the limit of open files as far as it goes. BUSY, with the limit and what to do, where
 * `connections` more do not fit. */
bool reach_fit(int64_t connections, struct error *error);
