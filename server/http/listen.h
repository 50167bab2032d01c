/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/core/error.h"

struct listen_address {
    struct sockaddr_storage address;
    socklen_t length;
};

/* Reads an address such as "127.0.0.1:8080", "[::1]:8080" or "localhost:8080". Port 0 means any
 * free port. */
CHECKED bool listen_parse(const char *text, struct listen_address *out, struct error *error);
bool listen_is_loopback(const struct listen_address *address);
#define LISTEN_TEXT_SIZE 64
/* Writes the address in the same form, with a numeric host, not a name. */
void listen_format(const struct listen_address *address, char out[LISTEN_TEXT_SIZE]);
uint16_t listen_port(const struct listen_address *address);

/* Opens `count` sockets on one port; the kernel spreads connections among them. Fails if another
 * process is listening on the port, because that process would lose connections to this one.
 * Port 0 is replaced in `*address` with the free port that was found. False: no socket is left
 * open. */
CHECKED bool listen_open(struct listen_address *address, int *sockets, unsigned count,
                         struct error *error);
