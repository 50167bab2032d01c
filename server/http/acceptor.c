/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/acceptor.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/rate_limit.h"
#include "server/http/http.h"
#include "server/http/http_connection.h"
#include "server/http/http_loop.h"

/* The maximum number of connections that are accepted in one turn of the loop, so that a flood of
 * new ones does not starve those that are open. */
#define ACCEPTS_PER_TURN 64
#define PAUSE_NS INT64_C(100000000) /* the longest pause before connections are accepted again */
#define LOG_EVERY_NS INT64_C(10000000000) /* for may_log */

static bool watch(struct http_loop *loop, int operation, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = &loop->acceptor };

    return epoll_ctl(loop->epoll_fd, operation, loop->acceptor.fd, &event) == 0;
}

bool acceptor_watch(struct http_loop *loop)
{
    return watch(loop, EPOLL_CTL_ADD, EPOLLIN);
}

void acceptor_close(struct http_loop *loop)
{
    if (loop->acceptor.fd >= 0)
        close(loop->acceptor.fd);
    loop->acceptor.fd = -1;
    loop->acceptor.resume_ns = 0;
}

/* Allows at most one line every ten seconds: a flood of connections must not flood the log. */
static bool may_log(struct acceptor *acceptor, int64_t now_ns)
{
    if (acceptor->logged_ns != 0 && now_ns - acceptor->logged_ns < LOG_EVERY_NS)
        return false;
    acceptor->logged_ns = now_ns;
    return true;
}

/* ---- Limits on all connections ---- */

/* How many connections wait in the kernel to be accepted: at least 1, at most ACCEPTS_PER_TURN. */
static unsigned count_waiting(const struct acceptor *acceptor)
{
    struct tcp_info info = { 0 };
    socklen_t length = sizeof info;

    if (getsockopt(acceptor->fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0
        || info.tcpi_unacked == 0) /* for a listening socket, the length of its queue */
        return 1;
    return info.tcpi_unacked < ACCEPTS_PER_TURN ? info.tcpi_unacked : ACCEPTS_PER_TURN;
}

static void ask_other_loops(struct http_loop *loop)
{
    struct http *http = loop->http;

    for (unsigned i = 0; i < atomic_load(&http->loops_started); i++)
        if (http->loops[i] != loop)
            http_loop_post(http->loops[i], &http->loops[i]->room_note);
}

void acceptor_make_room(struct note *room_note)
{
    http_connection_make_room((struct http_loop *)room_note, false);
}

/* Makes room: closes connections of unknown clients on this loop or, if there are none to close,
 * asks the other loops to do so. In the second case, this loop's next attempt can also close
 * connections of known clients, unless the loop has accepted a connection by then. */
static void make_room(struct http_loop *loop)
{
    struct acceptor *acceptor = &loop->acceptor;
    unsigned wanted = count_waiting(acceptor), made = 0;

    while (made < wanted && http_connection_make_room(loop, acceptor->found_none))
        made++;
    if (made == 0)
        ask_other_loops(loop);
    acceptor->found_none = made == 0;
}

/* While connections wait, the listening socket stays readable: if the loop kept watching it, the
 * loop could not sleep. */
static void pause_accepting(struct http_loop *loop, const char *why)
{
    int64_t now_ns = clock_monotonic_ns();

    watch(loop, EPOLL_CTL_MOD, 0);
    loop->acceptor.resume_ns = now_ns + PAUSE_NS;
    if (may_log(&loop->acceptor, now_ns))
        log_warning("new connections must wait, or replace idle or slow ones: %s", why);
    make_room(loop);
}

void acceptor_resume(struct http_loop *loop, int64_t now_ns)
{
    if (loop->acceptor.resume_ns == 0 || now_ns < loop->acceptor.resume_ns)
        return;
    loop->acceptor.resume_ns = 0;
    watch(loop, EPOLL_CTL_MOD, EPOLLIN);
}

static bool pause_if_full(struct http_loop *loop)
{
    struct http *http = loop->http;
    char why[96];

    if (atomic_load(&http->open_connections) < http->connections_limit)
        return false;
    snprintf(why, sizeof why,
             "%lld are open, as many as the setting connections or the limit on open files "
             "allows",
             (long long)http->connections_limit);
    pause_accepting(loop, why);
    return true;
}

/* ---- Addresses ---- */

/* If a connection begins, counts it among those of its address; if it ends, stops counting it.
 * Returns true if it begins and is allowed. A client can have a whole network of IPv6 addresses, so
 * such a network counts as one address. */
static bool count_address(struct http_loop *loop, const struct ip_address *address, bool begins)
{
    const struct ip_address network = ip_client_network(address);
    char text[IP_TEXT_SIZE];

    ip_format(&network, text);
    if (!begins)
        rate_limit_leave(loop->http->addresses, text);
    else if (rate_limit_enter(loop->http->addresses, text))
        return true;
    else if (may_log(&loop->acceptor, clock_monotonic_ns()))
        log_warning(
            "a connection from %s is refused: this address has %lld connections, as many as the "
            "setting connections_per_address allows; if it is a proxy, add it to the "
            "setting trusted_proxies",
            text, (long long)loop->http->settings->connections_per_address);
    return false;
}

/* Sets the address of a connection that is being opened, and whether the connection counts towards
 * the limit on its address. */
static void enter(struct acceptor *acceptor, struct http_connection *connection)
{
    connection->address = acceptor->address;
    connection->is_proxy = acceptor->is_proxy;
    connection->is_counted = acceptor->is_counted;
    acceptor->is_counted = false;
    ip_format(&connection->address, connection->address_text);
}

/* Handles the end of a connection: a pause ends, because there is room again. */
static void leave(struct http_loop *loop, const struct http_connection *connection)
{
    if (connection->is_counted)
        count_address(loop, &connection->address, false);
    if (loop->acceptor.resume_ns != 0)
        loop->acceptor.resume_ns = 1;
}

void acceptor_notify(void *context, struct MHD_Connection *mhd, void **slot,
                     enum MHD_ConnectionNotificationCode code)
{
    struct http_loop *loop = context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = http_connection_open(loop, mhd);
        enter(&loop->acceptor, *slot);
    } else {
        leave(loop, *slot);
        http_connection_close(*slot);
    }
}

