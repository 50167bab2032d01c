#include "server/http_loop.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/exchange.h"
#include "server/server.h"
#include "server/thread.h"

#define EVENTS 256
#define SECOND_NS INT64_C(1000000000)
#define IDLE_S 75                       /* longer than clients and proxies keep a connection */
#define CONNECTION_MEMORY (16 * 1024UL) /* request headers and buffers of one connection */
#define STOP_TURNS 100

/* ---- Connections ---- */

static void open_connection(struct http_loop *loop, struct MHD_Connection *mhd, void **slot)
{
    struct connection *connection = memory_zeroed(1, sizeof *connection);
    struct epoll_event event = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = connection };

    connection->loop = loop;
    connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->deadline.owner = connection;
    deadline_set(&loop->deadlines[DEADLINE_HEADER], &connection->deadline, clock_monotonic_ns());
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        log_warning("cannot watch a connection for hang-up: %s", strerror(errno));
    *slot = connection;
}

static void close_connection(struct connection *connection)
{
    epoll_ctl(connection->loop->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
    connection->loop->closed_some = true;
    deadline_clear(&connection->deadline);
    free(connection);
}

static void notify_connection(void *context, struct MHD_Connection *mhd, void **slot,
                              enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        open_connection(context, mhd, slot);
    else
        close_connection(*slot);
}

/* A suspended request does not read its socket, so it is told here that the client left. */
static void hang_up(struct connection *connection)
{
    connection->hung_up = true;
    if (connection->exchange != NULL && connection->exchange->suspended)
        exchange_abandon(connection->exchange);
}

/* ---- Notes ---- */

static void wake(struct http_loop *loop)
{
    if (eventfd_write(loop->wake_fd, 1) != 0)
        log_error("cannot wake an HTTP thread: %s", strerror(errno));
}

bool http_loop_post(struct http_loop *loop, struct note *note)
{
    bool fresh, first = false;

    pthread_mutex_lock(&loop->lock);
    fresh = !note->posted;
    if (fresh) {
        first = loop->notes == NULL;
        note->posted = true;
        note->next = NULL;
        *loop->notes_end = note;
        loop->notes_end = &note->next;
    }
    pthread_mutex_unlock(&loop->lock);
    if (first)
        wake(loop);
    return fresh;
}

static struct note *take_note(struct http_loop *loop)
{
    struct note *note;

    pthread_mutex_lock(&loop->lock);
    note = loop->notes;
    if (note != NULL) {
        loop->notes = note->next;
        if (loop->notes == NULL)
            loop->notes_end = &loop->notes;
        note->posted = false;
    }
    pthread_mutex_unlock(&loop->lock);
    return note;
}

static void deliver_notes(struct http_loop *loop)
{
    for (struct note *note = take_note(loop); note != NULL; note = take_note(loop))
        note->deliver(note);
}

/* ---- Time ---- */

/* libmicrohttpd has no call to close a connection; a socket that is shut down it closes itself. */
static void close_late(struct connection *connection, enum deadline_kind kind)
{
    static const char *const what[] = {
        [DEADLINE_BODY] = "its body did not arrive in time",
        [DEADLINE_SEND] = "the client does not read the answer",
    };

    if (kind == DEADLINE_BODY || kind == DEADLINE_SEND)
        log_warning("%s: closing, %s",
                    connection->exchange != NULL ? connection->exchange->id : "-", what[kind]);
    shutdown(connection->fd, SHUT_RDWR);
}

static void expire(struct http_loop *loop)
{
    int64_t now_ns = clock_monotonic_ns();
    struct deadline *deadline;

    for (enum deadline_kind kind = 0; kind < DEADLINE_KINDS; kind++)
        while ((deadline = deadline_expired(&loop->deadlines[kind], now_ns)) != NULL) {
            if (kind == DEADLINE_KEEP_ALIVE)
                exchange_keep_alive(deadline->owner);
            else
                close_late(deadline->owner, kind);
        }
}

/* Milliseconds to sleep at most; -1: for ever. Where a limit of connections or descriptors was
 * reached, libmicrohttpd listens again only when it runs once more after a connection closed. */
static int patience_ms(struct http_loop *loop)
{
    MHD_UNSIGNED_LONG_LONG asked_ms;
    int64_t next_ns = INT64_MAX, now_ns;

    if (loop->closed_some)
        return 0;
    if (MHD_get_timeout(loop->daemon, &asked_ms) == MHD_YES && asked_ms == 0)
        return 0;
    for (enum deadline_kind kind = 0; kind < DEADLINE_KINDS; kind++) {
        int64_t at_ns = deadline_next_ns(&loop->deadlines[kind]);

        next_ns = at_ns < next_ns ? at_ns : next_ns;
    }
    if (next_ns == INT64_MAX)
        return -1;
    now_ns = clock_monotonic_ns();
    return next_ns <= now_ns ? 0 : (int)((next_ns - now_ns) / 1000000 + 1);
}

/* ---- Turning ---- */

static void end_standing_streams(struct http_loop *loop)
{
    for (struct exchange *e = loop->exchanges; e != NULL; e = e->next)
        if (e->standing && e->stream != NULL)
            stream_say_farewell(e->stream);
}

static void stop_listening(struct http_loop *loop)
{
    if (loop->listen_fd < 0)
        return;
    MHD_quiesce_daemon(loop->daemon);
    close(loop->listen_fd);
    loop->listen_fd = -1;
    end_standing_streams(loop);
}

static void turn(struct http_loop *loop, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(loop->epoll_fd, events, EVENTS, timeout_ms);

    for (int i = 0; i < count; i++) {
        eventfd_t ignored;

        if (events[i].data.ptr == &loop->wake_fd)
            eventfd_read(loop->wake_fd, &ignored);
        else if (events[i].data.ptr != loop->daemon)
            hang_up(events[i].data.ptr);
    }
    if (atomic_load(&loop->draining))
        stop_listening(loop);
    deliver_notes(loop);
    expire(loop);
    loop->closed_some = false;
    MHD_run(loop->daemon);
}

/* No connection may be suspended when the daemon stops. */
static void close_all(struct http_loop *loop)
{
    for (int i = 0; i < STOP_TURNS && loop->exchanges != NULL; i++) {
        for (struct exchange *e = loop->exchanges; e != NULL; e = e->next)
            exchange_abandon(e);
        turn(loop, 0);
    }
    stop_listening(loop);
    MHD_stop_daemon(loop->daemon);
}

static void *run_thread(void *context)
{
    struct http_loop *loop = context;

    while (!atomic_load(&loop->stopping))
        turn(loop, patience_ms(loop));
    close_all(loop);
    return NULL;
}

/* ---- Life ---- */

static void init_deadlines(struct http_loop *loop)
{
    const struct settings *settings = loop->server->settings;

    deadline_list_init(&loop->deadlines[DEADLINE_HEADER], settings->header_timeout_s * SECOND_NS);
    deadline_list_init(&loop->deadlines[DEADLINE_IDLE], IDLE_S * SECOND_NS);
    deadline_list_init(&loop->deadlines[DEADLINE_BODY], settings->body_timeout_s * SECOND_NS);
    deadline_list_init(&loop->deadlines[DEADLINE_SEND], settings->send_timeout_s * SECOND_NS);
    deadline_list_init(&loop->deadlines[DEADLINE_KEEP_ALIVE], settings->keep_alive_s * SECOND_NS);
}

static struct MHD_Daemon *start_daemon(struct http_loop *loop)
{
    const struct server *server = loop->server;
    unsigned connections = (unsigned)(server->settings->connections / server->loop_count) + 1;

    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, exchange_serve, loop,
        MHD_OPTION_LISTEN_SOCKET, loop->listen_fd, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
        MHD_OPTION_NOTIFY_CONNECTION, notify_connection, loop, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_completed, loop, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

static bool watch(struct http_loop *loop, int fd, void *tag)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = tag };

    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_descriptors(struct http_loop *loop, struct error *error)
{
    const union MHD_DaemonInfo *info;

    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 || !watch(loop, loop->wake_fd, &loop->wake_fd))
        return error_set(error, ERROR_INTERNAL, "HTTP thread: %s", strerror(errno));
    loop->daemon = start_daemon(loop);
    if (loop->daemon == NULL)
        return error_set(error, ERROR_INTERNAL, "libmicrohttpd does not start: %s",
                         strerror(errno));
    info = MHD_get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!watch(loop, info->epoll_fd, loop->daemon))
        return error_set(error, ERROR_INTERNAL, "HTTP thread: %s", strerror(errno));
    return true;
}

