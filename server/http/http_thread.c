/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_thread.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "server/http/acceptor.h"
#include "server/http/exchange.h"
#include "server/http/exchange_private.h"
#include "server/http/http.h"
#include "server/http/http_connection.h"
#include "server/http/http_loop.h"
#include "server/http/http_reader.h"
#include "store/ledger/store.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)
#define KEYS_CHECK_MS INT64_C(3600000) /* longest sleep while a stream's key can expire */
#define IDLE_S 75                      /* most clients and proxies close idle connections sooner */
/* Bytes for the request headers and buffers of one connection; they stay in memory while it is
 * open. */
#define CONNECTION_MEMORY (10 * 1024UL)
#define LEFT_S 1       /* time after which a connection with DEADLINE_LEFT closes */
#define PROBE_S 1      /* time until a client that stopped sending gets a comment */
#define STOP_TURNS 100 /* maximum number of turns to wait for open requests when stopping */

/* ---- Time ---- */

static void check_keys(struct http_loop *loop)
{
    bool changed = atomic_exchange(&loop->keys_changed, false);

    if (!changed && (loop->key_expiry_ms == 0 || clock_utc_ms() < loop->key_expiry_ms))
        return;
    loop->key_expiry_ms = 0;
    for (struct exchange *e = loop->exchanges; e != NULL; e = e->next)
        exchange_check_key(e);
}

static void expire(struct http_loop *loop)
{
    struct timeout *deadline;

    acceptor_resume(loop, loop->now_ns);
    for (int i = 0; i < 2 * DEADLINE_KINDS; i++) {
        enum deadline_kind kind = (enum deadline_kind)(i % DEADLINE_KINDS);
        struct timeout_list *list = &loop->deadlines[i / DEADLINE_KINDS][kind];

        while ((deadline = timeout_expired(list, loop->now_ns)) != NULL) {
            if (kind == DEADLINE_KEEP_ALIVE || kind == DEADLINE_PROBE)
                exchange_keep_alive(deadline->owner);
            else
                http_connection_expire(deadline->owner);
        }
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The maximum time to sleep, in milliseconds; -1: unlimited. */
static int sleep_limit_ms(struct http_loop *loop)
{
    MHD_UNSIGNED_LONG_LONG daemon_ms;
    int64_t resume_ns = loop->acceptor.resume_ns;
    int64_t next_ns = resume_ns != 0 ? resume_ns : INT64_MAX, now_ns;

    if (loop->resumed)
        return 0;
    if (MHD_get_timeout(loop->daemon, &daemon_ms) == MHD_YES && daemon_ms == 0)
        return 0;
    for (int i = 0; i < 2 * DEADLINE_KINDS; i++)
        next_ns = earlier(
            next_ns, timeout_next_ns(&loop->deadlines[i / DEADLINE_KINDS][i % DEADLINE_KINDS]));
    if (loop->key_expiry_ms == 0 && next_ns == INT64_MAX)
        return -1;
    now_ns = clock_monotonic_ns();
    if (loop->key_expiry_ms != 0) {
        int64_t left_ms = earlier(loop->key_expiry_ms - clock_utc_ms(), KEYS_CHECK_MS);

        next_ns = earlier(next_ns, now_ns + left_ms * MS_NS);
    }
    return next_ns <= now_ns ? 0 : (int)((next_ns - now_ns) / MS_NS + 1);
}

/* ---- A turn of the loop ---- */

static void drain(struct http_loop *loop)
{
    if (loop->acceptor.fd < 0)
        return;
    acceptor_close(loop);
    for (struct exchange *e = loop->exchanges; e != NULL; e = e->next)
        exchange_end_long_lived(e);
}

static void handle_event(struct http_loop *loop, const struct epoll_event *event)
{
    void *tag = event->data.ptr;
    eventfd_t ignored;

    if (tag == loop->daemon)
        return;
    if (tag == &loop->wake_fd)
        eventfd_read(loop->wake_fd, &ignored);
    else if (tag == &loop->acceptor)
        loop->acceptor.ready = true;
    else
        http_connection_handle_event(tag, event->events);
}

static void turn(struct http_loop *loop, int timeout_ms)
{
    int count = epoll_wait(loop->epoll_fd, loop->events, HTTP_LOOP_EVENTS, timeout_ms);

    loop->now_ns = clock_monotonic_ns();
    for (int i = 0; i < count; i++)
        handle_event(loop, &loop->events[i]);
    acceptor_run(loop);
    if (atomic_load(&loop->draining))
        drain(loop);
    http_loop_deliver_notes(loop);
    check_keys(loop);
    expire(loop);
    loop->resumed = false;
    MHD_run(loop->daemon);
    log_lines_write(&loop->log);
}

/* Ends all requests first: the daemon must not be stopped while a connection is suspended. */
static void close_all(struct http_loop *loop)
{
    for (int i = 0; i < STOP_TURNS && loop->exchanges != NULL; i++) {
        for (struct exchange *e = loop->exchanges; e != NULL; e = e->next)
            exchange_abandon(e);
        turn(loop, 0);
    }
    drain(loop);
    MHD_stop_daemon(loop->daemon);
}

static void *run_thread(void *context)
{
    struct http_loop *loop = context;

    store_forbid_waiting();
    http_reader_begin(loop);
    while (!atomic_load(&loop->stopping))
        turn(loop, sleep_limit_ms(loop));
    close_all(loop);
    return NULL;
}

/* ---- Creating and freeing ---- */

static void init_deadlines(struct http_loop *loop)
{
    const struct settings *settings = loop->http->settings;
    const int64_t seconds[DEADLINE_KINDS] = {
        [DEADLINE_HEADER] = settings->header_timeout_s,
        [DEADLINE_IDLE] = IDLE_S,
        [DEADLINE_BODY] = settings->body_timeout_s,
        [DEADLINE_SEND] = settings->send_timeout_s,
        [DEADLINE_LEFT] = LEFT_S,
        [DEADLINE_REFUSAL] = 0,
        [DEADLINE_KEEP_ALIVE] = settings->keep_alive_s,
        [DEADLINE_PROBE] = PROBE_S,
    };

    for (int i = 0; i < 2 * DEADLINE_KINDS; i++)
        timeout_list_init(&loop->deadlines[i / DEADLINE_KINDS][i % DEADLINE_KINDS],
                          seconds[i % DEADLINE_KINDS] * SECOND_NS);
}

static struct MHD_Daemon *start_daemon(struct http_loop *loop)
{
    const struct http *http = loop->http;
    unsigned connections = (unsigned)http->settings->connections + http->loop_count;

    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL,
        NULL, exchange_serve, loop, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_URI_LOG_CALLBACK, http_connection_first_line, loop,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
        MHD_OPTION_NOTIFY_CONNECTION, acceptor_notify, loop, MHD_OPTION_NOTIFY_COMPLETED,
        exchange_completed, loop, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

static bool watch(struct http_loop *loop, int fd, void *tag)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = tag };

    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static CHECKED bool open_descriptors(struct http_loop *loop, struct error *error)
{
    const union MHD_DaemonInfo *info;

    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 || !watch(loop, loop->wake_fd, &loop->wake_fd))
        return error_set(error, ERROR_INTERNAL, "cannot start an HTTP thread: %s", strerror(errno));
    loop->daemon = start_daemon(loop);
    if (loop->daemon == NULL)
        return error_set(error, ERROR_INTERNAL, "libmicrohttpd does not start: %s",
                         strerror(errno));
    info = MHD_get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!watch(loop, info->epoll_fd, loop->daemon) || !acceptor_watch(loop))
        return error_set(error, ERROR_INTERNAL, "cannot start an HTTP thread: %s", strerror(errno));
    return true;
}

