/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges through libcurl: those over TLS or HTTP/2, and all others that transfer_plain.c cannot
 * send. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/net/outbound_address.h"
#include "base/net/outbound_code.h"
#include "bench/load/transfer.h"

#define CONNECT_TIMEOUT_MS 10000
#define UPLOAD_BUFFER_BYTES 16384L /* the minimum, because each handle has its own buffer */

#define REQUEST_ID_HEADER "X-Request-Id: "

_Static_assert(TRANSFER_FAILURE_TEXT_SIZE >= CURL_ERROR_SIZE, "libcurl writes into failure_text");

struct transfer_curl {
    struct transfer transfer;
    CURL *easy;
    const struct load *load;
    const struct load_credential *credential; /* the one in the headers */
    struct curl_slist *headers;
    char *request_id; /* points into the headers, where each request overwrites it */
    struct bench_prompt *prompt;
    bool wants_http2, reported_head, is_fresh;
    CURLcode code; /* libcurl's result */
};

static struct transfer_curl *curl_of(struct transfer *transfer)
{
    return (struct transfer_curl *)transfer; /* its first member */
}

/* ---- What libcurl calls ---------------------------------------------------------------------- */

static size_t on_read(char *out, size_t size, size_t count, void *context)
{
    struct transfer_curl *curl = context;

    return prompt_source_read(curl->prompt, out, size * count);
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
    struct transfer_curl *curl = context;

    if (offset != 0 || origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    prompt_source_rewind(curl->prompt);
    return CURL_SEEKFUNC_OK;
}

// NOLINTNEXTLINE(readability-non-const-parameter): the signature is libcurl's
static int on_ready(void *context, char *remote_address, char *local_address, int remote_port,
                    int local_port)
{
    struct transfer *transfer = context;

    (void)remote_address, (void)local_address, (void)remote_port, (void)local_port;
    transfer->listener->on_send(transfer->context, clock_monotonic_ns());
    return CURL_PREREQFUNC_OK;
}

static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    const struct server_list *servers = context;

    (void)purpose;
    if (outbound_address_is_refused(&address->addr)
        || (servers != NULL && !server_list_has_address(servers, &address->addr)))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void report_head(struct transfer_curl *curl)
{
    long status = 0;
    char *type = NULL;

    curl_easy_getinfo(curl->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl->easy, CURLINFO_CONTENT_TYPE, &type);
    curl->reported_head = status != 0;
    if (status != 0)
        curl->transfer.listener->on_head(curl->transfer.context, status, type != NULL ? type : "");
}

/* Whether the server answers with HTTP/1 although the plan requires HTTP/2: that would be a
 * different test. */
static bool is_wrong_version(const struct transfer_curl *curl)
{
    long version = 0;

    curl_easy_getinfo(curl->easy, CURLINFO_HTTP_VERSION, &version);
    return curl->wants_http2 && version != CURL_HTTP_VERSION_2_0;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer_curl *curl = context;
    struct transfer *transfer = context;
    int64_t now_ns = clock_monotonic_ns();

    size *= count;
    if (is_wrong_version(curl))
        return 0;
    if (!curl->reported_head)
        report_head(curl);
    return transfer->listener->on_bytes(transfer->context, bytes, size, now_ns) ? size : 0;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static void add_header(struct transfer_curl *curl, const char *line)
{
    curl->headers = curl_slist_append(curl->headers, line);
}

static void wipe_headers(struct curl_slist *headers)
{
    for (; headers != NULL; headers = headers->next)
        if (headers->data != NULL)
            explicit_bzero(headers->data, strlen(headers->data));
}

static void drop_headers(struct transfer_curl *curl)
{
    wipe_headers(curl->headers);
    curl_slist_free_all(curl->headers);
    curl->headers = NULL;
    curl->request_id = NULL;
}

static void make_headers(struct transfer_curl *curl, const struct load_credential *credential)
{
    struct curl_slist *last;
    char line[sizeof "Authorization: Bearer " + SECRET_VALUE_SIZE];

    drop_headers(curl);
    add_header(curl, "Content-Type: application/json");
    add_header(curl, "Accept: text/event-stream");
    add_header(curl, "Expect:");
    if (credential != NULL && credential->bearer[0] != '\0') {
        snprintf(line, sizeof line, "Authorization: Bearer %s", credential->bearer);
        add_header(curl, line);
        explicit_bzero(line, sizeof line);
    }
    snprintf(line, sizeof line, REQUEST_ID_HEADER "%0*d", REQUEST_ID_LENGTH, 0);
    add_header(curl, line);
    for (last = curl->headers; last != NULL && last->next != NULL; last = last->next)
        ;
    if (last != NULL)
        curl->request_id = last->data + strlen(REQUEST_ID_HEADER);
    curl->credential = credential;
    curl_easy_setopt(curl->easy, CURLOPT_HTTPHEADER, curl->headers);
}

/* HTTP/2 is used only over TLS, where it is negotiated: libcurl 7.88 cannot use a plain HTTP/2
 * connection for a second request. */
static long http_version(const struct load *load)
{
    return load->http2_streams > 0 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
}

static void set_options(struct transfer_curl *curl, const struct load *load)
{
    CURL *easy = curl->easy;
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s%s", load->endpoint->url, workload_path(load->workload->api));
    curl_easy_setopt(easy, CURLOPT_URL, url.data);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* If the server compresses its answer anyway, libcurl decodes it. */
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "identity");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, http_version(load));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, (long)(load->http2_streams > 0));
    outbound_code_trust(easy, endpoint_tls(load->endpoint));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, load->target->pinned);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER_BYTES);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, curl->transfer.failure_text);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, curl);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, curl);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, curl);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_ready);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, curl);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, load->endpoint->servers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, curl);
}

