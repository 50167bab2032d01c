/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/loopback_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/core/thread.h"

#define EVENTS_PER_WAIT 256
#define HEAD_SIZE 4096 /* bytes for a request's head and a NUL; load threads send less */
#define BACKLOG 1024

/* The parts of an answer: the HTTP head, then chunks of the body. */
enum piece { PIECE_HEAD, PIECE_CONTENT, PIECE_USAGE, PIECE_END, PIECES };

/* A client. While `left` is not 0, it is being answered; otherwise its next request is awaited. */
struct client {
    int fd;
    char head[HEAD_SIZE];
    size_t head_length;
    size_t body_left; /* bytes of the request's body that have not arrived */
    bool in_body;     /* the request's head is complete */
    size_t left;      /* pieces of the answer still to send */
    size_t offset;    /* bytes of the next piece already sent */
    LIST_ENTRY(client) link;
};

struct loopback_server {
    pthread_t thread;
    bool has_thread;
    atomic_bool stop;
    int listener, epoll, wake;
    struct text pieces[PIECES];
    LIST_HEAD(, client) clients;
    size_t busy_clients; /* how many are being answered */
};

/* ---- Answers --------------------------------------------------------------------------------- */

static void add_chunk(struct text *out, const char *data)
{
    text_addf(out, "%zx\r\n%s\r\n", strlen(data), data);
}

/* The content chunks are as long as vLLM's. */
static void make_pieces(struct loopback_server *loopback)
{
    struct text *pieces = loopback->pieces;

    text_add(&pieces[PIECE_HEAD], "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n");
    add_chunk(&pieces[PIECE_CONTENT],
              "data: {\"id\":\"cmpl-00000000000000000000000000000000\",\"object\":"
              "\"text_completion\",\"created\":1767225600,\"model\":\"calibration\",\"choices\":"
              "[{\"index\":0,\"text\":\" word\",\"logprobs\":null,\"finish_reason\":null,"
              "\"stop_reason\":null,\"token_ids\":null}],\"usage\":null}\n\n");
    add_chunk(&pieces[PIECE_USAGE],
              "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":128,"
              "\"total_tokens\":144}}\n\n");
    add_chunk(&pieces[PIECE_END], "data: [DONE]\n\n");
    text_add(&pieces[PIECE_END], "0\r\n\r\n");
}

static const struct text *next_piece(const struct loopback_server *loopback,
                                     const struct client *client)
{
    switch (client->left) {
    case 1:
        return &loopback->pieces[PIECE_END];
    case 2:
        return &loopback->pieces[PIECE_USAGE];
    case LOOPBACK_SERVER_TOKENS + 3:
        return &loopback->pieces[PIECE_HEAD];
    default:
        return &loopback->pieces[PIECE_CONTENT];
    }
}

static void drop_client(struct loopback_server *loopback, struct client *client)
{
    loopback->busy_clients -= client->left > 0;
    LIST_REMOVE(client, link);
    close(client->fd);
    free(client);
}

