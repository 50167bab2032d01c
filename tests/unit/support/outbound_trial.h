/* SPDX-License-Identifier: Apache-2.0 */
/* A server on loopback for the tests of base/net/outbound.c, and functions that send requests to
 * it. The requested path decides which good or bad answer the server gives. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"

#define REQUEST_SIZE 16384
#define CHUNK "5\r\nhello\r\n"

/* Serves one connection at a time. */
struct server {
    int listener, port;
    pthread_t thread;
    pthread_mutex_t lock;
    char request[REQUEST_SIZE]; /* the latest request; protected by `lock` */
};

static inline int bind_loopback(int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return listener;
}

static inline void send_bytes(int client, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(client, bytes, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* the client closed the connection, as some tests require */
        bytes += sent;
        length -= (size_t)sent;
    }
}

static inline void send_text(int client, const char *text)
{
    send_bytes(client, text, strlen(text));
}

static inline void wait_until_client_leaves(int client)
{
    char rest[512];

    while (recv(client, rest, sizeof rest, 0) > 0)
        continue;
}

static inline void answer_ok(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"
                      "Server: uvicorn\x1b[2J\r\nContent-Length: 11\r\n\r\n{\"ok\":true}");
}

static inline void answer_compressed(int client, const char *request)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n"
                                 "Content-Length: 12\r\n\r\n"
                                 "\x78\x9c\x4b\xcb\x2f\x2d\x02\x00\x04\x45\x01\xbd";

    (void)request;
    send_bytes(client, answer, sizeof answer - 1);
}

static inline void answer_stream(int client, const char *request)
{
    (void)request;
    send_text(client,
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNK CHUNK "0\r\n\r\n");
}

static inline void answer_never(int client, const char *request)
{
    (void)request;
    wait_until_client_leaves(client);
}

static inline void answer_half(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNK);
    wait_until_client_leaves(client);
}

static inline void answer_cut(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello");
}

static inline void answer_cut_chunks(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNK);
}

static inline void answer_reset(int client, const char *request)
{
    struct linger linger = { .l_onoff = 1 };

    (void)request;
    setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger); /* close sends a RST */
}

static inline void answer_nothing(int client, const char *request)
{
    (void)client;
    (void)request;
}

static inline void answer_large(int client, const char *request)
{
    static const char piece[65536];

    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 64; i++) /* 4 MiB, without Content-Length */
        send_bytes(client, piece, sizeof piece);
}

static inline void answer_large_error(int client, const char *request)
{
    static char piece[65536];

    (void)request;
    memset(piece, 'e', sizeof piece);
    send_text(client, "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 64; i++)
        send_bytes(client, piece, sizeof piece);
}

static inline void answer_429(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n"
                      "Content-Length: 21\r\n\r\n{\"error\":\"slow down\"}");
}

static inline void answer_429_date(int client, const char *request)
{
    time_t then = time(NULL) + 100;
    char date[64], answer[256];
    struct tm parts;

    (void)request;
    gmtime_r(&then, &parts);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    snprintf(answer, sizeof answer,
             "HTTP/1.1 429 Too Many Requests\r\nretry-after: %s\r\nContent-Length: 0\r\n\r\n",
             date);
    send_text(client, answer);
}

static inline void answer_prompt_too_long(int client, const char *request)
{
    (void)request;
    send_text(client,
              "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
              "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens.\"}}");
}

static inline void answer_redirect(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n");
}

static inline void answer_garbage(int client, const char *request)
{
    (void)request;
    send_text(client, "SSH-2.0-OpenSSH_9.2p1\r\n");
}

static inline void answer_echo_as_error(int client, const char *request)
{
    send_text(client, "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n");
    send_text(client, request);
}

static const struct {
    const char *path;
    void (*answer)(int client, const char *request);
} behaviours[] = {
    { "/ok", answer_ok },
    { "/compressed", answer_compressed },
    { "/stream", answer_stream },
    { "/never", answer_never },
    { "/half", answer_half },
    { "/cut", answer_cut },
    { "/cut-chunks", answer_cut_chunks },
    { "/reset", answer_reset },
    { "/nothing", answer_nothing },
    { "/large", answer_large },
    { "/large-error", answer_large_error },
    { "/429", answer_429 },
    { "/429-date", answer_429_date },
    { "/too-long", answer_prompt_too_long },
    { "/redirect", answer_redirect },
    { "/garbage", answer_garbage },
    { "/echo-as-error", answer_echo_as_error },
};

