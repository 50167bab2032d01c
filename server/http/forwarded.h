/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the client of a request that came through trusted proxies. */
#pragma once

#include "base/net/ip.h"

struct MHD_Connection;

/* Replaces `*address`, which is a trusted proxy's, by the last address in the X-Forwarded-For
 * headers that is not a trusted proxy's; if all are, by the first. An unreadable entry ends the
 * search: then the address after it is taken. If the last entry is unreadable, or there is no
 * entry, `*address` is unchanged. */
void forwarded_find(struct MHD_Connection *mhd, const struct ip_networks *trusted,
                    struct ip_address *address);
/* The same, given the values of the headers, joined by commas. */
void forwarded_follow(const char *hops, const struct ip_networks *trusted,
                      struct ip_address *address);
/* Whether the proxy that connects to us was reached by https, as it says in X-Forwarded-Proto. */
bool forwarded_is_https(struct MHD_Connection *mhd);
