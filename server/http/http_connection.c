/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_connection.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "server/http/http.h"
#include "server/http/http_reply.h"
#include "server/http/request_target.h"

/* ---- Creating and freeing ---- */

/* Adds a connection to the loop's table, which is indexed by descriptor. */
static void enter(struct http_loop *loop, struct http_connection *connection)
{
    size_t needed = (size_t)connection->fd + 1;

    if (needed > loop->connections_size) {
        size_t size = needed * 2;

        loop->connections =
            memory_resize(loop->connections, size, sizeof(struct http_connection *));
        memset(loop->connections + loop->connections_size, 0,
               (size - loop->connections_size) * sizeof(struct http_connection *));
        loop->connections_size = size;
    }
    loop->connections[connection->fd] = connection;
}

struct http_connection *http_connection_find(const struct http_loop *loop, int fd)
{
    return fd >= 0 && (size_t)fd < loop->connections_size ? loop->connections[fd] : NULL;
}

struct http_connection *http_connection_open(struct http_loop *loop, struct MHD_Connection *mhd)
{
    struct http_connection *connection = memory_zeroed(1, sizeof *connection);
    struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = connection };

    atomic_fetch_add(&loop->http->open_connections, 1);
    connection->loop = loop;
    connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->deadline.owner = connection;
    enter(loop, connection);
    http_connection_wait(connection, DEADLINE_HEADER);
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        log_warning("cannot watch a connection for hang-up: %s", strerror(errno));
    return connection;
}

void http_connection_close(struct http_connection *connection)
{
    struct http_loop *loop = connection->loop;

    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    atomic_fetch_sub(&loop->http->open_connections, 1);
    timeout_clear(&connection->deadline);
    loop->connections[connection->fd] = NULL;
    free(connection);
}

/* ---- Waiting ---- */

void http_connection_wait(struct http_connection *connection, enum deadline_kind kind)
{
    if (connection->ended && kind != DEADLINE_SEND && kind != DEADLINE_REFUSAL)
        kind = DEADLINE_LEFT;
    connection->waits_for = kind;
    timeout_set(&connection->loop->deadlines[connection->is_known][kind], &connection->deadline,
                connection->loop->now_ns);
}

static bool is_waiting(const struct http_connection *connection)
{
    return connection->deadline.list != NULL;
}

/* Handles a hang-up: the client has disconnected (`gone`), or has only stopped sending and might
 * still be waiting for the answer. While a request is suspended, its socket is not read, so the
 * request learns of the hang-up only from this function. At other times libmicrohttpd notices the
 * end of the input itself, unless the end arrives together with the last bytes. */
static void hang_up(struct http_connection *connection, bool gone)
{
    enum deadline_kind waits_for = connection->waits_for;

    connection->ended = true;
    connection->gone |= gone;
    if (connection->request != NULL && connection->request->suspended)
        connection->request->hang_up(connection->request);
    if (is_waiting(connection) && waits_for != DEADLINE_SEND && waits_for != DEADLINE_REFUSAL)
        http_connection_wait(connection, DEADLINE_LEFT);
}

/* Bytes of the next request have arrived: from now on, the deadline is the one for its headers, not
 * the one for its first byte. */
static void begin_headers(struct http_connection *connection)
{
    if (is_waiting(connection) && connection->waits_for == DEADLINE_IDLE)
        http_connection_wait(connection, DEADLINE_HEADER);
}

/* libmicrohttpd calls none of our callbacks until it has read the first line of a request, so the
 * deadline is set here. */
static void handle_bytes(struct http_connection *connection)
{
    const struct http_request *request = connection->request;

    if (request == NULL)
        begin_headers(connection);
    else if (request->dispatched)
        connection->sent_more = true;
}

void http_connection_handle_event(struct http_connection *connection, uint32_t events)
{
    if ((events & ~(uint32_t)EPOLLIN) != 0)
        hang_up(connection, (events & (EPOLLHUP | EPOLLERR)) != 0);
    else
        handle_bytes(connection);
}

/* If a request arrived together with the previous one, only this call shows that it has begun. */
void *http_connection_first_line(void *loop, const char *target, struct MHD_Connection *mhd)
{
    struct http_connection *connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

    (void)loop;
    begin_headers(connection);
    connection->target_is_sound = request_target_is_sound(target);
    return NULL;
}

/* The client is allowed to be silent for a long time between requests, but not within one. */
void http_connection_end_request(struct http_connection *connection)
{
    http_connection_wait(connection, connection->sent_more ? DEADLINE_HEADER : DEADLINE_IDLE);
    connection->sent_more = false;
    connection->request = NULL;
    connection->answered++;
    http_connection_refuse_fault(connection);
}

/* ---- Refusing ---- */

bool http_connection_is_guarded(const struct http_connection *connection)
{
    return connection->guard.heads > connection->answered;
}

