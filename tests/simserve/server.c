/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "tests/simserve/connection.h"
#include "tests/simserve/prefix_cache.h"
#include "tests/simserve/tokenizer.h"
#include "tests/simserve/truth.h"

#define EVENTS_PER_TURN 256
#define TIMERS_PER_TURN 256
#define LISTEN_BACKLOG 16384

/* Parses "address:port", with an IPv4 address. */
static bool parse_address(const char *listen_at, struct sockaddr_in *out, struct error *error)
{
    const char *colon = strrchr(listen_at, ':');
    char host[64] = { 0 };
    int64_t port;

    *out = (struct sockaddr_in){ .sin_family = AF_INET };
    if (colon && (size_t)(colon - listen_at) < sizeof host)
        memcpy(host, listen_at, (size_t)(colon - listen_at));
    if (!colon || inet_pton(AF_INET, host, &out->sin_addr) != 1
        || !text_to_integer(colon + 1, 0, 65535, &port))
        return error_set(error, ERROR_INVALID,
                         "--listen \"%s\" must be an IPv4 address and a port, such as "
                         "127.0.0.1:8000",
                         listen_at);
    out->sin_port = htons((uint16_t)port);
    return true;
}

/* Sets options that accepted sockets inherit. Reno, unlike BBR, does not pace packets, so
 * bytes leave as soon as they are written. */
static void prepare_socket(int fd)
{
    int on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static bool open_listener(struct server *server, uint16_t *port, struct error *error)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;

    if (!parse_address(server->config.listen, &address, error))
        return false;
    server->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    prepare_socket(server->listen_fd);
    if (bind(server->listen_fd, (struct sockaddr *)&address, sizeof address) < 0
        || listen(server->listen_fd, LISTEN_BACKLOG) < 0
        || getsockname(server->listen_fd, (struct sockaddr *)&address, &length) < 0)
        return error_set(error, ERROR_INVALID, "cannot listen on %s: %s", server->config.listen,
                         strerror(errno));
    *port = ntohs(address.sin_port);
    return true;
}

/* Adds `fd` to the epoll set; `key` distinguishes its events from those of connections. */
static bool watch(int epoll_fd, int fd, void *key)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = key };

    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_loop(struct server *server, struct error *error)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    server->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    prctl(PR_SET_TIMERSLACK, 1);
    if (!watch(server->epoll_fd, server->listen_fd, &server->listen_fd)
        || !watch(server->epoll_fd, server->signal_fd, &server->signal_fd))
        return error_set(error, ERROR_INTERNAL, "epoll: %s", strerror(errno));
    return true;
}

struct server *server_create(const struct config *config, uint16_t *port, struct error *error)
{
    struct server *server = memory_zeroed(1, sizeof *server);

    server->config = *config;
    server->started_ms = clock_utc_ms();
    server->listen_fd = server->epoll_fd = server->signal_fd = -1;
    TAILQ_INIT(&server->open);
    TAILQ_INIT(&server->ready);
    TAILQ_INIT(&server->dead);
    model_init(&server->model);
    server->tokenizer = tokenizer_create();
    server->prefix_cache = prefix_cache_create((size_t)config->kv_blocks);
    server->truth =
        truth_create((size_t)config->truth_requests, (size_t)config->truth_chunks_mib << 20);
    if (open_listener(server, port, error) && open_loop(server, error))
        return server;
    server_destroy(server);
    return NULL;
}

static void free_dead(struct server *server)
{
    struct connection *connection;

    while ((connection = TAILQ_FIRST(&server->dead))) {
        TAILQ_REMOVE(&server->dead, connection, link);
        connection_destroy(connection);
    }
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void server_destroy(struct server *server)
{
    struct connection *connection;

    if (server == NULL)
        return;
    while ((connection = TAILQ_FIRST(&server->open)))
        connection_close(connection);
    free_dead(server);
    close_fd(server->listen_fd);
    close_fd(server->signal_fd);
    close_fd(server->epoll_fd);
    timers_finish(&server->timers);
    tokenizer_destroy(server->tokenizer);
    prefix_cache_destroy(server->prefix_cache);
    truth_destroy(server->truth);
    text_finish(&server->scratch);
    free(server);
}

static void accept_all(struct server *server)
{
    int fd;

    while ((fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        connection_create(server, fd);
}

static void fire_due(struct server *server)
{
    int64_t now = clock_monotonic_ns();

    if (timers_next_ns(&server->timers) <= now)
        timers_fire_due(&server->timers, now, TIMERS_PER_TURN);
}

/* Stops the loop. Logs the signal's sender unless it is the process that started simserve: that
 * process would otherwise take the end for a crash. */
static void stop(struct server *server)
{
    struct signalfd_siginfo signal = { 0 };

    server->stopping = true;
    if (read(server->signal_fd, &signal, sizeof signal) == sizeof signal
        && (pid_t)signal.ssi_pid != getppid())
        fprintf(stderr, "simserve: ended by signal %u from process %u\n", signal.ssi_signo,
                signal.ssi_pid);
}

static void handle(struct server *server, const struct epoll_event *event)
{
    if (event->data.ptr == &server->listen_fd)
        accept_all(server);
    else if (event->data.ptr == &server->signal_fd)
        stop(server);
    else
        connection_on_events(event->data.ptr, event->events);
}

static void process_ready(struct server *server)
{
    struct connection *last = TAILQ_LAST(&server->ready, connection_list);
    struct connection *connection;

    while ((connection = TAILQ_FIRST(&server->ready))) {
        TAILQ_REMOVE(&server->ready, connection, ready_link);
        connection->is_ready = false;
        connection_process(connection);
        fire_due(server);
        if (connection == last)
            break; /* the next turn handles connections that became ready meanwhile */
    }
}

/* Returns how long to sleep: until the next timer is due, an hour if there is none, or 0 if
 * connections are ready. */
static struct timespec sleep_time(const struct server *server)
{
    int64_t wait = timers_next_ns(&server->timers);

    if (wait == INT64_MAX)
        wait = INT64_C(3600000000000);
    else
        wait -= clock_monotonic_ns();
    if (wait < 0 || !TAILQ_EMPTY(&server->ready))
        wait = 0;
    return (struct timespec){ .tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000 };
}

void server_run(struct server *server)
{
    struct epoll_event events[EVENTS_PER_TURN];

    while (!server->stopping) {
        struct timespec wait = sleep_time(server);
        int count = epoll_pwait2(server->epoll_fd, events, EVENTS_PER_TURN, &wait, NULL);

        fire_due(server);
        for (int i = 0; i < count; i++) {
            handle(server, &events[i]);
            fire_due(server); /* so that due chunks need not wait until all events are handled */
        }
        process_ready(server);
        free_dead(server);
    }
}
