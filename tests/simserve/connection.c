/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "tests/simserve/api.h"

#define KEPT_BUFFER_BYTES 65536
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

static void close_idle(void *owner)
{
    connection_close(owner);
}

void connection_create(struct server *server, int fd)
{
    struct connection *connection = memory_zeroed(1, sizeof *connection);
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                 .data.ptr = connection };

    *connection = (struct connection){ .server = server, .fd = fd };
    connection->idle = (struct timer){ .fire = close_idle, .owner = connection };
    TAILQ_INSERT_TAIL(&server->open, connection, link);
    if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
        connection_close(connection);
}

void connection_destroy(struct connection *connection)
{
    text_finish(&connection->input);
    text_finish(&connection->output);
    free(connection);
}

static void mark_ready(struct connection *connection)
{
    if (connection->is_ready)
        return;
    connection->is_ready = true;
    TAILQ_INSERT_TAIL(&connection->server->ready, connection, ready_link);
}

void connection_close(struct connection *connection)
{
    struct server *server = connection->server;

    if (connection->dead)
        return;
    connection->dead = true;
    if (connection->sequence)
        model_retire(connection->sequence, OUTCOME_CLIENT_CLOSED);
    timer_cancel(&server->timers, &connection->idle);
    close(connection->fd);
    if (connection->is_ready)
        TAILQ_REMOVE(&server->ready, connection, ready_link);
    TAILQ_REMOVE(&server->open, connection, link);
    TAILQ_INSERT_TAIL(&server->dead, connection, link);
}

void connection_reset(struct connection *connection)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    if (!connection->dead)
        setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    connection_close(connection);
}

/* Empties a buffer. If a large message has made the buffer grow, also frees its memory. */
static void buffer_reset(struct text *buffer)
{
    if (buffer->capacity > KEPT_BUFFER_BYTES)
        text_finish(buffer);
    else
        text_clear(buffer);
}

static size_t send_some(struct connection *connection, const char *bytes, size_t length)
{
    ssize_t sent = send(connection->fd, bytes, length, MSG_NOSIGNAL);

    if (sent >= 0)
        return (size_t)sent;
    if (errno != EAGAIN && errno != EINTR)
        connection->broken = true;
    return 0;
}

void connection_send(struct connection *connection, const char *bytes, size_t length)
{
    size_t sent = 0;

    if (connection->broken || connection->dead)
        return;
    if (connection_unsent_bytes(connection) == 0)
        sent = send_some(connection, bytes, length);
    if (sent < length)
        text_add_bytes(&connection->output, bytes + sent, length - sent);
}

size_t connection_unsent_bytes(const struct connection *connection)
{
    return connection->output.length - connection->sent;
}

/* Sends more of the output once the socket accepts bytes again. */
static void flush(struct connection *connection)
{
    size_t unsent = connection_unsent_bytes(connection);

    if (unsent == 0)
        return;
    connection->sent += send_some(connection, connection->output.data + connection->sent, unsent);
    if (connection_unsent_bytes(connection) > 0)
        return;
    connection->sent = 0;
    buffer_reset(&connection->output);
    if (connection->closing)
        connection_close(connection);
    else if (connection->sequence)
        model_unblock(connection->sequence);
}

static bool must_close(const struct connection *connection)
{
    int64_t limit = connection->server->config.close_after_requests;

    return !connection->request.keep_alive || connection->close_after_this
           || (limit > 0 && connection->requests >= limit);
}

void connection_done(struct connection *connection)
{
    struct server *server = connection->server;
    double idle_ms = server->config.keep_alive_idle_ms;

    connection->busy = false;
    connection->sequence = NULL;
    if (connection->dead)
        return;
    if (must_close(connection)) {
        connection->closing = true;
        if (connection_unsent_bytes(connection) == 0)
            connection_close(connection);
        return;
    }
    if (connection->input.length > 0 || connection->readable)
        mark_ready(connection);
    if (idle_ms > 0)
        timer_set(&server->timers, &connection->idle,
                  clock_monotonic_ns() + (int64_t)(idle_ms * 1e6));
}

/* Reads available bytes. Returns false if there are none now or the connection is now closed. */
static bool receive(struct connection *connection)
{
    struct server *server = connection->server;
    ssize_t length;

    if (!connection->readable)
        return false;
    length = recv(connection->fd, server->input_chunk, sizeof server->input_chunk, 0);
    connection->read_ns = clock_monotonic_ns();
    if (length > 0) {
        timer_cancel(&server->timers, &connection->idle);
        text_add_bytes(&connection->input, server->input_chunk, (size_t)length);
        return true;
    }
    if (length < 0 && errno == EINTR)
        return true;
    connection->readable = false;
    if (length == 0 || errno != EAGAIN)
        connection_close(connection);
    return false;
}

/* Removes the current request from the input. */
static void remove_request(struct connection *connection)
{
    size_t consumed = connection->request.consumed;
    struct text *input = &connection->input;

    connection->request.consumed = 0;
    connection->request.head_bytes = 0;
    if (consumed < input->length) {
        memmove(input->data, input->data + consumed, input->length - consumed);
        input->length -= consumed;
    } else {
        buffer_reset(input);
    }
}

static void dispatch(struct connection *connection)
{
    connection->busy = true;
    connection->requests++;
    api_dispatch(connection);
    if (!connection->dead)
        remove_request(connection);
}

static void refuse_bytes(struct connection *connection, enum http_state state)
{
    connection->request.keep_alive = false;
    connection->busy = true;
    if (state == HTTP_TOO_LARGE)
        api_respond_error(connection, 413, "BadRequestError", "The request is too large.", NULL);
    else
        api_respond_error(connection, 400, "BadRequestError", "Invalid HTTP request received.",
                          NULL);
}

void connection_process(struct connection *connection)
{
    struct http_request *request = &connection->request;

    while (!connection->busy && !connection->closing && !connection->dead) {
        enum http_state state;

        if (request->head_bytes == 0)
            *request = (struct http_request){ 0 };
        state = http_read(request, &connection->input);
        if (state == HTTP_COMPLETE) {
            dispatch(connection);
        } else if (state != HTTP_INCOMPLETE) {
            refuse_bytes(connection, state);
        } else {
            if (request->expects_continue)
                connection_send(connection, CONTINUE, sizeof CONTINUE - 1);
            request->expects_continue = false;
            if (!receive(connection))
                return;
        }
    }
}

void connection_on_events(struct connection *connection, uint32_t events)
{
    if (connection->dead)
        return;
    /* EPOLLRDHUP: the peer has closed its side. It can still be waiting for the answer to a request
     * that is yet to be read. But if a request is being answered, the peer has given up. */
    if ((events & (EPOLLERR | EPOLLHUP)) || ((events & EPOLLRDHUP) && connection->busy)) {
        connection_close(connection);
        return;
    }
    if (events & EPOLLOUT)
        flush(connection);
    if (events & (EPOLLIN | EPOLLRDHUP))
        connection->readable = true;
    connection_process(connection);
}
