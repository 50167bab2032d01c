/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/outbound.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "base/core/clock.h"
#include "base/net/outbound_address.h"
#include "base/net/outbound_code.h"
#include "base/net/outbound_transfer.h"

#define ERROR_BODY_BYTES 65536
#define TICK_MS 100 /* `cancelled` and the idle limit are checked at least once in this time */

bool outbound_global_init(struct error *error)
{
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without MSG_NOSIGNAL */
    if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
        return error_set(error, ERROR_INTERNAL, "cannot initialize libcurl");
    return true;
}

void outbound_global_finish(void)
{
    curl_global_cleanup();
}

void outbound_response_finish(struct outbound_response *response)
{
    text_finish(&response->body);
}

static void describe_address(const struct sockaddr *address, char out[INET6_ADDRSTRLEN])
{
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;

    text_copy(out, INET6_ADDRSTRLEN, "an address of an unknown family");
    if (address->sa_family == AF_INET) {
        memcpy(&ipv4, address, sizeof ipv4);
        inet_ntop(AF_INET, &ipv4.sin_addr, out, INET6_ADDRSTRLEN);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&ipv6, address, sizeof ipv6);
        inet_ntop(AF_INET6, &ipv6.sin6_addr, out, INET6_ADDRSTRLEN);
    }
}

static bool may_connect(const struct outbound_request *request, const struct sockaddr *address)
{
    return request->to_metadata ? outbound_address_is_google_metadata(address)
                                : !outbound_address_is_refused(address);
}

/* libcurl calls this after resolving the name, so that no name can lead to a refused address. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct outbound_transfer *transfer = context;

    (void)purpose;
    transfer->unlisted = transfer->request->servers != NULL
                         && !server_list_has_address(transfer->request->servers, &address->addr);
    /* There is no address to check: the socket file's permissions decide who can connect to it. */
    if (transfer->request->socket_path != NULL)
        return socket(AF_UNIX, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (transfer->unlisted || !may_connect(transfer->request, &address->addr)) {
        describe_address(&address->addr, transfer->refused);
        return CURL_SOCKET_BAD;
    }
    transfer->refused[0] = '\0'; /* another address of the host may have been refused before */
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// NOLINTNEXTLINE(readability-non-const-parameter): the signature is libcurl's
static int note_sent(void *context, char *remote, char *local, int remote_port, int local_port)
{
    struct outbound_transfer *transfer = context;

    (void)remote, (void)local, (void)remote_port, (void)local_port;
    transfer->response->sent_ns = transfer->last_byte_ns = clock_monotonic_ns();
    return CURL_PREREQFUNC_OK;
}

static void copy_visible(char *out, size_t size, const char *bytes, size_t length)
{
    size_t copied = 0;

    while (length > 0 && strchr(" \t\r\n", bytes[length - 1]) != NULL)
        length--;
    for (; copied < length && copied < size - 1; copied++) {
        out[copied] = bytes[copied];
        if ((unsigned char)bytes[copied] < ' ' || (unsigned char)bytes[copied] >= 0x7f)
            out[copied] = '?';
    }
    out[copied] = '\0';
}

/* Reads a number of seconds, or a date (RFC 9110, 10.2.3). Returns the seconds from now, at most a
 * year; -1 if the value is neither. */
static int64_t read_retry_after(const char *value)
{
    static const int64_t longest_s = INT64_C(366) * 86400;
    int64_t seconds;
    time_t date;

    if (text_to_integer(value, 0, INT64_MAX, &seconds))
        return seconds < longest_s ? seconds : longest_s;
    date = curl_getdate(value, NULL);
    if (date < 0)
        return -1;
    seconds = (int64_t)date - clock_utc_ms() / 1000;
    return seconds < 0 ? 0 : seconds < longest_s ? seconds : longest_s;
}

static bool is_header(const char *line, size_t length, const char *name, const char **value)
{
    size_t name_length = strlen(name);

    if (length <= name_length || line[name_length] != ':'
        || strncasecmp(line, name, name_length) != 0)
        return false;
    *value = line + name_length + 1;
    while (*value < line + length && (**value == ' ' || **value == '\t'))
        (*value)++;
    return true;
}

/* How much of a redirect's target can be shown: nothing after '?' or '#', and nothing at all if an
 * '@' comes before them, because a credential may be there. */
static size_t shown_length(const char *url, size_t length)
{
    size_t shown = 0;

    while (shown < length && strchr("?#@", url[shown]) == NULL)
        shown++;
    return shown < length && url[shown] == '@' ? 0 : shown;
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    struct outbound_transfer *transfer = context;
    struct outbound_response *response = transfer->response;
    const char *kept = transfer->request->kept_header;
    size_t length = size * count;
    const char *value;
    char seconds[64];

    transfer->last_byte_ns = clock_monotonic_ns();
    if (response->first_byte_ns == 0)
        response->first_byte_ns = transfer->last_byte_ns;
    if (is_header(line, length, "content-type", &value))
        copy_visible(response->content_type, sizeof response->content_type, value,
                     (size_t)(line + length - value));
    else if (is_header(line, length, "server", &value))
        copy_visible(response->server, sizeof response->server, value,
                     (size_t)(line + length - value));
    else if (is_header(line, length, "location", &value))
        copy_visible(response->location, sizeof response->location, value,
                     shown_length(value, (size_t)(line + length - value)));
    else if (is_header(line, length, "retry-after", &value)) {
        copy_visible(seconds, sizeof seconds, value, (size_t)(line + length - value));
        response->retry_after_s = read_retry_after(seconds);
    } else if (kept != NULL && is_header(line, length, kept, &value)) {
        copy_visible(response->kept_header, sizeof response->kept_header, value,
                     (size_t)(line + length - value));
    }
    return length;
}

static bool is_success(long status)
{
    return status >= 200 && status < 300;
}

static bool stop(struct outbound_transfer *transfer, enum failure why)
{
    transfer->stopped = why;
    return false;
}

static bool keep_error_body(struct outbound_transfer *transfer, const char *bytes, size_t length)
{
    size_t room = ERROR_BODY_BYTES - transfer->response->body.length;

    text_add_bytes(&transfer->response->body, bytes, length < room ? length : room);
    transfer->enough = length >= room;
    return !transfer->enough;
}

/* Returns false to stop the transfer. */
static bool handle_bytes(struct outbound_transfer *transfer, const char *bytes, size_t length)
{
    const struct outbound_request *request = transfer->request;
    struct outbound_response *response = transfer->response;

    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &response->status);
    if (!is_success(response->status))
        return keep_error_body(transfer, bytes, length);
    if (length > transfer->limit_bytes - transfer->received_bytes)
        return stop(transfer, FAILURE_PROTOCOL);
    transfer->received_bytes += length;
    if (request->on_bytes != NULL)
        return request->on_bytes(request->context, bytes, length)
               || stop(transfer, FAILURE_CANCELLED);
    text_add_bytes(&response->body, bytes, length);
    return true;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct outbound_transfer *transfer = context;

    transfer->last_byte_ns = clock_monotonic_ns();
    return handle_bytes(transfer, bytes, size * count) ? size * count : 0;
}

