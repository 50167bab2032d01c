/* Which addresses a deployment may have. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/outbound.h"

struct network {
    const char *address; /* as people write it */
    unsigned bits;
};

static const struct network refused_ipv4[] = {
    { "0.0.0.0", 8 },          /* unspecified; Linux connects to itself */
    { "169.254.0.0", 16 },     /* link-local: metadata of AWS, Google, Azure, Oracle */
    { "100.100.100.200", 32 }, /* metadata of Alibaba */
    { "192.0.0.192", 32 },     /* metadata of Oracle */
    { "168.63.129.16", 32 },   /* host services of Azure */
    { "224.0.0.0", 4 },        /* multicast */
    { "240.0.0.0", 4 },        /* reserved, broadcast */
};

static const struct network refused_ipv6[] = {
    { "::", 128 },            /* unspecified */
    { "fe80::", 10 },         /* link-local */
    { "ff00::", 8 },          /* multicast */
    { "fd00:ec2::254", 128 }, /* metadata of AWS */
    { "fd20:ce::254", 128 },  /* metadata of Google */
};

/* Prefixes whose last 32 bits (6to4: the 32 behind the prefix) are an IPv4 address. */
static const struct {
    struct network network;
    size_t offset;
} embedding[] = {
    { { "::ffff:0:0", 96 }, 12 }, /* mapped */
    { { "::", 96 }, 12 },         /* compatible, historic */
    { { "64:ff9b::", 96 }, 12 },  /* NAT64 */
    { { "2002::", 16 }, 2 },      /* 6to4 */
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

static bool ipv4_is_refused(const uint8_t address[4])
{
    for (size_t i = 0; i < sizeof refused_ipv4 / sizeof *refused_ipv4; i++)
        if (is_within(AF_INET, address, &refused_ipv4[i]))
            return true;
    return false;
}

static bool ipv6_is_refused(const uint8_t address[16])
{
    static const uint8_t loopback[16] = { [15] = 1 };

    if (memcmp(address, loopback, sizeof loopback) == 0)
        return false;
    for (size_t i = 0; i < sizeof refused_ipv6 / sizeof *refused_ipv6; i++)
        if (is_within(AF_INET6, address, &refused_ipv6[i]))
            return true;
    for (size_t i = 0; i < sizeof embedding / sizeof *embedding; i++)
        if (is_within(AF_INET6, address, &embedding[i].network)
            && ipv4_is_refused(address + embedding[i].offset))
            return true;
    return false;
}

bool address_is_refused(const struct sockaddr *address)
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
