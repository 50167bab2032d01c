/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/outbound_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

struct network {
    const char *address; /* as text */
    unsigned bits;
};

static const struct network metadata_ipv4[] = {
    { "169.254.0.0", 16 },     /* link-local: metadata services of AWS, Google, Azure, Oracle */
    { "100.100.100.200", 32 }, /* Alibaba's metadata service */
    { "192.0.0.192", 32 },     /* Oracle's metadata service */
    { "168.63.129.16", 32 },   /* Azure's host services */
};
static const struct network special_ipv4[] = {
    { "0.0.0.0", 8 },   /* unspecified; on Linux, the machine itself */
    { "224.0.0.0", 4 }, /* multicast */
    { "240.0.0.0", 4 }, /* reserved, broadcast */
};

static const struct network refused_ipv6[] = {
    { "::", 128 },            /* unspecified */
    { "fe80::", 10 },         /* link-local */
    { "ff00::", 8 },          /* multicast */
    { "fd00:ec2::254", 128 }, /* AWS's metadata service */
    { "fd20:ce::254", 128 },  /* Google's metadata service */
    { "fd00:42::42", 128 },   /* Scaleway's metadata service */
};

/* Networks whose addresses contain an IPv4 address. */
static const struct {
    struct network network;
    uint8_t at[4]; /* indexes of the bytes that the IPv4 address is in, counted from 0 */
    bool inverted; /* all bits of the IPv4 address are inverted */
} embedding[] = {
    { { "::ffff:0:0", 96 }, { 12, 13, 14, 15 } },   /* mapped */
    { { "::", 96 }, { 12, 13, 14, 15 } },           /* compatible (deprecated) */
    { { "::ffff:0:0:0", 96 }, { 12, 13, 14, 15 } }, /* translated (RFC 2765) */
    { { "64:ff9b::", 96 }, { 12, 13, 14, 15 } },    /* NAT64 */
    { { "2002::", 16 }, { 2, 3, 4, 5 } },           /* 6to4 */
    { { "2001::", 32 }, { 4, 5, 6, 7 } },           /* Teredo: the server's address */
    { { "2001::", 32 }, { 12, 13, 14, 15 }, true }, /* Teredo: the client's address */
};

/* The network for private NAT64 (RFC 8215). Which bytes the IPv4 address is in depends on the
 * length of the NAT64 prefix (RFC 6052), which only the operator knows. Therefore an address is
 * refused if the bytes at any of the four groups of indexes below form an address in
 * metadata_ipv4. */
static const struct network local_nat64 = { "64:ff9b:1::", 48 };
static const uint8_t local_nat64_at[][4] = {
    { 6, 7, 9, 10 },
    { 7, 9, 10, 11 },
    { 9, 10, 11, 12 },
    { 12, 13, 14, 15 },
};

static bool is_within(int family, const uint8_t *address, const struct network *network)
{
    uint8_t prefix[16];
    unsigned bytes = network->bits / 8, rest = network->bits % 8;
    uint8_t mask = (uint8_t)(0xff00 >> rest);

    inet_pton(family, network->address, prefix);
    return memcmp(address, prefix, bytes) == 0
           && (rest == 0 || (address[bytes] & mask) == (prefix[bytes] & mask));
}

static bool ipv4_is_metadata(const uint8_t address[4])
{
    for (size_t i = 0; i < sizeof metadata_ipv4 / sizeof *metadata_ipv4; i++)
        if (is_within(AF_INET, address, &metadata_ipv4[i]))
            return true;
    return false;
}

static bool ipv4_is_refused(const uint8_t address[4])
{
    for (size_t i = 0; i < sizeof special_ipv4 / sizeof *special_ipv4; i++)
        if (is_within(AF_INET, address, &special_ipv4[i]))
            return true;
    return ipv4_is_metadata(address);
}

static void read_embedded(const uint8_t address[16], const uint8_t at[4], bool inverted,
                          uint8_t out[4])
{
    for (size_t i = 0; i < 4; i++)
        out[i] = inverted ? (uint8_t)~address[at[i]] : address[at[i]];
}

static bool embeds_refused(const uint8_t address[16])
{
    uint8_t ipv4[4];

    for (size_t i = 0; i < sizeof embedding / sizeof *embedding; i++) {
        read_embedded(address, embedding[i].at, embedding[i].inverted, ipv4);
        if (is_within(AF_INET6, address, &embedding[i].network) && ipv4_is_refused(ipv4))
            return true;
    }
    for (size_t i = 0; i < sizeof local_nat64_at / sizeof *local_nat64_at; i++) {
        read_embedded(address, local_nat64_at[i], false, ipv4);
        if (is_within(AF_INET6, address, &local_nat64) && ipv4_is_metadata(ipv4))
            return true;
    }
    return false;
}

/* Whether the interface identifier is ::0:5efe:a.b.c.d or ::200:5efe:a.b.c.d (RFC 5214). */
static bool is_isatap(const uint8_t address[16])
{
    static const uint8_t mark[3] = { 0, 0x5e, 0xfe };

    return (address[8] & 0xfd) == 0 && memcmp(address + 9, mark, sizeof mark) == 0;
}

static bool ipv6_is_refused(const uint8_t address[16])
{
    static const uint8_t loopback[16] = { [15] = 1 };

    if (memcmp(address, loopback, sizeof loopback) == 0)
        return false;
    for (size_t i = 0; i < sizeof refused_ipv6 / sizeof *refused_ipv6; i++)
        if (is_within(AF_INET6, address, &refused_ipv6[i]))
            return true;
    return embeds_refused(address) || (is_isatap(address) && ipv4_is_refused(address + 12));
}

bool outbound_address_is_refused(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in ipv4;

        memcpy(&ipv4, address, sizeof ipv4);
        return ipv4_is_refused((const uint8_t *)&ipv4.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 ipv6;

        memcpy(&ipv6, address, sizeof ipv6);
        return ipv6_is_refused(ipv6.sin6_addr.s6_addr);
    }
    return true;
}

bool outbound_address_is_google_metadata(const struct sockaddr *address)
{
    struct sockaddr_in ipv4;

    if (address->sa_family != AF_INET)
        return false;
    memcpy(&ipv4, address, sizeof ipv4);
    return is_within(AF_INET, (const uint8_t *)&ipv4.sin_addr,
                     &(struct network){ "169.254.169.254", 32 });
}