static void add_header(struct outbound_transfer *transfer, const char *name, const char *value)
{
    TEXT_AUTO line = { 0 };

    text_addf(&line, "%s: %s", name, value);
    transfer->headers = curl_slist_append(transfer->headers, line.data);
    explicit_bzero(line.data, line.length); /* it may contain the bearer */
}

static void set_headers(struct outbound_transfer *transfer)
{
    const struct outbound_request *request = transfer->request;
    TEXT_AUTO bearer = { 0 };

    add_header(transfer, "Accept", request->accept != NULL ? request->accept : "application/json");
    add_header(transfer, "Expect", ""); /* an empty value makes libcurl omit the header */
    if (request->body != NULL)
        add_header(transfer, "Content-Type",
                   request->content_type != NULL ? request->content_type : "application/json");
    for (size_t i = 0; request->headers != NULL && request->headers[i] != NULL; i++)
        transfer->headers = curl_slist_append(transfer->headers, request->headers[i]);
    if (request->bearer != NULL) {
        text_addf(&bearer, "Bearer %s", request->bearer);
        add_header(transfer, "Authorization", bearer.data);
        explicit_bzero(bearer.data, bearer.length);
    }
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
}

static void set_method(CURL *easy, const struct outbound_request *request)
{
    if (request->body != NULL) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
    }
    if (request->method != NULL && strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (request->method != NULL)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_guards(CURL *easy, struct outbound_transfer *transfer)
{
    const char *proxy = transfer->request->proxy;

    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    /* "" makes libcurl ignore a proxy from the environment too */
    curl_easy_setopt(easy, CURLOPT_PROXY, proxy != NULL ? proxy : "");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
    outbound_code_trust(easy, transfer->request->tls);
}

static long or_default(int64_t value_ms, long usual_ms)
{
    return value_ms > 0 ? (long)value_ms : usual_ms;
}

static void set_timing(CURL *easy, struct outbound_transfer *transfer)
{
    const struct outbound_request *request = transfer->request;

    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* A cancelled call does not wait for DNS. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     or_default(request->connect_timeout_ms, OUTBOUND_CONNECT_MS));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     or_default(request->total_timeout_ms, OUTBOUND_TOTAL_MS));
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, note_sent);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
}

static void set_callbacks(CURL *easy, struct outbound_transfer *transfer)
{
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->detail);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
}