bool http_connection_has_whole_request(const struct http_connection *connection)
{
    return connection->guard.passed > connection->answered;
}

/* The refusal waits for the loop's next turn: if libmicrohttpd is about to close the connection
 * after the last answer, it can do so first. */
void http_connection_refuse_fault(struct http_connection *connection)
{
    if (connection->guard.fault != NULL && connection->answered >= connection->guard.passed)
        http_connection_wait(connection, DEADLINE_REFUSAL);
}

static void write_head(const struct http_reply *reply, struct text *out)
{
    char date[40];
    struct tm tm;
    time_t now = time(NULL);

    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
    text_addf(out,
              "HTTP/1.1 %u %s\r\nDate: %s\r\nConnection: close\r\nContent-Type: %s\r\n"
              "Content-Length: %zu\r\n",
              reply->status, MHD_get_reason_phrase_for(reply->status), date, reply->content_type,
              reply->body.length);
    for (size_t i = 0; i < reply->header_count; i++)
        text_addf(out, "%s: %s\r\n", reply->headers[i].name, reply->headers[i].value);
    text_add(out, "\r\n");
}

/* The answer is short, and is sent without waiting: a client that cannot receive it at once loses
 * it. */
void http_connection_refuse(struct http_connection *connection, const struct http_reply *reply)
{
    TEXT_AUTO bytes = { 0 };

    write_head(reply, &bytes);
    text_add_bytes(&bytes, text_string(&reply->body), reply->body.length);
    if (send(connection->fd, bytes.data, bytes.length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        log_info("a refusal could not be sent: %s", strerror(errno));
    shutdown(connection->fd, SHUT_WR);
    connection->refused = true;
}

static void log_fault(struct http_connection *connection, const struct request_fault *fault)
{
    struct log_lines *lines = &connection->loop->log;

    if (!connection->loop->http->settings->log_requests)
        return;
    log_lines_begin(lines);
    text_addf(&lines->text, "? ? - - - %u from %s: %s", fault->status, connection->address_text,
              fault->message);
    log_lines_end(lines);
}

static void refuse_fault(struct http_connection *connection)
{
    const struct request_fault *fault = connection->guard.fault;
    struct http_reply reply = { .status = fault->status, .content_type = "application/json" };

    connection->loop->http->write_refusal(fault->status, NULL, fault->message, &reply.body);
    http_connection_refuse(connection, &reply);
    text_finish(&reply.body);
    log_fault(connection, fault);
    http_connection_wait(connection, DEADLINE_LEFT);
}

/* libmicrohttpd has no function that closes a connection, but it closes a connection whose socket
 * is shut down. */
static void close_late(struct http_connection *connection)
{
    static const char *const what[] = {
        [DEADLINE_BODY] = "its body did not arrive in time",
        [DEADLINE_SEND] = "the client does not read the answer",
    };

    enum deadline_kind kind = connection->waits_for;

    if (!connection->refused && (kind == DEADLINE_BODY || kind == DEADLINE_SEND))
        log_warning("%s: closing, %s", connection->request != NULL ? connection->request->id : "-",
                    what[kind]);
    shutdown(connection->fd, SHUT_RDWR);
}

void http_connection_expire(struct http_connection *connection)
{
    if (connection->waits_for == DEADLINE_REFUSAL)
        refuse_fault(connection);
    else
        close_late(connection);
}

/* ---- Making room ---- */

#define MS_NS INT64_C(1000000)

/* Which connections can be closed to make room. The kinds are tried in this order; of each kind,
 * only the connection that has waited longest is considered. Each kind has a minimum waiting time,
 * because a new client is probably about to send a request, and a known client might return to an
 * idle connection at any moment and find it closed. */
static const struct {
    bool known;
    enum deadline_kind waits_for;
    int64_t least_ns; /* not closed before it has waited this long */
} closable[] = {
    { false, DEADLINE_HEADER, 100 * MS_NS }, { false, DEADLINE_BODY, 100 * MS_NS },
    { false, DEADLINE_IDLE, 100 * MS_NS },   { false, DEADLINE_SEND, 1000 * MS_NS },
    { true, DEADLINE_HEADER, 1000 * MS_NS }, { true, DEADLINE_IDLE, 10000 * MS_NS },
};

bool http_connection_make_room(struct http_loop *loop, bool also_known)
{
    for (size_t i = 0; i < sizeof closable / sizeof *closable; i++) {
        const struct timeout_list *list =
            &loop->deadlines[closable[i].known][closable[i].waits_for];
        int64_t since_ns = timeout_next_ns(list) - list->length_ns;
        struct http_connection *oldest = timeout_first(list);

        if (oldest == NULL || closable[i].known > also_known
            || loop->now_ns - since_ns < closable[i].least_ns)
            continue;
        http_connection_wait(oldest, DEADLINE_LEFT);
        shutdown(oldest->fd, SHUT_RDWR);
        return true;
    }
    return false;
}