static void destroy(struct transfer *transfer)
{
    struct transfer_curl *curl = curl_of(transfer);

    if (curl->easy != NULL)
        curl_easy_cleanup(curl->easy);
    drop_headers(curl);
    free(curl);
}

/* ---- One exchange ---------------------------------------------------------------------------- */

static void begin(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh)
{
    struct transfer_curl *curl = curl_of(transfer);
    const struct load_credential *credential =
        atomic_load_explicit(&curl->load->credential, memory_order_acquire);

    if (curl->credential != credential)
        make_headers(curl, credential);
    curl->prompt = prompt;
    curl->reported_head = false;
    curl->is_fresh = is_fresh;
    curl->code = CURLE_OK;
    if (curl->request_id != NULL) /* NULL: there was no memory for the headers */
        memcpy(curl->request_id, transfer->request_id, REQUEST_ID_LENGTH);
    curl_easy_setopt(curl->easy, CURLOPT_FRESH_CONNECT, (long)is_fresh);
    curl_easy_setopt(curl->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)prompt->length);
    curl_multi_add_handle(transfer->loop->multi, curl->easy);
}

static bool is_broken(CURLcode code)
{
    return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING;
}

/* libcurl reports when the name was resolved, the connection was open, and TLS was ready, in
 * microseconds since the exchange began. */
static void read_times(struct transfer_curl *curl)
{
    curl_off_t resolved_us = 0, connected_us = 0, secured_us = 0;

    curl_easy_getinfo(curl->easy, CURLINFO_NAMELOOKUP_TIME_T, &resolved_us);
    curl_easy_getinfo(curl->easy, CURLINFO_CONNECT_TIME_T, &connected_us);
    curl_easy_getinfo(curl->easy, CURLINFO_APPCONNECT_TIME_T, &secured_us);
    if (connected_us > resolved_us)
        curl->transfer.connect_ns = (connected_us - resolved_us) * 1000;
    if (connected_us > 0 && secured_us > connected_us)
        curl->transfer.tls_ns = (secured_us - connected_us) * 1000;
}

/* libcurl sends a user's next exchange on any open connection, so all that we can learn is whether
 * any connection ever carried a second answer. */
static void note_reuse(struct transfer_curl *curl)
{
    struct transfer *transfer = &curl->transfer;
    bool was_closed = transfer->is_new && !curl->is_fresh && transfer->answers > 0;

    if ((transfer->went_stale || was_closed) && atomic_load(&transfer->reuse->most) < 2)
        transfer_note_closed(transfer);
    transfer->answers = transfer->is_new ? 0 : 1;
    if (curl->code == CURLE_OK)
        transfer_note_answer(transfer);
}

static bool was_reset(const struct transfer_curl *curl)
{
    long number = 0;

    curl_easy_getinfo(curl->easy, CURLINFO_OS_ERRNO, &number);
    return curl->code == CURLE_SEND_ERROR || number == ECONNRESET;
}

static void end(struct transfer *transfer)
{
    struct transfer_curl *curl = curl_of(transfer);
    long connections = 0, received = 0;

    curl_multi_remove_handle(transfer->loop->multi, curl->easy);
    curl_easy_getinfo(curl->easy, CURLINFO_NUM_CONNECTS, &connections);
    curl_easy_getinfo(curl->easy, CURLINFO_HEADER_SIZE, &received);
    transfer->is_new = connections > 0;
    if (transfer->is_new)
        read_times(curl);
    transfer->went_stale = is_broken(curl->code) && !transfer->is_new && received == 0;
    transfer->was_unread = transfer->went_stale && was_reset(curl);
    note_reuse(curl);
    /* `false`: if a timeout occurred, it was while connecting. libcurl limits only that; our own
     * timers limit the rest. */
    transfer->failure = outbound_code_failure(curl->easy, curl->code, false);
    if (curl->code == CURLE_WRITE_ERROR && is_wrong_version(curl))
        snprintf(transfer->failure_text, sizeof transfer->failure_text,
                 "the server answers with HTTP/1, but the plan requires HTTP/2");
    if (curl->code != CURLE_OK && transfer->failure_text[0] == '\0')
        snprintf(transfer->failure_text, sizeof transfer->failure_text, "%s",
                 curl_easy_strerror(curl->code));
    if (!curl->reported_head)
        report_head(curl);
}

struct transfer *transfer_curl_take_ended(struct load_loop *loop)
{
    struct transfer_curl *curl = NULL;
    CURLMsg *message;
    int left;

    do
        message = curl_multi_info_read(loop->multi, &left);
    while (message != NULL && message->msg != CURLMSG_DONE);
    if (message == NULL)
        return NULL;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&curl);
    curl->code = message->data.result;
    return &curl->transfer;
}

static const struct transfer_kind kind = { begin, end, destroy };

bool transfer_curl_create(const struct load *load, struct load_loop *loop, struct transfer **out,
                          struct error *error)
{
    struct transfer_curl *curl = memory_zeroed(1, sizeof *curl);

    curl->transfer.kind = &kind;
    curl->transfer.loop = loop;
    curl->load = load;
    curl->easy = curl_easy_init();
    if (curl->easy != NULL)
        make_headers(curl, atomic_load(&load->credential));
    if (curl->easy == NULL || curl->request_id == NULL) {
        destroy(&curl->transfer);
        return error_set(error, ERROR_INTERNAL, "libcurl has no memory for another connection");
    }
    curl->wants_http2 = load->http2_streams > 0;
    set_options(curl, load);
    *out = &curl->transfer;
    return true;
}
