#include "server/acceptor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/http_loop.h"
#include "server/quota.h"
#include "server/server.h"

#define AT_A_TURN 64 /* so that a flood of connections does not starve those that are open */
#define PAUSE_NS INT64_C(100000000)
#define TELL_EVERY_NS INT64_C(10000000000)

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

/* One line in ten seconds: a flood of connections is none of log lines. */
static bool may_tell(struct acceptor *acceptor, int64_t now_ns)
{
    if (acceptor->told_ns != 0 && now_ns - acceptor->told_ns < TELL_EVERY_NS)
        return false;
    acceptor->told_ns = now_ns;
    return true;
}

/* The socket stays ready, so it is not looked at meanwhile. */
static void pause_accepting(struct http_loop *loop, const char *why)
{
    int64_t now_ns = clock_monotonic_ns();

    watch(loop, EPOLL_CTL_MOD, 0);
    loop->acceptor.resume_ns = now_ns + PAUSE_NS;
    if (may_tell(&loop->acceptor, now_ns))
        log_warning("new connections have to wait: %s", why);
}

void acceptor_resume(struct http_loop *loop, int64_t now_ns)
{
    if (loop->acceptor.resume_ns == 0 || now_ns < loop->acceptor.resume_ns)
        return;
    loop->acceptor.resume_ns = 0;
    watch(loop, EPOLL_CTL_MOD, EPOLLIN);
}

void acceptor_hurry(struct http_loop *loop)
{
    if (loop->acceptor.resume_ns != 0)
        loop->acceptor.resume_ns = 1;
}

static bool is_full(struct http_loop *loop)
{
    struct server *server = loop->server;
    char why[96];

    if (atomic_load(&server->open_connections) < server->settings->connections)
        return false;
    snprintf(why, sizeof why, "%lld are open, as many as the setting connections allows",
             (long long)server->settings->connections);
    pause_accepting(loop, why);
    return true;
}

void acceptor_write_address(const struct sockaddr *address, char out[INET6_ADDRSTRLEN])
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        inet_ntop(AF_INET, &v4.sin_addr, out, INET6_ADDRSTRLEN);
        return;
    }
    memcpy(&v6, address, sizeof v6);
    if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
        memset(v6.sin6_addr.s6_addr + 8, 0, 8);
    inet_ntop(AF_INET6, &v6.sin6_addr, out, INET6_ADDRSTRLEN);
}

static void hand_over(struct http_loop *loop, int fd, const struct sockaddr_storage *address,
                      socklen_t length)
{
    if (MHD_add_connection(loop->daemon, fd, (const struct sockaddr *)address, length) == MHD_YES)
        return;
    log_warning("cannot take a connection: %s", strerror(errno)); /* it is closed */
}

/* libmicrohttpd tells of the connection while it takes it, which is when its address is counted. */
static void admit(struct http_loop *loop, int fd, const struct sockaddr_storage *address,
                  socklen_t length)
{
    struct acceptor *acceptor = &loop->acceptor;
    char text[INET6_ADDRSTRLEN];

    if (loop->server->settings->connections_per_address == 0) {
        hand_over(loop, fd, address, length);
        return;
    }
    acceptor_write_address((const struct sockaddr *)address, text);
    if (!quota_enter(loop->server->addresses, text)) {
        close(fd);
        if (may_tell(acceptor, clock_monotonic_ns()))
            log_warning("a connection from %s is refused: it has %lld, as many as the setting "
                        "connections_per_address allows",
                        text, (long long)loop->server->settings->connections_per_address);
        return;
    }
    acceptor->address = text;
    hand_over(loop, fd, address, length);
    if (acceptor->address != NULL)
        quota_leave(loop->server->addresses, text);
    acceptor->address = NULL;
}

static bool is_passing(int error_number)
{
    return error_number == EAGAIN || error_number == EINTR || error_number == ECONNABORTED;
}

static void take_waiting(struct http_loop *loop)
{
    for (int i = 0; i < AT_A_TURN && !is_full(loop); i++) {
        struct sockaddr_storage address = { 0 };
        socklen_t length = sizeof address;
        int fd = accept4(loop->acceptor.fd, (struct sockaddr *)&address, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0) {
            if (!is_passing(errno))
                pause_accepting(loop, strerror(errno));
            return;
        }
        admit(loop, fd, &address, length);
    }
}

void acceptor_run(struct http_loop *loop)
{
    if (!loop->acceptor.ready)
        return;
    loop->acceptor.ready = false;
    take_waiting(loop);
}