static CHECKED bool start_thread(struct http_loop *loop, unsigned number, struct error *error)
{
    char name[16];

    snprintf(name, sizeof name, "http-%u", number);
    return thread_start(name, run_thread, loop, &loop->thread, error);
}

bool http_thread_create(struct http *http, unsigned number, int listen_fd, struct http_loop **out,
                        struct error *error)
{
    struct http_loop *loop = memory_zeroed(1, sizeof *loop);

    loop->room_note.deliver = acceptor_make_room;
    loop->http = http;
    loop->acceptor.fd = listen_fd;
    loop->epoll_fd = loop->wake_fd = -1;
    pthread_mutex_init(&loop->lock, NULL);
    loop->notes_end = &loop->notes;
    atomic_init(&loop->draining, false);
    atomic_init(&loop->keys_changed, false);
    atomic_init(&loop->stopping, false);
    init_deadlines(loop);
    if (!open_descriptors(loop, error) || !start_thread(loop, number, error)) {
        if (loop->daemon != NULL)
            MHD_stop_daemon(loop->daemon);
        http_thread_destroy(loop);
        return false;
    }
    *out = loop;
    return true;
}

void http_thread_drain(struct http_loop *loop)
{
    atomic_store(&loop->draining, true);
    http_loop_wake(loop);
}

void http_thread_stop(struct http_loop *loop)
{
    atomic_store(&loop->stopping, true);
    http_loop_wake(loop);
    pthread_join(loop->thread, NULL);
}

void http_thread_destroy(struct http_loop *loop)
{
    if (loop == NULL)
        return;
    http_loop_deliver_notes(loop);
    acceptor_close(loop);
    log_lines_finish(&loop->log);
    free(loop->connections);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}