static bool start(struct outbound_transfer *transfer)
{
    transfer->multi = curl_multi_init();
    transfer->easy = curl_easy_init();
    if (transfer->multi == NULL || transfer->easy == NULL)
        return stop(transfer, FAILURE_CLIENT_LIMIT);
    curl_easy_setopt(transfer->easy, CURLOPT_URL, transfer->request->url);
    curl_easy_setopt(transfer->easy, CURLOPT_USERAGENT, "opsbrain/" OPSBRAIN_VERSION);
    curl_easy_setopt(transfer->easy, CURLOPT_ACCEPT_ENCODING, "identity");
    set_method(transfer->easy, transfer->request);
    set_headers(transfer);
    set_guards(transfer->easy, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_UNIX_SOCKET_PATH, transfer->request->socket_path);
    set_timing(transfer->easy, transfer);
    set_callbacks(transfer->easy, transfer);
    return curl_multi_add_handle(transfer->multi, transfer->easy) == CURLM_OK
           || stop(transfer, FAILURE_CLIENT_LIMIT);
}

static bool may_continue(struct outbound_transfer *transfer)
{
    const struct outbound_request *request = transfer->request;
    int64_t idle_ns = clock_monotonic_ns() - transfer->last_byte_ns;

    if (request->cancelled != NULL && request->cancelled(request->context))
        return stop(transfer, FAILURE_CANCELLED);
    if (request->idle_timeout_ms > 0 && transfer->last_byte_ns > 0
        && idle_ns > request->idle_timeout_ms * 1000000)
        return stop(transfer, FAILURE_IDLE_TIMEOUT);
    return true;
}

/* Runs the loop until the transfer ends or is stopped. */
static CURLcode run(struct outbound_transfer *transfer)
{
    int running = 1, left;
    CURLMsg *message;

    while (running > 0 && may_continue(transfer)) {
        if (curl_multi_perform(transfer->multi, &running) != CURLM_OK)
            return CURLE_OUT_OF_MEMORY;
        if (running > 0)
            curl_multi_poll(transfer->multi, NULL, 0, TICK_MS, NULL);
    }
    message = curl_multi_info_read(transfer->multi, &left);
    return message != NULL ? message->data.result : CURLE_ABORTED_BY_CALLBACK;
}

static void finish(struct outbound_transfer *transfer)
{
    if (transfer->multi != NULL && transfer->easy != NULL)
        curl_multi_remove_handle(transfer->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    curl_multi_cleanup(transfer->multi);
    for (struct curl_slist *header = transfer->headers; header != NULL; header = header->next)
        explicit_bzero(header->data, strlen(header->data));
    curl_slist_free_all(transfer->headers);
    mask_destroy(transfer->mask);
}

/* Hides the bearer in the response. The caller must mask what on_bytes received. */
static void hide_bearer(struct outbound_transfer *transfer)
{
    struct outbound_response *response = transfer->response;
    enum mask_kind kind = is_success(response->status) ? MASK_ANSWER : MASK_FAILURE;

    mask_string(transfer->mask, kind, response->content_type, sizeof response->content_type);
    mask_string(transfer->mask, kind, response->server, sizeof response->server);
    mask_string(transfer->mask, kind, response->location, sizeof response->location);
    mask_string(transfer->mask, kind, response->kept_header, sizeof response->kept_header);
    mask_text(transfer->mask, kind, transfer->enough, &response->body);
}

static CHECKED bool check_bearer(const char *bearer, struct error *error)
{
    for (; bearer != NULL && *bearer != '\0'; bearer++)
        if ((unsigned char)*bearer < 0x21 || *bearer == 0x7f)
            return error_set(
                error, ERROR_INVALID,
                "the secret has a character that an Authorization header cannot contain");
    return true;
}

bool outbound_perform(const struct outbound_request *request, struct outbound_response *response,
                      struct error *error)
{
    struct outbound_transfer transfer = { .request = request, .response = response };
    CURLcode code = CURLE_OK;

    *response = (struct outbound_response){ .retry_after_s = -1, .failure = FAILURE_SEND };
    if (!check_bearer(request->bearer, error))
        return false;
    transfer.limit_bytes =
        request->response_limit_bytes > 0 ? request->response_limit_bytes : 16 << 20;
    transfer.mask = mask_create(request->bearer);
    if (start(&transfer))
        code = run(&transfer);
    response->end_ns = clock_monotonic_ns();
    if (transfer.easy != NULL)
        curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &response->status);
    response->failure = outbound_transfer_classify(&transfer, code);
    hide_bearer(&transfer);
    if (response->failure != FAILURE_NONE && !outbound_transfer_explain(&transfer, code, error))
        mask_error(transfer.mask, error);
    finish(&transfer);
    return response->failure == FAILURE_NONE;
}
