/* SPDX-License-Identifier: Apache-2.0 */
/* A load balancer in front of two model servers: connections go to each of them in turn. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/simserve/harness/process.h"

struct balancer {
    int listener, port;
    pthread_t thread;
    int ports[2]; /* of the servers; a restarted server keeps its port */
    size_t turn;
};

/* Copies bytes until `from` ends or sending to `to` fails. */
static inline void relay(int from, int to)
{
    char bytes[16384];
    ssize_t length;

    while ((length = recv(from, bytes, sizeof bytes, 0)) > 0)
        if (send(to, bytes, (size_t)length, MSG_NOSIGNAL) != length)
            return;
    shutdown(to, SHUT_WR);
}

struct pipe {
    int from, to;
};

static inline void *relay_back(void *context)
{
    struct pipe *pipe = context;

    relay(pipe->from, pipe->to);
    return NULL;
}

struct relayed {
    int client, server;
};

static inline void *serve_one(void *context)
{
    struct relayed pair = *(struct relayed *)context;
    struct pipe back = { pair.server, pair.client };
    pthread_t thread;

    free(context);
    assert_int_equal(pthread_create(&thread, NULL, relay_back, &back), 0);
    relay(pair.client, pair.server);
    pthread_join(thread, NULL);
    close(pair.client);
    close(pair.server);
    return NULL;
}

/* Connects to a server. Returns the socket, or -1 if the server is down. */
static inline int balancer_connect(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0)
        return connection;
    close(connection);
    return -1;
}

static inline void balancer_relay(int client, int server)
{
    struct relayed *pair = malloc(sizeof *pair);
    pthread_t thread;

    *pair = (struct relayed){ client, server };
    assert_int_equal(pthread_create(&thread, NULL, serve_one, pair), 0);
    pthread_detach(thread);
}

static inline void *balance(void *context)
{
    struct balancer *balancer = context;
    int client;

    while ((client = accept(balancer->listener, NULL, NULL)) >= 0) {
        int server = balancer_connect(balancer->ports[balancer->turn++ % 2]);

        if (server >= 0)
            balancer_relay(client, server);
        else
            close(client);
    }
    return NULL;
}

static inline void balancer_start(struct balancer *balancer, const struct simserve *servers)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;

    *balancer = (struct balancer){ .ports = { servers[0].port, servers[1].port } };
    balancer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(balancer->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(balancer->listener, 16), 0);
    getsockname(balancer->listener, (struct sockaddr *)&address, &length);
    balancer->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&balancer->thread, NULL, balance, balancer), 0);
}

static inline void balancer_stop(struct balancer *balancer)
{
    shutdown(balancer->listener, SHUT_RDWR);
    pthread_join(balancer->thread, NULL);
    close(balancer->listener);
}
