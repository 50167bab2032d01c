/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses and networks, with IPv4 and IPv6 in the same form. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/core/error.h"

/* An IPv4 address is stored in its mapped form, such as ::ffff:192.0.2.1. */
struct ip_address {
    uint8_t bytes[16];
};

struct ip_network {
    struct ip_address address;
    unsigned bits; /* prefix length, 0 to 128 inclusive; at least IP_V4_BITS for an IPv4 network */
};
#define IP_V4_BITS 96 /* length of the prefix that all mapped IPv4 addresses share, in bits */

#define IP_TEXT_SIZE INET6_ADDRSTRLEN
#define IP_NETWORKS_LIMIT 64

struct ip_networks {
    struct ip_network items[IP_NETWORKS_LIMIT];
    size_t count;
};

/* Reads "192.0.2.1" or "2001:db8::1"; returns false for anything else, such as an address with a
 * zone. */
bool ip_parse(const char *text, size_t length, struct ip_address *out);
/* Converts the address of a connection; returns false if it is neither IPv4 nor IPv6. */
bool ip_of(const struct sockaddr_storage *address, struct ip_address *out);
void ip_format(const struct ip_address *address, char out[IP_TEXT_SIZE]);
/* Returns the network that is assumed to belong to one client: for IPv4, the address itself; for
 * IPv6, the first address of its /64. */
struct ip_address ip_client_network(const struct ip_address *address);

bool ip_is_v4(const struct ip_address *address);

/* Reads "10.0.0.0/8", "fd00::/8" or an address; returns false for anything else. */
bool ip_network_parse(const char *text, size_t length, struct ip_network *out);
bool ip_network_holds(const struct ip_network *network, const struct ip_address *address);
/* Reads networks ("10.0.0.0/8", "fd00::/8") and addresses, separated by commas, spaces or tabs.
 * INVALID if an entry is malformed, or if there are more than IP_NETWORKS_LIMIT entries. */
CHECKED bool ip_networks_parse(const char *text, struct ip_networks *out, struct error *error);
/* Whether the address is in one of the networks. */
bool ip_networks_hold(const struct ip_networks *networks, const struct ip_address *address);
