/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the client of a request that came through trusted proxies. */
#pragma once

#include "base/net/ip.h"

struct MHD_Connection;

/* Finds the client's address. On entry, `*address` must be the address that connected to us. As
 * long as it is a trusted proxy's, it is replaced with the next entry of the X-Forwarded-For
 * headers, from the last entry to the first. The search also stops when no entry is left or an
 * entry cannot be read; then `*address` stays as it is, even if it is a trusted proxy's. */
void forwarded_find(struct MHD_Connection *mhd, const struct ip_networks *trusted,
                    struct ip_address *address);
/* The same, given the headers' values joined with commas. */
void forwarded_follow(const char *hops, const struct ip_networks *trusted,
                      struct ip_address *address);
/* Whether the client used HTTPS to reach the proxy that connects to us, according to the
 * X-Forwarded-Proto header. */
bool forwarded_is_https(struct MHD_Connection *mhd);
