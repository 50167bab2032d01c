/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>

#include "base/core/text.h"
#include "base/net/outbound_address.h"

#define URL_LIMIT 1024

/* The parts of a URL, borrowed from it. */
struct parts {
    const char *host; /* including the brackets of an IPv6 address */
    size_t host_length;
    const char *port; /* NULL: the URL has none */
    size_t port_length;
    const char *path; /* everything after host and port */
    int usual_port;   /* the scheme's default port */
};

bool url_host_is_loopback(const char *host)
{
    struct in_addr address;

    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0
           || (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

size_t url_host_length(const char *authority)
{
    size_t length;

    if (authority[0] != '[')
        return strcspn(authority, ":");
    length = strcspn(authority, "]");
    return authority[length] == ']' ? length + 1 : length;
}

static CHECKED bool split(const char *url, struct parts *out, struct error *error)
{
    bool secure = strncasecmp(url, "https://", 8) == 0;
    const char *authority = url + (secure ? 8 : 7), *host_end, *end;

    if (!secure && strncasecmp(url, "http://", 7) != 0)
        return error_set(error, ERROR_INVALID, "the URL must begin with http:// or https://");
    end = authority + strcspn(authority, "/?#\\");
    if (memchr(authority, '@', (size_t)(end - authority)) != NULL)
        return error_set(error, ERROR_INVALID,
                         "the URL must not contain a user or password; name a secret instead");
    host_end = authority + url_host_length(authority);
    if (host_end > end)
        host_end = end;
    if (host_end < end && *host_end != ':')
        return error_set(error, ERROR_INVALID, "the URL has something other than a port after ']'");
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

static CHECKED bool read_port(const struct parts *parts, int *out, struct error *error)
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

/* Checks that the path has only characters that RFC 3986 allows in a path, and two hexadecimal
 * digits after each '%'. */
static CHECKED bool check_path(const char *path, struct error *error)
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

static CHECKED bool refuse_address(const char *host, struct error *error)
{
    return error_set(error, ERROR_FORBIDDEN,
                     "the address %s is a metadata, link-local, unspecified, multicast or "
                     "reserved address, which no deployment may have",
                     host);
}

static CHECKED bool check_ipv6(const char *host, struct error *error)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET6, host, &address.sin6_addr) != 1)
        return error_set(error, ERROR_INVALID,
                         "the URL's host is not an IPv6 address, although it has brackets");
    if (outbound_address_is_refused((const struct sockaddr *)&address))
        return refuse_address(host, error);
    return true;
}

/* Whether a resolver would take the host for an IPv4 address, such as 2130706433 or 0x7f.1. Only
 * the last label matters. */
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

static CHECKED bool check_name(const char *host, struct error *error)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    if (!check_labels(host))
        return error_set(
            error, ERROR_INVALID,
            "the URL's host must be a name (parts of 1 to 63 letters, digits, '-' and '_', "
            "joined by '.') or an address");
    if (!looks_like_ipv4(host))
        return true;
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return error_set(error, ERROR_INVALID,
                         "the URL's host looks like an IPv4 address; write it as four decimal "
                         "numbers");
    if (outbound_address_is_refused((const struct sockaddr *)&address))
        return refuse_address(host, error);
    return true;
}

/* Checks the host and converts it to lower case without brackets. */
static CHECKED bool read_host(const struct parts *parts, char out[URL_HOST_SIZE],
                              struct error *error)
{
    bool bracketed = parts->host[0] == '[';
    size_t length = parts->host_length;
    const char *from = parts->host;

    if (bracketed && (length < 2 || from[length - 1] != ']'))
        return error_set(error, ERROR_INVALID, "the URL's host lacks its closing ']'");
    from += bracketed;
    length -= bracketed ? 2 : 0;
    if (length == 0 || length > URL_HOST_SIZE - 3) /* names have at most 253 characters */
        return error_set(error, ERROR_INVALID, "the URL's host must have 1 to 253 characters");
    for (size_t i = 0; i < length; i++)
        out[i] = (char)tolower((unsigned char)from[i]);
    out[length] = '\0';
    return bracketed ? check_ipv6(out, error) : check_name(out, error);
}

bool url_check(const char *url, char host[URL_HOST_SIZE], int *port, struct error *error)
{
    char checked_host[URL_HOST_SIZE];
    int checked_port = 0;
    struct parts parts = { 0 };

    if (strnlen(url, URL_LIMIT + 1) > URL_LIMIT)
        return error_set(error, ERROR_INVALID, "the URL is longer than %d bytes", URL_LIMIT);
    if (!split(url, &parts, error) || !read_host(&parts, checked_host, error)
        || !read_port(&parts, &checked_port, error) || !check_path(parts.path, error))
        return false;
    memcpy(host, checked_host, sizeof checked_host);
    *port = checked_port;
    return true;
}

/* Appends the host. An IPv6 address is put in brackets and written as inet_ntop writes it. */
static void add_host(const char *host, struct text *out)
{
    struct in6_addr address;
    char canonical[INET6_ADDRSTRLEN];

    if (inet_pton(AF_INET6, host, &address) != 1)
        text_add(out, host);
    else
        text_addf(out, "[%s]", inet_ntop(AF_INET6, &address, canonical, sizeof canonical));
}

bool url_origin(const char *url, char out[ORIGIN_SIZE], struct error *error)
{
    bool secure = strncasecmp(url, "https://", 8) == 0;
    char host[URL_HOST_SIZE];
    TEXT_AUTO origin = { 0 };
    int port;

    if (!url_check(url, host, &port, error))
        return false;
    text_add(&origin, secure ? "https://" : "http://");
    add_host(host, &origin);
    if (port != (secure ? 443 : 80))
        text_addf(&origin, ":%d", port);
    text_copy(out, ORIGIN_SIZE, text_string(&origin));
    return true;
}
