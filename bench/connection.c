#include "bench/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/outbound.h"
#include "bench/request_id.h"
#include "bench/verdict.h"

#define CONNECT_TIMEOUT_MS 10000
#define UPLOAD_BUFFER_BYTES 16384L /* the least there is: each handle has its own */

#define REQUEST_ID_HEADER "X-Request-Id: "

/* ---- What libcurl calls ---------------------------------------------------------------------- */

static size_t on_send(char *out, size_t size, size_t count, void *context)
{
    struct connection *connection = context;

    return prompt_read(&connection->prompt, out, size * count);
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
    struct connection *connection = context;

    if (offset != 0 || origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    prompt_rewind(&connection->prompt);
    return CURL_SEEKFUNC_OK;
}

/* The connection is up and the request goes out now. A second time in one request: libcurl found
 * that the connection it took had been closed, and took another. */
// NOLINTNEXTLINE(readability-non-const-parameter): the signature is libcurl's
static int on_ready(void *context, char *remote_address, char *local_address, int remote_port,
                    int local_port)
{
    struct connection *connection = context;
    struct request *request = &connection->request;
    bool was_sent = request->sent_ns != 0;

    (void)remote_address, (void)local_address, (void)remote_port, (void)local_port;
    request->sent_ns = clock_monotonic_ns();
    request->sends++;
    if (!was_sent)
        tally_sent(connection->tally, request->sent_ns);
    return CURL_PREREQFUNC_OK;
}

static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)context, (void)purpose;
    if (address_is_refused(&address->addr))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void on_event(void *context, const struct completion_event *event)
{
    struct connection *connection = context;
    struct request *request = &connection->request;

    if (event->error && request->failure == FAILURE_NONE) {
        request->failure = FAILURE_STREAM_ERROR;
        request->said_length = 0;
        snprintf(request->said, sizeof request->said, "%.*s", (int)event->text_length, event->text);
    }
    if (event->has_content || event->has_reasoning)
        tally_chunk(connection->tally, request, request->bytes_ns);
    if (event->has_usage && event->completion_tokens >= 0)
        request->completion_tokens = event->completion_tokens;
    if (event->has_usage && event->prompt_tokens >= 0)
        request->prompt_tokens = event->prompt_tokens;
    if (event->has_usage && event->cached_tokens >= 0)
        request->cached_tokens = event->cached_tokens;
    request->done |= event->done;
    request->finished |= event->has_finish;
    request->stopped_early |= event->has_finish && strcmp(event->finish, "stop") == 0;
}

static void read_head(struct connection *connection)
{
    struct request *request = &connection->request;
    char *type = NULL;

    curl_easy_getinfo(connection->easy, CURLINFO_RESPONSE_CODE, &request->status);
    curl_easy_getinfo(connection->easy, CURLINFO_CONTENT_TYPE, &type);
    request->is_stream = request->status / 100 == 2 && type != NULL
                         && strncasecmp(type, "text/event-stream", 17) == 0;
}

/* An answer without a body shows nothing but its status. */
static void read_bare_answer(struct connection *connection)
{
    struct request *request = &connection->request;

    read_head(connection);
    if (request->status != 0 && request->status / 100 != 2)
        snprintf(request->said, sizeof request->said, "status %ld with an empty answer",
                 request->status);
}

/* The start of an answer that is not a stream: why it is not. */
static void keep(struct request *request, const char *bytes, size_t length)
{
    size_t room = sizeof request->said - 1 - request->said_length;
    size_t count = length < room ? length : room;

    memcpy(request->said + request->said_length, bytes, count);
    request->said_length += count;
    request->said[request->said_length] = '\0';
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct connection *connection = context;
    struct request *request = &connection->request;
    int64_t now_ns = clock_monotonic_ns();

    size *= count;
    if (load_in_window(connection->load, now_ns))
        histogram_record(connection->tally->lag,
                         (uint64_t)(now_ns - connection->loop->readable_ns));
    if (request->bytes_ns == 0)
        read_head(connection);
    request->bytes_ns = now_ns;
    if (!request->is_stream) {
        keep(request, bytes, size);
        return size;
    }
    if (completion_stream_feed(connection->stream, bytes, size, on_event, connection))
        return size;
    connection->gave_up = true;
    return 0;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static void add_header(struct connection *connection, const char *line)
{
    connection->headers = curl_slist_append(connection->headers, line);
}

static void make_headers(struct connection *connection)
{
    const struct endpoint *endpoint = connection->load->endpoint;
    struct curl_slist *last;
    char line[sizeof "Authorization: Bearer " + SECRET_VALUE_SIZE];

    add_header(connection, "Content-Type: application/json");
    add_header(connection, "Accept: text/event-stream");
    add_header(connection, "Expect:");
    if (endpoint->bearer[0] != '\0') {
        snprintf(line, sizeof line, "Authorization: Bearer %s", endpoint->bearer);
        add_header(connection, line);
        explicit_bzero(line, sizeof line);
    }
    snprintf(line, sizeof line, REQUEST_ID_HEADER "%0*d", REQUEST_ID_DIGITS, 0);
    add_header(connection, line);
    for (last = connection->headers; last != NULL && last->next != NULL; last = last->next)
        ;
    if (last != NULL)
        connection->request_id = last->data + strlen(REQUEST_ID_HEADER);
}

static void set_options(struct connection *connection)
{
    const struct load *load = connection->load;
    CURL *easy = connection->easy;
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s%s", load->endpoint->url, workload_path(load->workload->api));
    curl_easy_setopt(easy, CURLOPT_URL, url.data);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, load->addresses);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER_BYTES);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, connection->headers);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, connection->curl_said);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, connection);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_send);
    curl_easy_setopt(easy, CURLOPT_READDATA, connection);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, connection);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_ready);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, connection);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, connection);
}

