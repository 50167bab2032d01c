/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges over plain HTTP/1.1 without libcurl, whose bookkeeping takes more CPU time than moving
 * the bytes. Here, a wake-up usually costs one recv and one clock reading, and prompts are not
 * copied. */
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/net/outbound_code.h"
#include "bench/load/http_answer.h"
#include "bench/load/transfer.h"

#define CONNECT_TIMEOUT_NS 10000000000
/* More reads from one socket in a turn of the loop would delay the other sockets. */
#define READS_PER_TURN 4

/* OPEN: no request is in progress on the connection. */
enum state { CLOSED, CONNECTING, SENDING, RECEIVING, OPEN };

struct transfer_plain {
    struct transfer transfer;
    struct load_loop_source source;
    const struct load *load;
    const struct target_address *target;
    const struct load_credential *credential; /* the one in the head */
    enum state state;
    int socket;            /* -1: none */
    int64_t connecting_ns; /* when connecting began */
    int64_t read_ns;       /* when the bytes that are being passed to the listener were read */
    size_t sent;           /* bytes of the head and the prompt already sent */
    size_t common_bytes;   /* length of what write_head wrote; 0: it was not called yet */
    unsigned attempts;     /* attempts to connect in this exchange */
    unsigned address;      /* index of the address in use, or of the one to try next */
    struct bench_prompt *prompt;
    struct text head;
    struct http_answer answer;
};

static struct transfer_plain *plain_of(struct transfer *transfer)
{
    return (struct transfer_plain *)transfer; /* its first member */
}

/* ---- The end of an exchange ------------------------------------------------------------------ */

static void close_socket(struct transfer_plain *plain)
{
    if (plain->socket >= 0)
        close(plain->socket); /* which also removes it from the epoll set */
    plain->socket = -1;
    plain->state = CLOSED;
}

static void finish(struct transfer_plain *plain, bool keep)
{
    if (keep) {
        plain->state = OPEN;
        transfer_note_answer(&plain->transfer);
    } else {
        close_socket(plain);
    }
    plain->transfer.connect_deadline_ns = INT64_MAX;
    transfer_queue_ended(&plain->transfer);
}

static void fail(struct transfer_plain *plain, enum failure failure, const char *why)
{
    plain->transfer.failure = failure;
    snprintf(plain->transfer.failure_text, sizeof plain->transfer.failure_text, "%s", why);
    finish(plain, false);
}

/* Whether the server cannot have read the request. A server that closes a connection with unread
 * bytes resets it; a server that closed it before the request arrived does not acknowledge the
 * request. `number` is the errno of the failure; 0: the server closed the connection. */
static bool is_unread(const struct transfer_plain *plain, int number)
{
    int unacknowledged_bytes = 0;

    return number == ECONNRESET || number == EPIPE
           || (ioctl(plain->socket, SIOCOUTQ, &unacknowledged_bytes) == 0
               && unacknowledged_bytes > 0);
}

static void note_stale(struct transfer_plain *plain, int number)
{
    plain->transfer.went_stale = true;
    plain->transfer.was_unread = is_unread(plain, number);
    transfer_note_closed(&plain->transfer);
}

/* Ends the exchange because the connection ended or failed. `number` is an errno; 0: the server
 * closed the connection. */
static void break_off(struct transfer_plain *plain, enum failure failure, int number)
{
    if (!plain->transfer.is_new && !plain->answer.begun)
        note_stale(plain, number);
    if (number != 0)
        fail(plain, failure, strerror(number));
    else if (plain->answer.begun)
        fail(plain, failure, "the server closed the connection before the answer was complete");
    else
        fail(plain, failure, "the server closed the connection without an answer");
}

/* Whether a connection with no request in progress is still open and has received no unexpected
 * bytes. */
