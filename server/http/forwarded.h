/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a request that came through proxies trusted to name it. */
#pragma once

#include "base/net/ip.h"

struct MHD_Connection;

/* By the X-Forwarded-For headers of a request that came from the trusted proxy `*address`: the last
 * hop that is not a trusted proxy. An unreadable entry ends the search. */
void forwarded_find(struct MHD_Connection *mhd, const struct ip_networks *trusted,
                    struct ip_address *address);
/* The same, of the headers' values with commas. */
void forwarded_follow(const char *hops, const struct ip_networks *trusted,
                      struct ip_address *address);
/* Whether the last of its proxies was asked over TLS, by X-Forwarded-Proto of such a request. */
bool forwarded_is_https(struct MHD_Connection *mhd);
