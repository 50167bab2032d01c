/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/load_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "bench/load/timer_heap.h"

#define EVENTS_PER_TURN 4096
#define TIMER_PERIOD_NS 5000000
#define SLEPT_NS 10000 /* if a poll took longer, nothing was ready when it began */
/* If there are more events per second than GATHER_EVENTS_PER_S, the loop pauses for GATHER_NS
 * before each poll that is going to wait longer than GATHER_NS. Waking once for several events
 * costs half as much as waking for each, and delays the reading of an event by at most the
 * pause. */
#define GATHER_EVENTS_PER_S 50000
#define GATHER_NS 30000
#define SPARE_CONNECTIONS 8

/* The events of a load_loop_source carry its address. The events of libcurl's descriptors and of
 * the loop's own descriptors carry this key instead, because libcurl can close a descriptor while
 * events for it are waiting, and an address could then be stale. The key is the descriptor, shifted
 * left by one bit, with the lowest bit set. An address never has this bit set. */
static uint64_t key_of(int descriptor)
{
    return (uint64_t)descriptor << 1 | 1;
}

/* ---- libcurl --------------------------------------------------------------------------------- */

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known)
{
    struct load_loop *loop = context;
    struct epoll_event event = { .data.u64 = key_of(socket) };

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
    if (known == NULL)
        curl_multi_assign(loop->multi, socket, loop);
    return epoll_ctl(loop->epoll, known == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
}

/* libcurl's timer fires only once: libcurl sets it again whenever it needs it. */
static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
    struct load_loop *loop = context;

    (void)multi;
    loop->curl_due_ns = timeout_ms < 0 ? TIMER_NEVER : clock_monotonic_ns() + timeout_ms * 1000000;
    return 0;
}

static void run_curl(struct load_loop *loop, curl_socket_t socket, int mask)
{
    int running;

    curl_multi_socket_action(loop->multi, socket, mask, &running);
}

static void run_curl_timer(struct load_loop *loop)
{
    if (loop->curl_due_ns == TIMER_NEVER || loop->curl_due_ns > clock_monotonic_ns())
        return;
    loop->curl_due_ns = TIMER_NEVER;
    run_curl(loop, CURL_SOCKET_TIMEOUT, 0);
}

/* ---- A turn ---------------------------------------------------------------------------------- */

static void handle_timer(struct load_loop *loop)
{
    uint64_t fired = 0;
    int64_t now_ns;

    if (read(loop->timer, &fired, sizeof fired) != sizeof fired)
        return;
    now_ns = clock_monotonic_ns(); /* read after `fired`, so that no firing counted is later */
    loop->gathers =
        loop->recent_events * (1000000000 / TIMER_PERIOD_NS) > GATHER_EVENTS_PER_S * (int64_t)fired;
    loop->recent_events = 0;
    for (; fired > 0; fired--, loop->timer_due_ns += TIMER_PERIOD_NS)
        loop->late(loop->context, now_ns - loop->timer_due_ns);
}

static void handle_event(struct load_loop *loop, const struct epoll_event *event)
{
    int descriptor = (int)(event->data.u64 >> 1), mask = 0;
    struct load_loop_source *source = event->data.ptr;
    uint64_t count;

    if ((event->data.u64 & 1) == 0) {
        source->on_ready(source, event->events);
        return;
    }
    if (descriptor == loop->timer) {
        handle_timer(loop);
        return;
    }
    if (descriptor == loop->wake) {
        while (read(loop->wake, &count, sizeof count) > 0)
            ;
        return;
    }
    if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        mask |= CURL_CSELECT_IN;
    if (event->events & EPOLLOUT)
        mask |= CURL_CSELECT_OUT;
    run_curl(loop, descriptor, mask);
}

/* Waits with nanosecond precision if the kernel supports it (from Linux 5.11 on), else with
 * millisecond precision. */
static int wait_for_events(struct load_loop *loop, int64_t wait_ns)
{
    const struct timespec wait = { wait_ns / 1000000000, wait_ns % 1000000000 };
    int count = epoll_pwait2(loop->epoll, loop->events, EVENTS_PER_TURN, &wait, NULL);

    if (count < 0 && errno == ENOSYS)
        count = epoll_wait(loop->epoll, loop->events, EVENTS_PER_TURN,
                           (int)((wait_ns + 999999) / 1000000));
    return count;
}

