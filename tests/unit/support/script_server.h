/* SPDX-License-Identifier: Apache-2.0 */
/* A real HTTP server on loopback that follows a script. Each step of the script gives the bytes of
 * an answer, and says whether the connection then stays open. The server's only thread serves one
 * connection at a time. */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* What happens to the connection after an answer. */
enum script_after { SCRIPT_KEEP, SCRIPT_CLOSE, SCRIPT_RESET };

/* The answer to one request. The last step of a script is repeated forever. */
struct script_step {
    const char *bytes; /* NULL ends the script */
    size_t piece;      /* the answer is sent in pieces of this many bytes; 0: in one piece */
    enum script_after after;
    bool is_early; /* the server answers after the request's head, and does not read the body */
    bool is_slow;  /* the server reads the request's body in small pieces */
};

#define SCRIPT_STEPS 8
#define SCRIPT_HEAD 4096

struct script_server {
    struct script_step steps[SCRIPT_STEPS];
    size_t count, next;
    int listener, port;
    pthread_t thread;
    atomic_int connections, closed; /* how many were accepted, and how many were closed again */
    pthread_mutex_t head_lock;
    /* The latest request. */
    char head[SCRIPT_HEAD];
    size_t body_bytes; /* how many bytes of the request's body were read */
    unsigned body_sum; /* script_sum of these bytes */
};

static inline unsigned script_sum(unsigned sum, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = 31 * sum + (unsigned char)bytes[i];
    return sum;
}

static inline bool script_read_body(struct script_server *server, int connection, size_t length,
                                    const struct script_step *step)
{
    static __thread char buffer[65536];

    while (server->body_bytes < length) {
        ssize_t got = recv(connection, buffer, step->is_slow ? 4096 : sizeof buffer, 0);

        if (got <= 0)
            return false;
        server->body_sum = script_sum(server->body_sum, buffer, (size_t)got);
        server->body_bytes += (size_t)got;
    }
    return true;
}

/* Reads the head byte by byte, so that no byte of the body is lost, and then the body unless
 * step->is_early. */
static inline bool script_read(struct script_server *server, int connection,
                               const struct script_step *step)
{
    char head[SCRIPT_HEAD];
    size_t length = 0;
    const char *announced;

    do {
        if (length == SCRIPT_HEAD - 1 || recv(connection, head + length, 1, 0) != 1)
            return false;
        head[++length] = '\0';
    } while (length < 4 || strcmp(head + length - 4, "\r\n\r\n") != 0);
    pthread_mutex_lock(&server->head_lock);
    memcpy(server->head, head, length + 1);
    pthread_mutex_unlock(&server->head_lock);
    server->body_bytes = server->body_sum = 0;
    announced = strcasestr(head, "\r\nContent-Length:");
    if (step->is_early || announced == NULL)
        return true;
    return script_read_body(server, connection, strtoul(announced + 17, NULL, 10), step);
}

static inline bool script_send(int connection, const struct script_step *step)
{
    size_t left = strlen(step->bytes), piece = step->piece > 0 ? step->piece : left;

    for (const char *at = step->bytes; left > 0; at += piece, left -= piece) {
        piece = piece < left ? piece : left;
        if (send(connection, at, piece, MSG_NOSIGNAL) != (ssize_t)piece)
            return false;
    }
    return true;
}

static inline void script_serve(struct script_server *server, int connection)
{
    const struct linger reset = { .l_onoff = 1 };
    int on = 1;

    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (;;) {
        const struct script_step *step = &server->steps[server->next];

        if (!script_read(server, connection, step) || !script_send(connection, step))
            return;
        server->next += server->next + 1 < server->count;
        if (step->after == SCRIPT_RESET)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        /* If there is unread input, close resets the connection. The shutdown first ends the
         * answer in the normal way. */
        if (step->after == SCRIPT_CLOSE)
            shutdown(connection, SHUT_WR);
        if (step->after != SCRIPT_KEEP)
            return;
    }
}

static inline void *script_run(void *context)
{
    struct script_server *server = context;
    int connection;

    while ((connection = accept(server->listener, NULL, NULL)) >= 0) {
        server->connections++;
        script_serve(server, connection);
        close(connection);
        server->closed++;
    }
    return NULL;
}

static inline void script_start(struct script_server *server, const struct script_step *steps)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;

    memset(server, 0, sizeof *server);
    pthread_mutex_init(&server->head_lock, NULL);
    while (server->count < SCRIPT_STEPS && steps[server->count].bytes != NULL) {
        server->steps[server->count] = steps[server->count];
        server->count++;
    }
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(server->listener, 16) != 0
        || getsockname(server->listener, (struct sockaddr *)&address, &length) != 0)
        abort();
    server->port = ntohs(address.sin_port);
    if (pthread_create(&server->thread, NULL, script_run, server) != 0)
        abort();
}

/* Returns whether the head of the latest request contains `words`. Can be called while the
 * connection is open. */
static inline bool script_has(struct script_server *server, const char *words)
{
    pthread_mutex_lock(&server->head_lock);
    bool found = strstr(server->head, words) != NULL;
    pthread_mutex_unlock(&server->head_lock);
    return found;
}

/* Stops accepting connections, and waits until the current connection is closed: by the script or,
 * if the script keeps it open, by the client. A second call does nothing. */
static inline void script_stop(struct script_server *server)
{
    if (server->listener < 0)
        return;
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
    server->listener = -1;
}

/* Waits until `count` connections have been closed. Aborts after 20 s. */
static inline void script_wait_closed(struct script_server *server, int count)
{
    const struct timespec pause = { .tv_nsec = 1000000 };

    for (int i = 0; server->closed < count; i++) {
        if (i == 20000)
            abort();
        nanosleep(&pause, NULL);
    }
}