bool connection_init(struct connection *connection, const struct load *load, struct tally *tally,
                     const struct loop *loop, struct error *error)
{
    *connection = (struct connection){ .load = load, .tally = tally, .loop = loop };
    connection->easy = curl_easy_init();
    make_headers(connection);
    if (connection->easy == NULL || connection->request_id == NULL) {
        connection_finish(connection);
        return error_set(error, ERROR_INTERNAL, "libcurl has no memory for another connection");
    }
    connection->stream = completion_stream_create(false);
    set_options(connection);
    return true;
}

static void wipe_headers(struct curl_slist *headers)
{
    for (; headers != NULL; headers = headers->next)
        if (headers->data != NULL)
            explicit_bzero(headers->data, strlen(headers->data));
}

void connection_finish(struct connection *connection)
{
    if (connection->easy != NULL)
        curl_easy_cleanup(connection->easy);
    wipe_headers(connection->headers);
    curl_slist_free_all(connection->headers);
    completion_stream_destroy(connection->stream);
    *connection = (struct connection){ 0 };
}

/* ---- One request ----------------------------------------------------------------------------- */

static void begin(struct connection *connection)
{
    connection->gave_up = false;
    connection->curl_said[0] = '\0';
    completion_stream_reset(connection->stream);
    prompt_rewind(&connection->prompt);
    curl_easy_setopt(connection->easy, CURLOPT_FRESH_CONNECT, connection->request.sends > 0);
    curl_easy_setopt(connection->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)connection->prompt.length);
}

void connection_prepare(struct connection *connection, uint64_t index, bool is_probe,
                        int64_t due_ns)
{
    uint64_t nonce = connection->load->nonce;

    connection->request = (struct request){ .index = index,
                                            .is_probe = is_probe,
                                            .due_ns = due_ns,
                                            .prompt_tokens = -1,
                                            .completion_tokens = -1,
                                            .cached_tokens = -1 };
    request_id_write(nonce, index, connection->request_id);
    prompt_make(connection->load->prompts, nonce, index, &connection->prompt);
    begin(connection);
}

bool connection_retry(struct connection *connection, CURLcode code)
{
    struct request *request = &connection->request;
    long new_connections = 0;

    curl_easy_getinfo(connection->easy, CURLINFO_NUM_CONNECTS, &new_connections);
    if ((code != CURLE_SEND_ERROR && code != CURLE_RECV_ERROR && code != CURLE_GOT_NOTHING)
        || new_connections > 0 || request->bytes_ns != 0 || request->sends != 1)
        return false;
    begin(connection);
    return true;
}

int64_t connection_deadline_ns(const struct connection *connection, enum failure *which)
{
    const struct load *load = connection->load;
    const struct request *request = &connection->request;
    int64_t next_ns, total_ns = request->sent_ns + load->request_timeout_ns;

    *which = FAILURE_TTFT_TIMEOUT;
    if (request->sent_ns == 0) /* libcurl limits connecting */
        return DEADLINE_NEVER;
    next_ns = request->sent_ns + load->ttft_timeout_ns;
    if (request->first_ns != 0) {
        *which = FAILURE_IDLE_TIMEOUT;
        next_ns = request->bytes_ns + load->idle_timeout_ns;
    }
    if (total_ns < next_ns)
        *which = FAILURE_TOTAL_TIMEOUT;
    return total_ns < next_ns ? total_ns : next_ns;
}

void connection_end(struct connection *connection, CURLcode code, enum failure cut)
{
    struct request *request = &connection->request;
    int64_t now_ns = clock_monotonic_ns();

    if (request->bytes_ns == 0)
        read_bare_answer(connection);
    if (code == CURLE_OK && request->is_stream && cut == FAILURE_NONE
        && !completion_stream_end(connection->stream, on_event, connection))
        connection->gave_up = true;
    if (cut != FAILURE_NONE)
        request->failure = cut;
    request->failure = verdict_reach(connection, code);
    request->end_ns = request->failure == FAILURE_NONE ? request->bytes_ns : now_ns;
    verdict_explain(connection, code);
    tally_request(connection->tally, request, now_ns);
}
