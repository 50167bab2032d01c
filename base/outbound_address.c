/* Which addresses and URLs a deployment may have. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>

#include "base/outbound.h"

#define URL_LIMIT 1024

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

/* The parts of a URL, borrowed from it. */
struct parts {
    const char *host; /* with its brackets */
    size_t host_length;
    const char *port; /* NULL: not written */
    size_t port_length;
    const char *path; /* to the end */
    int usual_port;
};

static bool split(const char *url, struct parts *out, struct error *error)
{
    bool secure = strncasecmp(url, "https://", 8) == 0;
    const char *authority = url + (secure ? 8 : 7), *host_end, *end;

    if (!secure && strncasecmp(url, "http://", 7) != 0)
        return error_set(error, ERROR_INVALID, "the URL must begin with http:// or https://");
    end = authority + strcspn(authority, "/?#\\");
    if (memchr(authority, '@', (size_t)(end - authority)) != NULL)
        return error_set(error, ERROR_INVALID,
                         "the URL must not contain a user or password; name a secret instead");
    host_end = authority[0] == '[' ? authority + strcspn(authority, "]")
                                   : authority + strcspn(authority, ":");
    if (authority[0] == '[' && host_end < end)
        host_end++;
    if (host_end > end)
        host_end = end;
    if (host_end < end && *host_end != ':')
        return error_set(error, ERROR_INVALID, "the URL has something else than a port behind ']'");
    *out = (struct parts){ .host = authority,
                           .host_length = (size_t)(host_end - authority),
                           .path = end,
                           .usual_port = secure ? 443 : 80 };
    if (host_end < end) {
        out->port = host_end + 1;
        out->port_length = (size_t)(end - out->port);
    }
    return true;
}

static bool read_port(const struct parts *parts, int *out, struct error *error)
{
    char digits[8] = "";
    int64_t port = parts->usual_port;

    if (parts->port != NULL && parts->port_length < sizeof digits)
        memcpy(digits, parts->port, parts->port_length);
    if (parts->port != NULL && !text_to_integer(digits, 1, 65535, &port))
        return error_set(error, ERROR_INVALID, "the URL's port must be a number from 1 to 65535");
    *out = (int)port;
    return true;
}

/* RFC 3986's characters of a path; a '%' must be followed by two hexadecimal digits. */
static bool check_path(const char *path, struct error *error)
{
    if (strpbrk(path, "?#") != NULL)
        return error_set(error, ERROR_INVALID,
                         "the URL must not have a query or fragment ('?' or '#')");
    for (const char *c = path; *c != '\0'; c++) {
        bool plain = isalnum((unsigned char)*c) || strchr("/-._~!$&'()*+,;=:@", *c) != NULL;

        if (!plain
            && !(c[0] == '%' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2])))
            return error_set(error, ERROR_INVALID,
                             "the URL's path has a character that must be percent-encoded");
    }
    return true;
}

static bool refused(const char *host, struct error *error)
{
    return error_set(error, ERROR_FORBIDDEN,
                     "the address %s is one of metadata, link-local, unspecified or multicast, "
                     "which no deployment may have",
                     host);
}

static bool check_ipv6(const char *host, struct error *error)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET6, host, &address.sin6_addr) != 1)
        return error_set(error, ERROR_INVALID, "the URL's host is not an IPv6 address in brackets");
    if (address_is_refused((const struct sockaddr *)&address))
        return refused(host, error);
    return true;
}

/* Would a resolver read the host as a number (2130706433, 0x7f.1), by its last label? */
static bool looks_like_ipv4(const char *host)
{
    const char *dot = strrchr(host, '.');
    const char *last = dot != NULL ? dot + 1 : host;
    bool hexadecimal = last[0] == '0' && last[1] == 'x';

    return last[strspn(last, "0123456789")] == '\0'
           || (hexadecimal && last[2 + strspn(last + 2, "0123456789abcdef")] == '\0');
}

static bool check_labels(const char *host)
{
    size_t label = 0;

    for (const char *c = host; *c != '\0'; c++) {
        bool is_dot = *c == '.';

        if (!is_dot && !isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            return false;
        if (is_dot ? label == 0 : label == 63)
            return false;
        label = is_dot ? 0 : label + 1;
    }
    return label > 0;
}

static bool check_name(const char *host, struct error *error)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    if (!check_labels(host))
        return error_set(
            error, ERROR_INVALID,
            "the URL's host must be a name of letters, digits, '-', '_' and '.', or an "
            "address");
    if (!looks_like_ipv4(host))
        return true;
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return error_set(error, ERROR_INVALID,
                         "the URL's host looks like an IPv4 address; write it as four decimal "
                         "numbers");
    if (address_is_refused((const struct sockaddr *)&address))
        return refused(host, error);
    return true;
}

/* The host in lower case without brackets, checked. */
static bool read_host(const struct parts *parts, char out[URL_HOST_SIZE], struct error *error)
{
    bool bracketed = parts->host[0] == '[';
    size_t length = parts->host_length;
    const char *from = parts->host;

    if (bracketed && (length < 2 || from[length - 1] != ']'))
        return error_set(error, ERROR_INVALID, "the URL's host lacks its closing ']'");
    from += bracketed;
    length -= bracketed ? 2 : 0;
    if (length == 0 || length > URL_HOST_SIZE - 3) /* 253, the longest a name can be */
        return error_set(error, ERROR_INVALID, "the URL's host must have 1 to 253 characters");
    for (size_t i = 0; i < length; i++)
        out[i] = (char)tolower((unsigned char)from[i]);
    out[length] = '\0';
    return bracketed ? check_ipv6(out, error) : check_name(out, error);
}

bool url_check(const char *url, char host[URL_HOST_SIZE], int *port, struct error *error)
{
    char checked_host[URL_HOST_SIZE];
    int checked_port;
    struct parts parts;

    if (strnlen(url, URL_LIMIT + 1) > URL_LIMIT)
        return error_set(error, ERROR_INVALID, "the URL is longer than %d bytes", URL_LIMIT);
    if (!split(url, &parts, error) || !read_host(&parts, checked_host, error)
        || !read_port(&parts, &checked_port, error) || !check_path(parts.path, error))
        return false;
    memcpy(host, checked_host, sizeof checked_host);
    *port = checked_port;
    return true;
}