/* Reads a request with the body that its headers announce. Returns false if the client sends no
 * complete HTTP request, or one that is too long for `request`. */
static inline bool read_request(int client, char request[REQUEST_SIZE])
{
    size_t length = 0, body_length = 0;
    const char *body = NULL, *announced;

    while (body == NULL || strlen(body) < body_length) {
        ssize_t got = recv(client, request + length, REQUEST_SIZE - 1 - length, 0);

        if (got <= 0 || request[0] < 'A' || request[0] > 'Z')
            return false;
        length += (size_t)got;
        request[length] = '\0';
        body = strstr(request, "\r\n\r\n");
        if (body == NULL)
            continue;
        body += 4;
        announced = strcasestr(request, "content-length: ");
        body_length = announced != NULL ? strtoul(announced + 16, NULL, 10) : 0;
    }
    return true;
}

static inline void serve(struct server *server, int client)
{
    static _Thread_local char request[REQUEST_SIZE];
    char path[64] = "";

    if (!read_request(client, request)) {
        answer_garbage(client, request);
        return;
    }
    pthread_mutex_lock(&server->lock);
    memcpy(server->request, request, sizeof request);
    pthread_mutex_unlock(&server->lock);
    assert_int_equal(sscanf(request, "%*s %63s", path), 1);
    for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++)
        if (strcmp(path, behaviours[i].path) == 0)
            behaviours[i].answer(client, request);
}

static inline void *run_server(void *context)
{
    struct server *server = context;
    int client;

    while ((client = accept(server->listener, NULL, NULL)) >= 0) {
        serve(server, client);
        close(client);
    }
    return NULL;
}

static inline int start_server(void **state)
{
    struct server *server = calloc(1, sizeof *server);
    struct error error;

    assert_true(outbound_global_init(&error));
    pthread_mutex_init(&server->lock, NULL);
    server->listener = bind_loopback(&server->port);
    assert_int_equal(listen(server->listener, 64), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, run_server, server), 0);
    *state = server;
    return 0;
}

static inline int stop_server(void **state)
{
    struct server *server = *state;

    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
    pthread_mutex_destroy(&server->lock);
    free(server);
    outbound_global_finish();
    return 0;
}

/* One request to the server, and its result. */
struct call {
    struct outbound_request request;
    struct outbound_response response;
    struct error error;
    char url[128];
    bool worked;
};

static inline void perform(struct call *call, const struct server *server, const char *path)
{
    snprintf(call->url, sizeof call->url, "http://127.0.0.1:%d%s", server->port, path);
    call->request.url = call->url;
    call->worked = outbound_perform(&call->request, &call->response, &call->error);
}

static inline void assert_failed(struct call *call, enum failure failure, enum error_kind kind)
{
    assert_false(call->worked);
    if (call->response.failure != failure)
        fail_msg("got %s, expected %s: %s", failure_name(call->response.failure),
                 failure_name(failure), call->error.message);
    assert_int_equal(call->error.kind, kind);
    outbound_response_finish(&call->response);
}

static inline void assert_says(const struct call *call, const char *words)
{
    if (strstr(call->error.message, words) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", call->error.message, words);
}

/* Asserts that the latest request contains `expected`. */
static inline void assert_asked(struct server *server, const char *expected)
{
    pthread_mutex_lock(&server->lock);
    if (strstr(server->request, expected) == NULL)
        fail_msg("\"%s\" is not in the request:\n%s", expected, server->request);
    pthread_mutex_unlock(&server->lock);
}

/* Asserts that the latest request does not contain `unexpected`, ignoring case. */
static inline void assert_not_asked(struct server *server, const char *unexpected)
{
    pthread_mutex_lock(&server->lock);
    if (strcasestr(server->request, unexpected) != NULL)
        fail_msg("\"%s\" is in the request:\n%s", unexpected, server->request);
    pthread_mutex_unlock(&server->lock);
}

static inline int64_t elapsed_ms(int64_t start_ns)
{
    return (clock_monotonic_ns() - start_ns) / 1000000;
}