static int64_t wait_ns(const struct load_loop *loop, int64_t until_ns, int64_t now_ns)
{
    int64_t next_ns = loop->curl_due_ns < until_ns ? loop->curl_due_ns : until_ns;

    return next_ns <= now_ns || !TAILQ_EMPTY(&loop->ended) ? 0 : next_ns - now_ns;
}

/* Polls, and sets readable_ns. If the poll waited, its events became ready just now. If it did not
 * wait, they may have become ready at any time since the previous poll; or even earlier, if that
 * poll returned as many events as it could. */
static int poll_once(struct load_loop *loop, int64_t until_ns)
{
    static const struct timespec pause = { .tv_nsec = GATHER_NS };
    int64_t before_ns = clock_monotonic_ns(), left_ns = wait_ns(loop, until_ns, before_ns), now_ns;
    int count;

    if (loop->gathers && left_ns > GATHER_NS) {
        nanosleep(&pause, NULL);
        before_ns = clock_monotonic_ns();
        left_ns = wait_ns(loop, until_ns, before_ns);
    }
    count = wait_for_events(loop, left_ns);
    now_ns = clock_monotonic_ns();
    if (now_ns - before_ns > SLEPT_NS)
        loop->readable_ns = now_ns;
    else if (!loop->poll_was_full)
        loop->readable_ns = loop->polled_ns;
    loop->polled_ns = now_ns;
    loop->poll_was_full = count == EVENTS_PER_TURN;
    return count;
}

void load_loop_turn(struct load_loop *loop, int64_t until_ns)
{
    int count;

    run_curl_timer(loop);
    count = poll_once(loop, until_ns);
    for (int i = 0; i < count; i++)
        handle_event(loop, &loop->events[i]);
    loop->recent_events += count > 0 ? count : 0;
    run_curl_timer(loop);
}

void load_loop_wake(struct load_loop *loop)
{
    uint64_t one = 1;

    if (write(loop->wake, &one, sizeof one) < 0)
        return; /* the counter is full: the loop will wake up anyway */
}

/* ---- Setting up ------------------------------------------------------------------------------ */

bool load_loop_watch(struct load_loop *loop, int descriptor, struct load_loop_source *source,
                     bool again)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                 .data.ptr = source };

    return epoll_ctl(loop->epoll, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event) == 0;
}

static bool watch(const struct load_loop *loop, int descriptor)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = key_of(descriptor) };

    return descriptor >= 0 && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

static bool start_timer(struct load_loop *loop)
{
    struct itimerspec every = { .it_interval.tv_nsec = TIMER_PERIOD_NS };

    loop->timer_due_ns = clock_monotonic_ns() + TIMER_PERIOD_NS;
    every.it_value.tv_sec = loop->timer_due_ns / 1000000000;
    every.it_value.tv_nsec = loop->timer_due_ns % 1000000000;
    return timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &every, NULL) == 0;
}

bool load_loop_init(struct load_loop *loop, long connections,
                    void (*late)(void *context, int64_t late_ns), void *context,
                    struct error *error)
{
    *loop = (struct load_loop){ .late = late, .context = context, .curl_due_ns = TIMER_NEVER };
    loop->events = memory_zeroed(EVENTS_PER_TURN, sizeof *loop->events);
    loop->buffer = memory_zeroed(1, LOAD_LOOP_BUFFER_BYTES);
    TAILQ_INIT(&loop->ended);
    loop->polled_ns = clock_monotonic_ns();
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    loop->multi = curl_multi_init();
    if (loop->epoll < 0 || !watch(loop, loop->wake) || !watch(loop, loop->timer)
        || !start_timer(loop) || loop->multi == NULL)
        return error_set(error, ERROR_BUSY, "the load generator cannot open its event loop: %s",
                         strerror(errno));
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, connections + SPARE_CONNECTIONS);
    curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    return true;
}

void load_loop_share_connections(struct load_loop *loop, int64_t streams)
{
    curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(loop->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)streams);
}

static void close_descriptor(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

void load_loop_finish(struct load_loop *loop)
{
    if (loop->multi != NULL)
        curl_multi_cleanup(loop->multi);
    free(loop->events);
    free(loop->buffer);
    close_descriptor(loop->epoll);
    close_descriptor(loop->wake);
    close_descriptor(loop->timer);
}