/* libmicrohttpd calls acceptor_notify while it adds the connection. */
static void admit(struct http_loop *loop, int fd, const struct sockaddr_storage *address,
                  socklen_t length)
{
    struct acceptor *acceptor = &loop->acceptor;

    ip_of(address, &acceptor->address);
    acceptor->is_proxy = ip_networks_hold(&loop->http->trusted_proxies, &acceptor->address);
    acceptor->is_counted = !acceptor->is_proxy && loop->http->settings->connections_per_address > 0;
    if (acceptor->is_counted && !count_address(loop, &acceptor->address, true)) {
        close(fd);
        return;
    }
    if (MHD_add_connection(loop->daemon, fd, (const struct sockaddr *)address, length) == MHD_YES)
        return;
    log_warning("cannot accept a connection: %s", strerror(errno)); /* MHD has closed it */
    if (acceptor->is_counted)
        count_address(loop, &acceptor->address, false);
}

/* ---- Accepting ---- */

static bool is_transient(int error_number)
{
    return error_number == EAGAIN || error_number == EINTR || error_number == ECONNABORTED;
}

static void accept_waiting(struct http_loop *loop)
{
    for (int i = 0; i < ACCEPTS_PER_TURN && !pause_if_full(loop); i++) {
        struct sockaddr_storage address = { 0 };
        socklen_t length = sizeof address;
        int fd = accept4(loop->acceptor.fd, (struct sockaddr *)&address, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0) {
            if (!is_transient(errno))
                pause_accepting(loop, strerror(errno));
            return;
        }
        loop->acceptor.found_none = false;
        admit(loop, fd, &address, length);
    }
}

void acceptor_run(struct http_loop *loop)
{
    if (!loop->acceptor.ready)
        return;
    loop->acceptor.ready = false;
    accept_waiting(loop);
}