static bool is_still_open(const struct transfer_plain *plain)
{
    char byte;

    return recv(plain->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void drop_if_closed(struct transfer_plain *plain)
{
    if (is_still_open(plain))
        return;
    transfer_note_closed(&plain->transfer);
    close_socket(plain);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void on_head(void *context, long status, const char *content_type)
{
    struct transfer *transfer = context;

    transfer->listener->on_head(transfer->context, status, content_type);
}

static bool on_body(void *context, const char *bytes, size_t length)
{
    struct transfer_plain *plain = context;
    const struct transfer *transfer = &plain->transfer;

    return transfer->listener->on_bytes(transfer->context, bytes, length, plain->read_ns);
}

static const struct http_answer_listener listener = { on_head, on_body };

/* Reads `length` bytes of the answer from the loop's buffer. `is_closing`: the end of the
 * connection was reported, or sending failed. When the answer is complete, the connection is not
 * kept if the server closes it or sent bytes after the answer, or if we had not yet sent the whole
 * request. */
static void read_answer(struct transfer_plain *plain, size_t length, bool is_closing)
{
    size_t taken;
    bool was_sent = plain->state == RECEIVING, keep;

    switch (http_answer_feed(&plain->answer, plain->transfer.loop->buffer, length, &taken,
                             &listener, plain)) {
    case HTTP_ANSWER_OPEN:
        return;
    case HTTP_ANSWER_WHOLE:
        keep = plain->answer.keeps_open && taken == length && was_sent;
        finish(plain, keep);
        if (keep && is_closing)
            drop_if_closed(plain);
        return;
    case HTTP_ANSWER_STOPPED:
        fail(plain, FAILURE_PROTOCOL, "");
        return;
    case HTTP_ANSWER_WRONG:
        fail(plain, FAILURE_PROTOCOL, plain->answer.wrong);
        return;
    }
}

/* Handles the end of the connection, which may be the regular end of the answer. */
static void handle_end(struct transfer_plain *plain, int number)
{
    if (number == 0 && http_answer_close(&plain->answer) == HTTP_ANSWER_WHOLE)
        finish(plain, false);
    else
        break_off(plain, FAILURE_RESET, number);
}

static bool is_under_way(const struct transfer_plain *plain)
{
    return plain->state == SENDING || plain->state == RECEIVING;
}

/* Reads everything that is available, because epoll reports it only once. After READS_PER_TURN
 * reads, stops, and asks epoll for another report of what is left. `is_closing`: as in
 * read_answer. */
static void receive(struct transfer_plain *plain, bool is_closing)
{
    for (int i = 0; i < READS_PER_TURN; i++) {
        ssize_t got = recv(plain->socket, plain->transfer.loop->buffer, LOAD_LOOP_BUFFER_BYTES, 0);

        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0) {
            handle_end(plain, got == 0 ? 0 : errno);
            return;
        }
        plain->read_ns = clock_monotonic_ns();
        read_answer(plain, (size_t)got, is_closing);
        if (!is_under_way(plain) || ((size_t)got < LOAD_LOOP_BUFFER_BYTES && !is_closing))
            return;
    }
    load_loop_watch(plain->transfer.loop, plain->socket, &plain->source, true);
}

/* ---- The request ----------------------------------------------------------------------------- */

static struct iovec vector_of(const char *bytes, size_t length)
{
    // NOLINTNEXTLINE(performance-no-int-to-ptr): iov_base is not a pointer to const
    return (struct iovec){ (char *)(uintptr_t)bytes, length };
}

/* Collects the pieces of the head and of the prompt that have not been sent, and returns their
 * number. */
static size_t fill_vector(const struct transfer_plain *plain, struct iovec *vector)
{
    size_t skip = plain->sent, count = 0;

    for (size_t i = 0; i <= PROMPT_PARTS; i++) {
        const struct prompt_part *part = i > 0 ? &plain->prompt->parts[i - 1] : NULL;
        const char *bytes = part != NULL ? part->bytes : plain->head.data;
        size_t length = part != NULL ? part->length : plain->head.length;
        size_t skipped = skip < length ? skip : length;

        skip -= skipped;
        if (skipped < length)
            vector[count++] = vector_of(bytes + skipped, length - skipped);
    }
    return count;
}

/* To be called when sending failed. A server may answer and close the connection before it has read
 * the whole request; its answer then counts. */
static void receive_early_answer(struct transfer_plain *plain, int number)
{
    receive(plain, true);
    if (is_under_way(plain))
        break_off(plain, FAILURE_SEND, number);
}

static void send_more(struct transfer_plain *plain)
{
    struct iovec vector[PROMPT_PARTS + 1];
    struct msghdr message = { .msg_iov = vector };

    while ((message.msg_iovlen = fill_vector(plain, vector)) > 0) {
        ssize_t sent = sendmsg(plain->socket, &message, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0) {
            receive_early_answer(plain, errno);
            return;
        }
        plain->sent += (size_t)sent;
    }
    plain->state = RECEIVING;
}

static void begin_sending(struct transfer_plain *plain)
{
    int64_t now_ns = clock_monotonic_ns();

    plain->state = SENDING;
    plain->transfer.connect_deadline_ns = INT64_MAX;
    if (plain->transfer.is_new)
        plain->transfer.connect_ns = now_ns - plain->connecting_ns;
    plain->transfer.listener->on_send(plain->transfer.context, now_ns);
    send_more(plain);
}

/* ---- The connection -------------------------------------------------------------------------- */

/* Returns 0 if the socket is connected, EINPROGRESS if it is connecting, else another errno. */
static int open_socket(struct transfer_plain *plain)
{
    const struct sockaddr *address = (const void *)&plain->target->addresses[plain->address];
    socklen_t size =
        address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int on = 1, number = 0;

    plain->socket = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (plain->socket < 0)
        return errno;
    setsockopt(plain->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(plain->socket, address, size) != 0)
        number = errno;
    if ((number == 0 || number == EINPROGRESS)
        && !load_loop_watch(plain->transfer.loop, plain->socket, &plain->source, false))
        number = errno;
    return number;
}

/* Tries the remaining addresses one after the other, beginning with plain->address. `number` is the
 * errno of this exchange's previous attempt; 0: there was none. */
static void connect_somewhere(struct transfer_plain *plain, int number)
{
    char why[128];

    while (plain->attempts++ < plain->target->count) {
        number = open_socket(plain);
        if (number == 0) {
            begin_sending(plain);
            return;
        }
        plain->state = CONNECTING;
        if (number == EINPROGRESS)
            return;
        close_socket(plain);
        plain->address = (plain->address + 1) % (unsigned)plain->target->count;
    }
    snprintf(why, sizeof why, "the connection failed: %s", strerror(number));
    fail(plain, outbound_code_connect_failure(number), why);
}

static void handle_connected(struct transfer_plain *plain)
{
    int number = 0;
    socklen_t size = sizeof number;

    getsockopt(plain->socket, SOL_SOCKET, SO_ERROR, &number, &size);
    if (number == 0) {
        begin_sending(plain);
        return;
    }
    close_socket(plain);
    plain->address = (plain->address + 1) % (unsigned)plain->target->count;
    connect_somewhere(plain, number);
}

/* ---- What the loop and the user call --------------------------------------------------------- */

static void on_ready(struct load_loop_source *source, uint32_t events)
{
    struct transfer_plain *plain =
        (struct transfer_plain *)(void *)((char *)source - offsetof(struct transfer_plain, source));

    /* OPEN: this is a late event from the previous exchange, or the server has closed the
     * connection or sent something unexpected. */
    if (plain->state == OPEN)
        drop_if_closed(plain);
    else if (plain->state == CONNECTING)
        handle_connected(plain);
    else if (plain->state == SENDING && (events & EPOLLOUT) != 0)
        send_more(plain);
    if (is_under_way(plain) && (events & ~(uint32_t)EPOLLOUT) != 0)
        receive(plain, (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
}

/* Writes the part of the head that is the same for every request with this credential. */
static void write_head(struct transfer_plain *plain, const struct load_credential *credential)
{
    const struct endpoint *endpoint = plain->load->endpoint;
    const char *authority = endpoint->url + strlen("http://");
    size_t length = strcspn(authority, "/");
    struct text *out = &plain->head;

    text_clear(out);
    /* Reserved all at once, so that no copy of the credential is left in freed memory. */
    text_reserve(out, 2048 + SECRET_VALUE_SIZE);
    text_addf(out, "POST %s%s HTTP/1.1\r\nHost: %.*s\r\n", authority + length,
              workload_path(plain->load->workload->api), (int)length, authority);
    text_add(out, "Content-Type: application/json\r\nAccept: text/event-stream\r\n"
                  "Accept-Encoding: identity\r\n");
    if (credential != NULL && credential->bearer[0] != '\0')
        text_addf(out, "Authorization: Bearer %s\r\n", credential->bearer);
    plain->credential = credential;
    plain->common_bytes = out->length;
}

static void begin(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh)
{
    struct transfer_plain *plain = plain_of(transfer);
    const struct load_credential *credential =
        atomic_load_explicit(&plain->load->credential, memory_order_acquire);

    if (plain->common_bytes == 0 || plain->credential != credential)
        write_head(plain, credential);
    plain->prompt = prompt;
    plain->sent = 0;
    plain->attempts = 0;
    http_answer_begin(&plain->answer);
    plain->head.length = plain->common_bytes;
    text_addf(&plain->head, "X-Request-Id: %s\r\nContent-Length: %zu\r\n\r\n", transfer->request_id,
              prompt->length);
    if (plain->state == OPEN && is_fresh)
        close_socket(plain);
    else if (plain->state == OPEN)
        drop_if_closed(plain);
    if (plain->state == OPEN) {
        begin_sending(plain);
        return;
    }
    transfer->is_new = true;
    plain->connecting_ns = clock_monotonic_ns();
    transfer->connect_deadline_ns = plain->connecting_ns + CONNECT_TIMEOUT_NS;
    connect_somewhere(plain, 0);
}

static void end(struct transfer *transfer)
{
    struct transfer_plain *plain = plain_of(transfer);

    if (plain->state == CONNECTING && clock_monotonic_ns() >= transfer->connect_deadline_ns)
        snprintf(transfer->failure_text, sizeof transfer->failure_text, "no connection within %d s",
                 (int)(CONNECT_TIMEOUT_NS / 1000000000));
    if (plain->state != OPEN)
        close_socket(plain);
}

static void destroy(struct transfer *transfer)
{
    struct transfer_plain *plain = plain_of(transfer);

    close_socket(plain);
    if (plain->head.data != NULL)
        explicit_bzero(plain->head.data, plain->head.capacity);
    text_finish(&plain->head);
    free(plain);
}

bool transfer_plain_can(const struct load *load)
{
    return !load->only_libcurl && load->http2_streams == 0 && load->target != NULL
           && load->target->is_simple && strncasecmp(load->endpoint->url, "http://", 7) == 0;
}

struct transfer *transfer_plain_create(const struct load *load, struct load_loop *loop)
{
    static const struct transfer_kind kind = { begin, end, destroy };
    struct transfer_plain *plain = memory_zeroed(1, sizeof *plain);

    plain->transfer.kind = &kind;
    plain->source.on_ready = on_ready;
    plain->load = load;
    plain->target = load->target;
    plain->transfer.loop = loop;
    plain->socket = -1;
    return &plain->transfer;
}
