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

#define EVENTS_PER_WAIT 256
#define HEAD_SIZE 4096 /* of a request; ours are shorter */
#define BACKLOG 1024

/* What an answer is made of, each an HTTP chunk. */
enum piece { PIECE_HEAD, PIECE_CONTENT, PIECE_USAGE, PIECE_END, PIECE_COUNT };

/* A client: while `left` it is being answered, else its next request is read. */
struct client {
    int fd;
    char head[HEAD_SIZE];
    size_t head_length;
    size_t body_left; /* bytes of the request's body that are still to come */
    bool in_body;
    size_t left;   /* pieces of the answer that are still to be sent, */
    size_t offset; /* and how much of the next one was */
    LIST_ENTRY(client) link;
};

struct responder {
    pthread_t thread;
    bool has_thread;
    atomic_bool stop;
    int listener, epoll, wake;
    struct text pieces[PIECE_COUNT];
    LIST_HEAD(, client) clients;
    size_t answering;
};

/* ---- Answers --------------------------------------------------------------------------------- */

static void add_chunk(struct text *out, const char *data)
{
    text_addf(out, "%zx\r\n%s\r\n", strlen(data), data);
}

/* As long as what vLLM sends. */
static void make_pieces(struct responder *responder)
{
    struct text *pieces = responder->pieces;

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

static const struct text *next_piece(const struct responder *responder, const struct client *client)
{
    switch (client->left) {
    case 1:
        return &responder->pieces[PIECE_END];
    case 2:
        return &responder->pieces[PIECE_USAGE];
    case RESPONDER_TOKENS + 3:
        return &responder->pieces[PIECE_HEAD];
    default:
        return &responder->pieces[PIECE_CONTENT];
    }
}

static void forget(struct responder *responder, struct client *client)
{
    responder->answering -= client->left > 0;
    LIST_REMOVE(client, link);
    close(client->fd);
    free(client);
}

/* One piece, as far as the socket takes it. False: the client is gone. */
static bool send_piece(struct responder *responder, struct client *client)
{
    const struct text *piece = next_piece(responder, client);
    ssize_t sent = send(client->fd, piece->data + client->offset, piece->length - client->offset,
                        MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    client->offset += (size_t)sent;
    if (client->offset < piece->length)
        return true;
    client->offset = 0;
    if (--client->left == 0)
        responder->answering--;
    return true;
}

/* A piece to each: a chunk of its own for every read of the load generator's, as in life. */
static void send_round(struct responder *responder)
{
    struct client *client = LIST_FIRST(&responder->clients);

    while (client != NULL) {
        struct client *next = LIST_NEXT(client, link);

        if (client->left > 0 && !send_piece(responder, client))
            forget(responder, client);
        client = next;
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* The head is whole: how much body follows, of which so many bytes came along. */
static void read_head(struct client *client, size_t behind)
{
    const char *length = strcasestr(client->head, "\r\nContent-Length:");
    size_t body = length == NULL ? 0 : strtoul(length + 17, NULL, 10);

    client->in_body = true;
    client->body_left = body > behind ? body - behind : 0;
}

static void take_bytes(struct client *client, const char *bytes, size_t length)
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

static void answer_when_whole(struct responder *responder, struct client *client)
{
    if (!client->in_body || client->body_left > 0)
        return;
    client->in_body = false;
    client->head_length = 0;
    client->left = RESPONDER_TOKENS + 3;
    responder->answering++;
}

static void read_client(struct responder *responder, struct client *client)
{
    char bytes[16384];
    ssize_t got = recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0 || (!client->in_body && client->head_length == HEAD_SIZE - 1)) {
        forget(responder, client);
        return;
    }
    take_bytes(client, bytes, (size_t)got);
    if (client->left == 0)
        answer_when_whole(responder, client);
}

static void accept_clients(struct responder *responder)
{
    int fd, on = 1;

    while ((fd = accept4(responder->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct client *client = memory_zeroed(1, sizeof *client);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };

        client->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        LIST_INSERT_HEAD(&responder->clients, client, link);
        if (epoll_ctl(responder->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
            forget(responder, client);
    }
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void *run(void *context)
{
    struct responder *responder = context;
    struct epoll_event events[EVENTS_PER_WAIT];

    while (!atomic_load(&responder->stop)) {
        int count = epoll_wait(responder->epoll, events, EVENTS_PER_WAIT,
                               responder->answering > 0 ? 0 : -1);

        for (int i = 0; i < count; i++)
            if (events[i].data.ptr == responder)
                accept_clients(responder);
            else if (events[i].data.ptr != NULL)
                read_client(responder, events[i].data.ptr);
        send_round(responder);
    }
    return NULL;
}

static bool watch(struct responder *responder, int fd, void *tag)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = tag };

    return epoll_ctl(responder->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool listen_on_loopback(struct responder *responder, int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;

    responder->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (responder->listener < 0
        || bind(responder->listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(responder->listener, BACKLOG) != 0
        || getsockname(responder->listener, (struct sockaddr *)&address, &size) != 0)
        return false;
    *port = ntohs(address.sin_port);
    return true;
}

static bool start(struct responder *responder, int *port)
{
    responder->epoll = epoll_create1(EPOLL_CLOEXEC);
    responder->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!listen_on_loopback(responder, port) || responder->epoll < 0 || responder->wake < 0
        || !watch(responder, responder->listener, responder)
        || !watch(responder, responder->wake, NULL))
        return false;
    responder->has_thread = pthread_create(&responder->thread, NULL, run, responder) == 0;
    return responder->has_thread;
}

bool responder_create(struct responder **out, int *port, struct error *error)
{
    struct responder *responder = memory_zeroed(1, sizeof *responder);

    responder->listener = responder->epoll = responder->wake = -1;
    LIST_INIT(&responder->clients);
    make_pieces(responder);
    if (!start(responder, port)) {
        error_set(error, ERROR_BUSY, "the responder cannot start: %s", strerror(errno));
        responder_destroy(responder);
        return false;
    }
    *out = responder;
    return true;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void responder_destroy(struct responder *responder)
{
    const uint64_t one = 1;
    struct client *next;

    if (responder == NULL)
        return;
    atomic_store(&responder->stop, true);
    if (responder->has_thread && write(responder->wake, &one, sizeof one) == sizeof one)
        pthread_join(responder->thread, NULL);
    for (struct client *client = LIST_FIRST(&responder->clients); client != NULL; client = next) {
        next = LIST_NEXT(client, link);
        forget(responder, client);
    }
    close_if_open(responder->listener);
    close_if_open(responder->epoll);
    close_if_open(responder->wake);
    for (int i = 0; i < PIECE_COUNT; i++)
        text_finish(&responder->pieces[i]);
    free(responder);
}
