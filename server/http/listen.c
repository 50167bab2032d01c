/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/core/text.h"

#define BACKLOG 4096

static CHECKED bool resolve(const char *text, const char *host, const char *port,
                            struct listen_address *out, struct error *error)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    struct addrinfo *found;
    int failed = getaddrinfo(host, port, &wanted, &found);

    if (failed != 0)
        return error_set(error, ERROR_INVALID, "listen address \"%.80s\": %s", text,
                         gai_strerror(failed));
    memcpy(&out->address, found->ai_addr, found->ai_addrlen);
    out->length = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

bool listen_parse(const char *text, struct listen_address *out, struct error *error)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    char host[256];
    int64_t port;

    if (colon == NULL || length == 0 || length >= sizeof host
        || !text_to_integer(colon + 1, 0, 65535, &port))
        return error_set(error, ERROR_INVALID,
                         "the setting listen is \"%.80s\", but must be address:port, as in "
                         "127.0.0.1:8080",
                         text);
    memcpy(host, text, length);
    host[length] = '\0';
    if (host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        return resolve(text, host + 1, colon + 1, out, error);
    }
    return resolve(text, host, colon + 1, out, error);
}

static in_port_t *port_of(struct listen_address *address)
{
    return address->address.ss_family == AF_INET6
               ? &((struct sockaddr_in6 *)&address->address)->sin6_port
               : &((struct sockaddr_in *)&address->address)->sin_port;
}

uint16_t listen_port(const struct listen_address *address)
{
    struct listen_address copy = *address;

    return ntohs(*port_of(&copy));
}

void listen_format(const struct listen_address *address, char out[LISTEN_TEXT_SIZE])
{
    char host[INET6_ADDRSTRLEN] = "?";
    bool v6 = address->address.ss_family == AF_INET6;

    getnameinfo((const struct sockaddr *)&address->address, address->length, host, sizeof host,
                NULL, 0, NI_NUMERICHOST);
    snprintf(out, LISTEN_TEXT_SIZE, v6 ? "[%s]:%u" : "%s:%u", host, listen_port(address));
}

bool listen_is_loopback(const struct listen_address *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->address;

    if (address->address.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
}

/* Opens and binds a socket. With `shared`, other sockets can be bound to the same port.
 * SO_REUSEADDR lets a restarted server bind while connections of the old one are still closing, but
 * not while another socket is listening. */
static int open_socket(const struct listen_address *address, bool shared)
{
    int fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (shared)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (bind(fd, (const struct sockaddr *)&address->address, address->length) == 0)
        return fd;
    close(fd);
    return -1;
}

static CHECKED bool refuse(const struct listen_address *address, struct error *error)
{
    if (errno == EADDRINUSE)
        return error_set(
            error, ERROR_CONFLICT,
            "port %u is in use by another process: stop it, or choose another port with --listen",
            listen_port(address));
    return error_set(error, ERROR_INVALID, "cannot listen on port %u: %s", listen_port(address),
                     strerror(errno));
}

/* Checks that no other process listens on the address. Replaces port 0 with a free port. */
static CHECKED bool probe(struct listen_address *address, struct error *error)
{
    int fd = open_socket(address, false);
    bool free_to_use;

    if (fd < 0)
        return refuse(address, error);
    free_to_use = listen(fd, 1) == 0 || refuse(address, error);
    if (free_to_use)
        getsockname(fd, (struct sockaddr *)&address->address, &address->length);
    close(fd);
    return free_to_use;
}

static void close_all(int *sockets, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (sockets[i] >= 0)
            close(sockets[i]);
        sockets[i] = -1;
    }
}

bool listen_open(struct listen_address *address, int *sockets, unsigned count, struct error *error)
{
    if (!probe(address, error))
        return false;
    for (unsigned i = 0; i < count; i++) {
        sockets[i] = open_socket(address, count > 1);
        if ((sockets[i] >= 0 && listen(sockets[i], BACKLOG) == 0) || refuse(address, error))
            continue;
        close_all(sockets, i + 1);
        return false;
    }
    return true;
}