static bool start_thread(struct http_loop *loop, unsigned number, struct error *error)
{
    char name[16];

    snprintf(name, sizeof name, "http-%u", number);
    return thread_start(name, run_thread, loop, &loop->thread, error);
}

bool http_loop_create(struct server *server, unsigned number, int listen_fd, struct http_loop **out,
                      struct error *error)
{
    struct http_loop *loop = memory_zeroed(1, sizeof *loop);

    loop->server = server;
    loop->listen_fd = listen_fd;
    loop->epoll_fd = loop->wake_fd = -1;
    pthread_mutex_init(&loop->lock, NULL);
    loop->notes_end = &loop->notes;
    atomic_init(&loop->draining, false);
    atomic_init(&loop->stopping, false);
    init_deadlines(loop);
    if (!open_descriptors(loop, error) || !start_thread(loop, number, error)) {
        if (loop->daemon != NULL)
            MHD_stop_daemon(loop->daemon);
        loop->listen_fd = -1; /* closed with the daemon */
        http_loop_destroy(loop);
        return false;
    }
    *out = loop;
    return true;
}

void http_loop_drain(struct http_loop *loop)
{
    atomic_store(&loop->draining, true);
    wake(loop);
}

void http_loop_stop(struct http_loop *loop)
{
    atomic_store(&loop->stopping, true);
    wake(loop);
    pthread_join(loop->thread, NULL);
}

void http_loop_destroy(struct http_loop *loop)
{
    if (loop == NULL)
        return;
    deliver_notes(loop);
    if (loop->listen_fd >= 0)
        close(loop->listen_fd);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}
