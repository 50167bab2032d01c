/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd receives with recv(), and has no hook between the socket and its parser where the
 * bytes could be examined. Examining them beforehand (MSG_PEEK) would cost another system call for
 * each request and would miss what arrives in between; after parsing, the size lines of chunks
 * and the NULs are gone. So this file defines recv(): a program's own symbol takes precedence over
 * the one in libc, even for libraries. On an HTTP thread, this recv() passes the bytes of a
 * connection through the connection's guard; any other call goes straight to the kernel. If
 * libmicrohttpd ever receives in another way, its requests are refused
 * (http_connection_is_guarded). */

#include "server/http/http_reader.h"

#include <errno.h>
#include <sys/socket.h>

#include "server/http/http_connection.h"

#define DROPPED_AT_ONCE ((size_t)256 << 10) /* drop() returns after this many bytes */
#define DROPPED_LIMIT ((size_t)32 << 20)    /* a connection is closed after this many bytes */

/* This thread's loop, for which recv() has no parameter; NULL: not an HTTP thread. */
static _Thread_local const struct http_loop *guarded_loop;

void http_reader_begin(struct http_loop *loop)
{
    guarded_loop = loop;
}

static ssize_t fail(int error_number)
{
    errno = error_number;
    return -1;
}

/* Hides the end of the input while a request is being answered: a client that closed its side after
 * the request may still be waiting for the answer, which libmicrohttpd would not write if it saw
 * the end. */
static ssize_t receive(const struct http_connection *connection, void *bytes, size_t size)
{
    ssize_t length = recvfrom(connection->fd, bytes, size, 0, NULL, NULL);
    const struct http_request *request = connection->request;

    return length == 0 && request != NULL && request->dispatched ? fail(EAGAIN) : length;
}

/* Reads and drops the input after a refused request, until the client has read the reason and
 * closed the connection: closing it before that would reset it, and the answer would be lost. */
static ssize_t drop(struct http_connection *connection)
{
    char bytes[16384];

    for (size_t dropped = 0; dropped < DROPPED_AT_ONCE;) {
        ssize_t length = receive(connection, bytes, sizeof bytes);

        if (length <= 0)
            return length;
        dropped += (size_t)length;
        connection->dropped += (size_t)length;
        if (connection->dropped > DROPPED_LIMIT)
            return 0; /* looks to libmicrohttpd as if the client had disconnected */
    }
    return fail(EINTR); /* there might be more input */
}

static ssize_t read_guarded(struct http_connection *connection, char *bytes, size_t size)
{
    struct request_guard *guard = &connection->guard;
    ssize_t length;
    size_t good;

    if (connection->refused || guard->fault != NULL)
        return drop(connection);
    length = receive(connection, bytes, size);
    if (length <= 0)
        return length;
    good = request_guard_check(guard, bytes, (size_t)length);
    if (guard->fault != NULL)
        http_connection_refuse_fault(connection);
    return good > 0 ? (ssize_t)good : fail(EAGAIN);
}

ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    struct http_connection *connection =
        guarded_loop != NULL ? http_connection_find(guarded_loop, fd) : NULL;

    if (connection == NULL)
        return recvfrom(fd, bytes, size, flags, NULL, NULL);
    return read_guarded(connection, bytes, size);
}
