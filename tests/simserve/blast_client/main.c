/* SPDX-License-Identifier: Apache-2.0 */
/* simblast: reads streams as cheaply as possible, to find out how fast simserve can write. The
 * program keeps STREAMS streams open for SECONDS seconds, counts their events without parsing them,
 * and prints one JSON line. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/text.h"

#define EVENTS_PER_TURN 256
#define END_OF_BODY "\r\n0\r\n\r\n"
#define TAIL_BYTES (sizeof END_OF_BODY - 1)

struct stream {
    int fd;
    bool newline;          /* the last byte was a newline */
    char tail[TAIL_BYTES]; /* the last bytes, to recognize the end of the body */
};

struct run {
    int port;
    int64_t streams, tokens, seconds;
    int epoll_fd;
    struct text request;
    int64_t events, bytes, requests, failures;
};

static bool stream_request(const struct run *run, struct stream *stream)
{
    ssize_t length = (ssize_t)run->request.length;

    memset(stream->tail, 0, sizeof stream->tail);
    return send(stream->fd, run->request.data, run->request.length, MSG_NOSIGNAL) == length;
}

static bool stream_open(struct run *run, struct stream *stream)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)run->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = stream };
    int on = 1;

    stream->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(stream->fd, (struct sockaddr *)&address, sizeof address) < 0)
        return false;
    setsockopt(stream->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return epoll_ctl(run->epoll_fd, EPOLL_CTL_ADD, stream->fd, &event) == 0
           && stream_request(run, stream);
}

/* Counts events: each ends with an empty line, "\n\n". */
static void count_events(struct run *run, struct stream *stream, const char *bytes, size_t length)
{
    const char *end = bytes + length;

    if (stream->newline && bytes[0] == '\n')
        run->events++;
    for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        if (at + 1 < end && at[1] == '\n')
            run->events++;
    stream->newline = end[-1] == '\n';
}

static bool body_ended(struct stream *stream, const char *bytes, size_t length)
{
    if (length >= TAIL_BYTES) {
        memcpy(stream->tail, bytes + length - TAIL_BYTES, TAIL_BYTES);
    } else {
        memmove(stream->tail, stream->tail + length, TAIL_BYTES - length);
        memcpy(stream->tail + TAIL_BYTES - length, bytes, length);
    }
    return memcmp(stream->tail, END_OF_BODY, TAIL_BYTES) == 0;
}

static void stream_read(struct run *run, struct stream *stream)
{
    static char bytes[65536];
    ssize_t length = recv(stream->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (length <= 0) {
        if (length < 0 && errno == EAGAIN)
            return;
        run->failures++;
        epoll_ctl(run->epoll_fd, EPOLL_CTL_DEL, stream->fd, NULL);
        return;
    }
    run->bytes += length;
    count_events(run, stream, bytes, (size_t)length);
    if (!body_ended(stream, bytes, (size_t)length))
        return;
    run->requests++;
    if (!stream_request(run, stream))
        run->failures++;
}

static void compose_request(struct run *run)
{
    TEXT_AUTO body = { 0 };

    text_addf(&body,
              "{\"prompt\":\"one two three\",\"max_tokens\":%lld,\"ignore_eos\":true,"
              "\"stream\":true}",
              (long long)run->tokens);
    text_addf(&run->request,
              "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              "Content-Length: %zu\r\n\r\n%s",
              body.length, body.data);
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
           + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void measure(struct run *run)
{
    struct epoll_event events[EVENTS_PER_TURN];
    int64_t start_ns = clock_monotonic_ns();
    int64_t end_ns = start_ns + run->seconds * 1000000000;
    double cpu = cpu_seconds(), elapsed;

    while (clock_monotonic_ns() < end_ns) {
        int count = epoll_wait(run->epoll_fd, events, EVENTS_PER_TURN, 100);

        for (int i = 0; i < count; i++)
            stream_read(run, events[i].data.ptr);
    }
    elapsed = (double)(clock_monotonic_ns() - start_ns) / 1e9;
    printf("{\"events_per_s\":%.0f,\"mbytes_per_s\":%.1f,\"requests_per_s\":%.1f,"
           "\"reader_core\":%.2f,\"failures\":%lld}\n",
           (double)run->events / elapsed, (double)run->bytes / elapsed / 1e6,
           (double)run->requests / elapsed, (cpu_seconds() - cpu) / elapsed,
           (long long)run->failures);
}

int main(int argc, char **argv)
{
    struct run run = { 0 };
    struct stream *streams;
    struct rlimit limit;
    int64_t port;

    if (argc != 5 || !text_to_integer(argv[1], 1, 65535, &port)
        || !text_to_integer(argv[2], 1, 100000, &run.streams)
        || !text_to_integer(argv[3], 1, 100000000, &run.tokens)
        || !text_to_integer(argv[4], 1, 3600, &run.seconds)) {
        fputs("usage: simblast PORT STREAMS TOKENS_PER_REQUEST SECONDS\n", stderr);
        return 2;
    }
    run.port = (int)port;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    run.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    compose_request(&run);
    streams = memory_zeroed((size_t)run.streams, sizeof *streams);
    for (int64_t i = 0; i < run.streams; i++)
        if (!stream_open(&run, &streams[i])) {
            fprintf(stderr, "simblast: stream %lld: %s\n", (long long)i, strerror(errno));
            return 1;
        }
    measure(&run);
    free(streams);
    text_finish(&run.request);
    return run.failures > 0;
}
