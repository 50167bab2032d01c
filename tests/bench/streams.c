/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps idle event streams open, and meanwhile makes calls, one after the other:
 *
 *     bench_streams PORT STREAMS ERA SECONDS
 *
 * ERA is 2025-11-25 (each stream is a GET request in a session of its own) or 2026-07-28
 * (subscriptions/listen). Prints a line of JSON when all streams are open, and at the end another
 * with figures about the streams and the calls.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/stats/histogram.h"

#define EVENTS 512
#define BATCH 32 /* requests sent before the first answer is read; the server's limit is 64 */
#define CALL_PAUSE_NS 2000000
#define MODERN "2026-07-28"
#define LEGACY "2025-11-25"
#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN                             \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

struct stream {
    int fd;
    char session[80]; /* only with LEGACY */
    unsigned keep_alives;
    bool closed;
    char last; /* the last byte that was read */
};

struct bench {
    unsigned short port;
    bool modern;
    size_t count;
    struct stream *streams;
    int epoll_fd;
    atomic_bool over;
    struct histogram *calls; /* in nanoseconds; belongs to the calling thread until it is joined */
    unsigned failed;         /* calls that failed */
};

__attribute__((noreturn)) static void die(const char *what)
{
    fprintf(stderr, "bench_streams: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- A minimal HTTP client ---- */

static int open_connection(const struct bench *bench)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(bench->port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    return fd;
}

static void send_request(int fd, const char *verb, const char *headers, const char *body)
{
    TEXT_AUTO request = { 0 };

    text_addf(&request,
              "%s /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
              "Accept: application/json, text/event-stream\r\n%sContent-Length: %zu\r\n\r\n%s",
              verb, headers, strlen(body), body);
    if (send(fd, request.data, request.length, MSG_NOSIGNAL) != (ssize_t)request.length)
        die("send");
}

/* Reads the head and body of an answer with a Content-Length into `out`; returns false if its
 * status is not 200, if it is too long for `out`, or if the connection ends before the answer does.
 */
static bool read_answer(int fd, char out[4096])
{
    size_t length = 0, whole = SIZE_MAX;

    while (length < whole) {
        ssize_t got = recv(fd, out + length, 4095 - length, 0);
        const char *body, *content_length;

        if (got <= 0)
            return false;
        length += (size_t)got;
        out[length] = '\0';
        body = strstr(out, "\r\n\r\n");
        content_length = strcasestr(out, "Content-Length:");
        if (body != NULL && content_length != NULL)
            whole = (size_t)(body + 4 - out) + strtoul(content_length + 15, NULL, 10);
    }
    return strncmp(out, "HTTP/1.1 200", 12) == 0;
}

/* ---- Opening ---- */

static void ask_session(struct stream *stream)
{
    send_request(stream->fd, "POST", "",
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"" LEGACY "\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}");
}

static void take_session(struct stream *stream)
{
    char answer[4096];
    const char *id;

    if (!read_answer(stream->fd, answer) || (id = strcasestr(answer, "Mcp-Session-Id: ")) == NULL)
        die("initialize");
    snprintf(stream->session, sizeof stream->session, "%.*s", (int)strcspn(id + 16, "\r"), id + 16);
}

static void begin_stream(const struct bench *bench, const struct stream *stream)
{
    char headers[256];

    if (bench->modern) {
        send_request(
            stream->fd, "POST",
            "MCP-Protocol-Version: " MODERN "\r\nMcp-Method: subscriptions/listen\r\n",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{"
            "\"notifications\":{\"resourcesListChanged\":true}," META "}}");
        return;
    }
    snprintf(headers, sizeof headers, "MCP-Protocol-Version: " LEGACY "\r\nMcp-Session-Id: %s\r\n",
             stream->session);
    send_request(stream->fd, "GET", headers, "");
}

/* Checks the answer's status, and discards whatever else of it has arrived. */
static void check_begun(const struct stream *stream)
{
    char head[4096] = "";
    ssize_t got = recv(stream->fd, head, sizeof head - 1, 0);

    if (got < 12 || strncmp(head, "HTTP/1.1 200", 12) != 0)
        die("the stream was refused");
}

static void open_batch(const struct bench *bench, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        bench->streams[i].fd = open_connection(bench);
    for (size_t i = first; i < end && !bench->modern; i++)
        ask_session(&bench->streams[i]);
    for (size_t i = first; i < end && !bench->modern; i++)
        take_session(&bench->streams[i]);
    for (size_t i = first; i < end; i++)
        begin_stream(bench, &bench->streams[i]);
    for (size_t i = first; i < end; i++)
        check_begun(&bench->streams[i]);
}

static void open_streams(struct bench *bench)
{
    for (size_t first = 0; first < bench->count; first += BATCH)
        open_batch(bench, first, first + BATCH < bench->count ? first + BATCH : bench->count);
    for (size_t i = 0; i < bench->count; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &bench->streams[i] };

        if (epoll_ctl(bench->epoll_fd, EPOLL_CTL_ADD, bench->streams[i].fd, &event) != 0)
            die("epoll_ctl");
    }
}

/* ---- Holding ---- */

/* A keep-alive is a comment: a line that begins with a colon. */
static void read_stream(struct stream *stream)
{
    char bytes[4096];
    ssize_t got = recv(stream->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got <= 0) {
        stream->closed = true;
        close(stream->fd);
        return;
    }
    for (ssize_t i = 0; i < got; i++) {
        stream->keep_alives += bytes[i] == ':' && stream->last == '\n';
        stream->last = bytes[i];
    }
}

static void hold(struct bench *bench, int64_t until_ns)
{
    struct epoll_event events[EVENTS];

    while (clock_monotonic_ns() < until_ns) {
        int count = epoll_wait(bench->epoll_fd, events, EVENTS, 100);

        for (int i = 0; i < count; i++)
            read_stream(events[i].data.ptr);
    }
}

/* ---- Calling ---- */

static void call_once(struct bench *bench, int fd)
{
    int64_t start_ns = clock_monotonic_ns();
    char answer[4096];

    send_request(fd, "POST",
                 "MCP-Protocol-Version: " MODERN "\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n",
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"echo\",\"arguments\":{\"text\":\"0123456789abcdef0123456789abcdef\"}," META
                 "}}");
    if (!read_answer(fd, answer) || strstr(answer, "\"isError\":false") == NULL)
        bench->failed++;
    histogram_record(bench->calls, (uint64_t)(clock_monotonic_ns() - start_ns));
}

static void *make_calls(void *context)
{
    static const struct timespec pause = { .tv_nsec = CALL_PAUSE_NS };
    struct bench *bench = context;
    int fd = open_connection(bench);

    while (!atomic_load(&bench->over)) {
        call_once(bench, fd);
        nanosleep(&pause, NULL);
    }
    close(fd);
    return NULL;
}

/* ---- Printing ---- */

static void print_figures(const struct bench *bench)
{
    unsigned least = UINT32_MAX;
    size_t closed = 0;

    for (size_t i = 0; i < bench->count; i++) {
        closed += bench->streams[i].closed;
        if (bench->streams[i].keep_alives < least)
            least = bench->streams[i].keep_alives;
    }
    printf("{\"streams\":%zu,\"closed\":%zu,\"least_keep_alives\":%u,\"calls\":%llu,\"failed\":%u,"
           "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f}\n",
           bench->count, closed, least, (unsigned long long)histogram_count(bench->calls),
           bench->failed, (double)histogram_quantile(bench->calls, 0.5, NULL) / 1e6,
           (double)histogram_quantile(bench->calls, 0.99, NULL) / 1e6,
           (double)histogram_max(bench->calls) / 1e6);
}

int main(int argc, char **argv)
{
    struct bench bench = { 0 };
    struct rlimit limit;
    pthread_t caller;

    if (argc != 5) {
        fprintf(stderr, "usage: bench_streams PORT STREAMS ERA SECONDS\n");
        return 2;
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    bench.port = (unsigned short)strtoul(argv[1], NULL, 10);
    bench.count = strtoul(argv[2], NULL, 10);
    bench.modern = strcmp(argv[3], MODERN) == 0;
    bench.streams = memory_zeroed(bench.count, sizeof *bench.streams);
    bench.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    bench.calls = histogram_create();
    atomic_init(&bench.over, false);
    open_streams(&bench);
    printf("{\"open\":%zu}\n", bench.count);
    fflush(stdout);
    pthread_create(&caller, NULL, make_calls, &bench);
    hold(&bench, clock_monotonic_ns() + (int64_t)strtoul(argv[4], NULL, 10) * 1000000000);
    atomic_store(&bench.over, true);
    pthread_join(caller, NULL);
    print_figures(&bench);
    histogram_destroy(bench.calls);
    free(bench.streams);
    return 0;
}
