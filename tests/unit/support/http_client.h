/* SPDX-License-Identifier: Apache-2.0 */
/* A small HTTP client that uses one connection, a raw socket. It can send any bytes, and reads
 * event streams and bodies, chunked or with a Content-Length. A read gives up when nothing arrives
 * for five seconds. */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/core/text.h"

struct http_client {
    int fd;
    struct text received; /* bytes that are not consumed yet */
    struct text head;     /* status line and headers of the last answer */
    int status;
    bool chunked; /* the body comes in chunks */
    bool ended;   /* the last chunk was read */
    size_t left;  /* unread bytes of the chunk or, if not chunked, of the body */
};

static inline void http_open(struct http_client *client, unsigned port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { .tv_sec = 5 };

    *client = (struct http_client){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(client->fd, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
}

static inline void http_close(struct http_client *client)
{
    close(client->fd);
    text_finish(&client->received);
    text_finish(&client->head);
}

static inline void http_send_bytes(struct http_client *client, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(client->fd, bytes, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        bytes += sent;
        length -= (size_t)sent;
    }
}

/* Sends a request. `headers`: header lines, each with its line end; NULL: none. Adds a Host header
 * if there is none, and a Content-Length header if there is a body. */
static inline void http_send(struct http_client *client, const char *verb, const char *path,
                             const char *headers, const char *body)
{
    TEXT_AUTO request = { 0 };

    text_addf(&request, "%s %s HTTP/1.1\r\n", verb, path);
    if (headers == NULL
        || (strncasecmp(headers, "Host:", 5) != 0 && strcasestr(headers, "\nHost:") == NULL))
        text_add(&request, "Host: localhost\r\n");
    if (headers != NULL)
        text_add(&request, headers);
    if (body != NULL)
        text_addf(&request, "Content-Length: %zu\r\n", strlen(body));
    text_addf(&request, "\r\n%s", body != NULL ? body : "");
    http_send_bytes(client, text_string(&request), request.length);
}

/* Reads more bytes. Returns false if the connection has ended, or if nothing arrives for five
 * seconds. */
static inline bool http_receive(struct http_client *client)
{
    char buffer[16384];
    ssize_t length = recv(client->fd, buffer, sizeof buffer, 0);

    if (length <= 0)
        return false;
    text_add_bytes(&client->received, buffer, (size_t)length);
    return true;
}

static inline void http_consume(struct http_client *client, size_t length)
{
    struct text rest = { 0 };

    text_add_bytes(&rest, client->received.data + length, client->received.length - length);
    text_finish(&client->received);
    client->received = rest;
}

/* Reads a line without its line end. Returns false if no complete line arrives. */
static inline bool http_line(struct http_client *client, struct text *out)
{
    char *end;

    text_clear(out);
    while ((end = strstr(text_string(&client->received), "\r\n")) == NULL)
        if (!http_receive(client))
            return false;
    text_add_bytes(out, client->received.data, (size_t)(end - client->received.data));
    http_consume(client, out->length + 2);
    return true;
}

/* Returns the value of a header in the last answer; NULL: there is none. The caller frees it. */
static inline char *http_header(const struct http_client *client, const char *name)
{
    TEXT_AUTO wanted = { 0 };
    const char *found;
    struct text value = { 0 };

    text_addf(&wanted, "\n%s: ", name);
    found = strcasestr(text_string(&client->head), text_string(&wanted));
    if (found == NULL)
        return NULL;
    found += wanted.length;
    text_add_bytes(&value, found, strcspn(found, "\n"));
    return text_take(&value);
}

/* Reads the status line and the headers, after skipping those of a "100 Continue". Returns the
 * status; 0: no complete HTTP/1.1 head arrived. */
static inline int http_read_head(struct http_client *client)
{
    TEXT_AUTO line = { 0 };
    char *length;

    text_clear(&client->head);
    client->status = 0;
    client->ended = false;
    do {
        if (!http_line(client, &line))
            return 0;
        text_addf(&client->head, "%s\n", text_string(&line));
    } while (line.length > 0);
    if (sscanf(client->head.data, "HTTP/1.1 %d", &client->status) != 1)
        return 0;
    if (client->status == 100)
        return http_read_head(client);
    client->chunked = strcasestr(client->head.data, "Transfer-Encoding: chunked") != NULL;
    length = http_header(client, "Content-Length");
    client->left = length != NULL ? strtoul(length, NULL, 10) : 0;
    free(length);
    return client->status;
}

/* Appends the next part of the body. Returns false if the body has ended, or if no more arrives. */
static inline bool http_read_part(struct http_client *client, struct text *body)
{
    TEXT_AUTO line = { 0 };
    size_t part;

    if (client->ended)
        return false;
    if (client->chunked && client->left == 0) {
        if (!http_line(client, &line))
            return false;
        client->left = strtoul(text_string(&line), NULL, 16);
        if (client->left == 0) {
            client->ended = true;
            http_line(client, &line);
            return false;
        }
    }
    if (client->left == 0)
        return false;
    if (client->received.length == 0 && !http_receive(client))
        return false;
    part = client->left < client->received.length ? client->left : client->received.length;
    text_add_bytes(body, client->received.data, part);
    http_consume(client, part);
    client->left -= part;
    if (client->chunked && client->left == 0)
        http_line(client, &line);
    return true;
}

/* Sends one request and reads the whole answer. Returns the status; 0: none arrived. `body_out` can
 * be NULL. */
static inline int http_exchange(struct http_client *client, const char *verb, const char *path,
                                const char *headers, const char *body, struct text *body_out)
{
    TEXT_AUTO ignored = { 0 };
    struct text *out = body_out != NULL ? body_out : &ignored;

    text_clear(out);
    http_send(client, verb, path, headers, body);
    if (http_read_head(client) == 0)
        return 0;
    while (strcmp(verb, "HEAD") != 0 && http_read_part(client, out))
        continue;
    return client->status;
}

/* Does the same on a new connection that is used only for this request. */
static inline int http_request(unsigned port, const char *verb, const char *path,
                               const char *headers, const char *body, struct text *body_out)
{
    struct http_client client;
    int status;

    http_open(&client, port);
    status = http_exchange(&client, verb, path, headers, body, body_out);
    http_close(&client);
    return status;
}

/* Reads the next event or comment of a stream. `out`: the event's data ("" for a priming event,
 * which has only an id), or the comment with its ":". `pending` keeps the bytes that follow.
 * Returns false if the stream has ended, or if no more arrives. */
static inline bool http_event(struct http_client *client, struct text *pending, struct text *out)
{
    char *end;
    const char *data;
    struct text rest = { 0 };

    text_clear(out);
    while ((end = strstr(text_string(pending), "\n\n")) == NULL)
        if (!http_read_part(client, pending))
            return false;
    *end = '\0';
    data = strstr(text_string(pending), "data: ");
    text_add(out, data != NULL ? data + 6 : text_string(pending));
    text_add(&rest, end + 2);
    text_finish(pending);
    *pending = rest;
    return true;
}

/* Reads the next event that has a message, and skips priming events and empty comments. */
static inline bool http_message(struct http_client *client, struct text *pending, struct text *out)
{
    do
        if (!http_event(client, pending, out))
            return false;
    while (out->length == 0 || strcmp(text_string(out), ":") == 0);
    return true;
}

/* Reads until the server closes the connection or sends nothing for five seconds. Returns whether
 * the server closed the connection. */
static inline bool http_is_closed(struct http_client *client)
{
    while (http_receive(client))
        continue;
    return recv(client->fd, (char[1]){ 0 }, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
}
