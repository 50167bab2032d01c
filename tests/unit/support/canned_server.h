/* SPDX-License-Identifier: Apache-2.0 */
/* A real HTTP server on loopback that gives prepared answers, for example in place of a model
 * server. Its only thread serves one connection at a time, and closes each after one answer. */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct canned_answer {
    const char *path;
    const char *when;   /* the request's body must contain this; NULL: any body */
    int status;         /* 0: 200 */
    const char *type;   /* NULL: application/json */
    const char *body;   /* NULL: empty */
    size_t piece_bytes; /* the body is sent in pieces of this many bytes; 0: at once */
    unsigned pause_ms;  /* pause before each piece */
    bool cut; /* Content-Length is too large: the connection ends before that many bytes are sent */
    bool without_length; /* no Content-Length: the body ends when the connection does */
};

#define CANNED_REQUEST_SIZE 65536
#define CANNED_REQUESTS 64

struct canned_server {
    const struct canned_answer *answers; /* ends with a NULL path */
    int listener, port;
    pthread_t thread;
    pthread_mutex_t lock;
    char bodies[CANNED_REQUESTS][4096]; /* of the first requests, in order, truncated */
    char paths[CANNED_REQUESTS][128];
    size_t requests; /* how many are kept in these arrays */
    bool authorized; /* the last request had a bearer token */
};

static inline bool canned_send(int connection, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(connection, bytes, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* Reads the headers and the body that Content-Length announces. Returns the start of the body, or
 * NULL if the connection ended too early or the request is too long. */
static inline const char *canned_read(int connection, char request[CANNED_REQUEST_SIZE])
{
    size_t length = 0;

    for (;;) {
        ssize_t got = recv(connection, request + length, CANNED_REQUEST_SIZE - 1 - length, 0);
        const char *end, *announced;

        if (got <= 0)
            return NULL;
        length += (size_t)got;
        request[length] = '\0';
        end = strstr(request, "\r\n\r\n");
        if (end == NULL)
            continue;
        announced = strcasestr(request, "content-length:");
        if (announced == NULL
            || strlen(end + 4) >= strtoul(announced + strlen("content-length:"), NULL, 10))
            return end + 4;
    }
}

static inline const struct canned_answer *canned_find(struct canned_server *server,
                                                      const char *path, const char *body)
{
    for (const struct canned_answer *a = server->answers; a->path != NULL; a++)
        if (strcmp(a->path, path) == 0 && (a->when == NULL || strstr(body, a->when) != NULL))
            return a;
    return NULL;
}

static inline void canned_answer_with(int connection, const struct canned_answer *answer)
{
    static const struct canned_answer missing = { .status = 404, .body = "{\"detail\":\"no\"}" };
    const struct canned_answer *a = answer != NULL ? answer : &missing;
    const char *body = a->body != NULL ? a->body : "";
    size_t left = strlen(body), piece = a->piece_bytes > 0 ? a->piece_bytes : left;
    char head[256];

    snprintf(head, sizeof head, "HTTP/1.1 %d Canned\r\nContent-Type: %s\r\nConnection: close\r\n",
             a->status > 0 ? a->status : 200, a->type != NULL ? a->type : "application/json");
    if (!a->without_length)
        snprintf(head + strlen(head), sizeof head - strlen(head), "Content-Length: %zu\r\n",
                 left + (a->cut ? 100 : 0));
    snprintf(head + strlen(head), sizeof head - strlen(head), "\r\n");
    if (!canned_send(connection, head, strlen(head)))
        return;
    for (; left > 0; left -= piece, body += piece) {
        piece = piece < left ? piece : left;
        usleep(a->pause_ms * 1000);
        if (!canned_send(connection, body, piece))
            return;
    }
}

static inline void canned_serve(struct canned_server *server, int connection)
{
    static __thread char request[CANNED_REQUEST_SIZE];
    const char *body = canned_read(connection, request);
    char path[128] = "";

    if (body == NULL)
        return;
    sscanf(request, "%*s %127s", path);
    pthread_mutex_lock(&server->lock);
    if (server->requests < CANNED_REQUESTS) {
        snprintf(server->paths[server->requests], sizeof server->paths[0], "%s", path);
        snprintf(server->bodies[server->requests], sizeof server->bodies[0], "%s", body);
        server->requests++;
    }
    server->authorized = strstr(request, "Authorization: Bearer ") != NULL;
    pthread_mutex_unlock(&server->lock);
    canned_answer_with(connection, canned_find(server, path, body));
}

static inline void *canned_run(void *context)
{
    struct canned_server *server = context;

    for (;;) {
        int connection = accept(server->listener, NULL, NULL);

        if (connection < 0)
            return NULL;
        canned_serve(server, connection);
        shutdown(connection, SHUT_WR);
        close(connection);
    }
}

static inline void canned_start(struct canned_server *server, const struct canned_answer *answers)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;

    memset(server, 0, sizeof *server);
    server->answers = answers;
    pthread_mutex_init(&server->lock, NULL);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(server->listener, 16) != 0
        || getsockname(server->listener, (struct sockaddr *)&address, &length) != 0)
        abort();
    server->port = ntohs(address.sin_port);
    if (pthread_create(&server->thread, NULL, canned_run, server) != 0)
        abort();
}

static inline void canned_stop(struct canned_server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
    pthread_mutex_destroy(&server->lock);
}

/* Returns how many of the first CANNED_REQUESTS requests were for this path. */
static inline size_t canned_count(struct canned_server *server, const char *path)
{
    size_t count = 0;

    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->requests; i++)
        count += strcmp(server->paths[i], path) == 0;
    pthread_mutex_unlock(&server->lock);
    return count;
}