/* Sends as much of the next piece as the socket accepts. Returns false if the client is gone. */
static bool send_piece(struct loopback_server *loopback, struct client *client)
{
    const struct text *piece = next_piece(loopback, client);
    ssize_t sent = send(client->fd, piece->data + client->offset, piece->length - client->offset,
                        MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    client->offset += (size_t)sent;
    if (client->offset < piece->length)
        return true;
    client->offset = 0;
    if (--client->left == 0)
        loopback->busy_clients--;
    return true;
}

/* Sends one piece to each client that is being answered, so that each read by the load generator
 * usually returns a single chunk, as it does with a real model server. */
static void send_round(struct loopback_server *loopback)
{
    struct client *client = LIST_FIRST(&loopback->clients);

    while (client != NULL) {
        struct client *next = LIST_NEXT(client, link);

        if (client->left > 0 && !send_piece(loopback, client))
            drop_client(loopback, client);
        client = next;
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Called when the head is complete: determines how much of the body is still missing. `arrived` is
 * how many bytes of the body came together with the head. */
static void read_head(struct client *client, size_t arrived)
{
    const char *length = strcasestr(client->head, "\r\nContent-Length:");
    size_t body = length == NULL ? 0 : strtoul(length + 17, NULL, 10);

    client->in_body = true;
    client->body_left = body > arrived ? body - arrived : 0;
}

static void read_request(struct client *client, const char *bytes, size_t length)
{
    size_t room = HEAD_SIZE - 1 - client->head_length, kept = length < room ? length : room;
    size_t total = client->head_length + length;
    const char *end;

    if (client->in_body) {
        client->body_left -= length < client->body_left ? length : client->body_left;
        return;
    }
    memcpy(client->head + client->head_length, bytes, kept);
    client->head_length += kept;
    client->head[client->head_length] = '\0';
    end = strstr(client->head, "\r\n\r\n");
    if (end != NULL)
        read_head(client, total - (size_t)(end + 4 - client->head));
}

static void answer_if_complete(struct loopback_server *loopback, struct client *client)
{
    if (!client->in_body || client->body_left > 0)
        return;
    client->in_body = false;
    client->head_length = 0;
    client->left = LOOPBACK_SERVER_TOKENS + 3;
    loopback->busy_clients++;
}

static void read_client(struct loopback_server *loopback, struct client *client)
{
    char bytes[16384];
    ssize_t got = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0 || (!client->in_body && client->head_length == HEAD_SIZE - 1)) {
        drop_client(loopback, client);
        return;
    }
    read_request(client, bytes, (size_t)got);
    if (client->left == 0)
        answer_if_complete(loopback, client);
}

static void accept_clients(struct loopback_server *loopback)
{
    int fd, on = 1;

    while ((fd = accept4(loopback->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct client *client = memory_zeroed(1, sizeof *client);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };

        client->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        LIST_INSERT_HEAD(&loopback->clients, client, link);
        if (epoll_ctl(loopback->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
            drop_client(loopback, client);
    }
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void *run(void *context)
{
    struct loopback_server *loopback = context;
    struct epoll_event events[EVENTS_PER_WAIT];

    while (!atomic_load(&loopback->stop)) {
        int count = epoll_wait(loopback->epoll, events, EVENTS_PER_WAIT,
                               loopback->busy_clients > 0 ? 0 : -1);

        for (int i = 0; i < count; i++)
            if (events[i].data.ptr == loopback)
                accept_clients(loopback);
            else if (events[i].data.ptr != NULL)
                read_client(loopback, events[i].data.ptr);
        send_round(loopback);
    }
    return NULL;
}

static bool watch(struct loopback_server *loopback, int fd, void *tag)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = tag };

    return epoll_ctl(loopback->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool listen_on_loopback(struct loopback_server *loopback, int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;

    loopback->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (loopback->listener < 0
        || bind(loopback->listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(loopback->listener, BACKLOG) != 0
        || getsockname(loopback->listener, (struct sockaddr *)&address, &size) != 0)
        return false;
    *port = ntohs(address.sin_port);
    return true;
}

static CHECKED bool start(struct loopback_server *loopback, int *port, struct error *error)
{
    loopback->epoll = epoll_create1(EPOLL_CLOEXEC);
    loopback->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!listen_on_loopback(loopback, port) || loopback->epoll < 0 || loopback->wake < 0
        || !watch(loopback, loopback->listener, loopback) || !watch(loopback, loopback->wake, NULL))
        return error_set(error, ERROR_BUSY, "the loopback server cannot start: %s",
                         strerror(errno));
    loopback->has_thread = thread_start("responder", run, loopback, &loopback->thread, error);
    return loopback->has_thread;
}

bool loopback_server_create(struct loopback_server **out, int *port, struct error *error)
{
    struct loopback_server *loopback = memory_zeroed(1, sizeof *loopback);

    loopback->listener = loopback->epoll = loopback->wake = -1;
    LIST_INIT(&loopback->clients);
    make_pieces(loopback);
    if (!start(loopback, port, error)) {
        loopback_server_destroy(loopback);
        return false;
    }
    *out = loopback;
    return true;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void loopback_server_destroy(struct loopback_server *loopback)
{
    const uint64_t one = 1;
    struct client *next;

    if (loopback == NULL)
        return;
    atomic_store(&loopback->stop, true);
    if (loopback->has_thread && write(loopback->wake, &one, sizeof one) == sizeof one)
        pthread_join(loopback->thread, NULL);
    for (struct client *client = LIST_FIRST(&loopback->clients); client != NULL; client = next) {
        next = LIST_NEXT(client, link);
        drop_client(loopback, client);
    }
    close_if_open(loopback->listener);
    close_if_open(loopback->epoll);
    close_if_open(loopback->wake);
    for (int i = 0; i < PIECES; i++)
        text_finish(&loopback->pieces[i]);
    free(loopback);
}
