/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses no deployment is allowed to have, and which one is Google's metadata server. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/* Returns true if no deployment is allowed to have the address. These addresses are refused:
 * link-local (169.254.0.0/16, fe80::/10), cloud metadata (fd00:ec2::254, fd20:ce::254, fd00:42::42,
 * 100.100.100.200, 192.0.0.192, 168.63.129.16), unspecified, multicast and reserved ones; IPv6
 * addresses that embed such an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo,
 * ISATAP; in private NAT64, only a link-local or metadata address); and any address that is neither
 * IPv4 nor IPv6. */
bool outbound_address_is_refused(const struct sockaddr *address);
/* Whether the address is 169.254.169.254, where Google's metadata server is. */
bool outbound_address_is_google_metadata(const struct sockaddr *address);
