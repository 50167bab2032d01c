/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses a deployment may have. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/* Whether no deployment may have the address: cloud metadata (169.254.0.0/16,
 * fd00:ec2::254, fe80::/10, fd20:ce::254, 100.100.100.200, 192.0.0.192, 168.63.129.16),
 * unspecified, multicast, reserved, and IPv6 addresses that embed one of these (mapped, translated,
 * NAT64, 6to4, Teredo, ISATAP). */
bool outbound_address_is_refused(const struct sockaddr *address);
/* Whether the address is 169.254.169.254, where Google's metadata server is. */
bool outbound_address_is_metadata(const struct sockaddr *address);
