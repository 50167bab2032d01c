/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"

#define REQUEST_SIZE 16384
#define CHUNK "5\r\nhello\r\n"

/* A server that answers one connection after the other, according to the requested path. */
struct server {
    int listener, port;
    pthread_t thread;
    pthread_mutex_t lock;
    char request[REQUEST_SIZE]; /* the last one; under the lock */
};

static int bind_loopback(int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return listener;
}

static void send_bytes(int client, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(client, bytes, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* the client has left, as some tests want */
        bytes += sent;
        length -= (size_t)sent;
    }
}

static void send_text(int client, const char *text)
{
    send_bytes(client, text, strlen(text));
}

static void wait_until_client_leaves(int client)
{
    char rest[512];

    while (recv(client, rest, sizeof rest, 0) > 0)
        continue;
}

static void answer_ok(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"
                      "Server: uvicorn\x1b[2J\r\nContent-Length: 11\r\n\r\n{\"ok\":true}");
}

static void answer_compressed(int client, const char *request)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n"
                                 "Content-Length: 12\r\n\r\n"
                                 "\x78\x9c\x4b\xcb\x2f\x2d\x02\x00\x04\x45\x01\xbd";

    (void)request;
    send_bytes(client, answer, sizeof answer - 1);
}

static void answer_stream(int client, const char *request)
{
    (void)request;
    send_text(client,
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNK CHUNK "0\r\n\r\n");
}

static void answer_never(int client, const char *request)
{
    (void)request;
    wait_until_client_leaves(client);
}

static void answer_half(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNK);
    wait_until_client_leaves(client);
}

static void answer_cut(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello");
}

static void answer_cut_chunks(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" CHUNK);
}

static void answer_reset(int client, const char *request)
{
    struct linger linger = { .l_onoff = 1 };

    (void)request;
    setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger); /* close sends a RST */
}

static void answer_nothing(int client, const char *request)
{
    (void)client;
    (void)request;
}

static void answer_large(int client, const char *request)
{
    static const char piece[65536];

    (void)request;
    send_text(client, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 64; i++) /* 4 MiB, of no stated length */
        send_bytes(client, piece, sizeof piece);
}

static void answer_large_error(int client, const char *request)
{
    static char piece[65536];

    (void)request;
    memset(piece, 'e', sizeof piece);
    send_text(client, "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 64; i++)
        send_bytes(client, piece, sizeof piece);
}

static void answer_429(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n"
                      "Content-Length: 21\r\n\r\n{\"error\":\"slow down\"}");
}

static void answer_429_date(int client, const char *request)
{
    time_t then = time(NULL) + 100;
    char date[64], answer[256];
    struct tm parts;

    (void)request;
    gmtime_r(&then, &parts);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    snprintf(answer, sizeof answer,
             "HTTP/1.1 429 Too Many Requests\r\nretry-after: %s\r\nContent-Length: 0\r\n\r\n",
             date);
    send_text(client, answer);
}

static void answer_too_long(int client, const char *request)
{
    (void)request;
    send_text(client,
              "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
              "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens.\"}}");
}

static void answer_redirect(int client, const char *request)
{
    (void)request;
    send_text(client, "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n");
}

static void answer_garbage(int client, const char *request)
{
    (void)request;
    send_text(client, "SSH-2.0-OpenSSH_9.2p1\r\n");
}

static void answer_echo_as_error(int client, const char *request)
{
    send_text(client, "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n");
    send_text(client, request);
}

static const struct {
    const char *path;
    void (*answer)(int client, const char *request);
} behaviours[] = {
    { "/ok", answer_ok },
    { "/compressed", answer_compressed },
    { "/stream", answer_stream },
    { "/never", answer_never },
    { "/half", answer_half },
    { "/cut", answer_cut },
    { "/cut-chunks", answer_cut_chunks },
    { "/reset", answer_reset },
    { "/nothing", answer_nothing },
    { "/large", answer_large },
    { "/large-error", answer_large_error },
    { "/429", answer_429 },
    { "/429-date", answer_429_date },
    { "/too-long", answer_too_long },
    { "/redirect", answer_redirect },
    { "/garbage", answer_garbage },
    { "/echo-as-error", answer_echo_as_error },
};

/* Headers and as much body as they announce; false if it is not an HTTP request. */
static bool read_request(int client, char request[REQUEST_SIZE])
{
    size_t length = 0, body_length = 0;
    const char *body = NULL, *announced;

    while (body == NULL || strlen(body) < body_length) {
        ssize_t got = recv(client, request + length, REQUEST_SIZE - 1 - length, 0);

        if (got <= 0 || request[0] < 'A' || request[0] > 'Z')
            return false;
        length += (size_t)got;
        request[length] = '\0';
        body = strstr(request, "\r\n\r\n");
        if (body == NULL)
            continue;
        body += 4;
        announced = strcasestr(request, "content-length: ");
        body_length = announced != NULL ? strtoul(announced + 16, NULL, 10) : 0;
    }
    return true;
}

static void serve(struct server *server, int client)
{
    static _Thread_local char request[REQUEST_SIZE];
    char path[64] = "";

    if (!read_request(client, request)) {
        answer_garbage(client, request);
        return;
    }
    pthread_mutex_lock(&server->lock);
    memcpy(server->request, request, sizeof request);
    pthread_mutex_unlock(&server->lock);
    assert_int_equal(sscanf(request, "%*s %63s", path), 1);
    for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++)
        if (strcmp(path, behaviours[i].path) == 0)
            behaviours[i].answer(client, request);
}

static void *run_server(void *context)
{
    struct server *server = context;
    int client;

    while ((client = accept(server->listener, NULL, NULL)) >= 0) {
        serve(server, client);
        close(client);
    }
    return NULL;
}

static int start_server(void **state)
{
    struct server *server = calloc(1, sizeof *server);
    struct error error;

    assert_true(outbound_global_init(&error));
    pthread_mutex_init(&server->lock, NULL);
    server->listener = bind_loopback(&server->port);
    assert_int_equal(listen(server->listener, 64), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, run_server, server), 0);
    *state = server;
    return 0;
}

static int stop_server(void **state)
{
    struct server *server = *state;

    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
    pthread_mutex_destroy(&server->lock);
    free(server);
    outbound_global_finish();
    return 0;
}

/* One call to the server's `path`, and its result. */
struct call {
    struct outbound_request request;
    struct outbound_response response;
    struct error error;
    char url[128];
    bool worked;
};

static void perform(struct call *call, const struct server *server, const char *path)
{
    snprintf(call->url, sizeof call->url, "http://127.0.0.1:%d%s", server->port, path);
    call->request.url = call->url;
    call->worked = outbound_perform(&call->request, &call->response, &call->error);
}

static void assert_failed(struct call *call, enum failure failure, enum error_kind kind)
{
    assert_false(call->worked);
    if (call->response.failure != failure)
        fail_msg("%s, not %s: %s", failure_name(call->response.failure), failure_name(failure),
                 call->error.message);
    assert_int_equal(call->error.kind, kind);
    outbound_response_finish(&call->response);
}

static void assert_says(const struct call *call, const char *words)
{
    if (strstr(call->error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", call->error.message, words);
}

static void assert_asked(struct server *server, const char *expected)
{
    pthread_mutex_lock(&server->lock);
    if (strstr(server->request, expected) == NULL)
        fail_msg("\"%s\" is not in the request:\n%s", expected, server->request);
    pthread_mutex_unlock(&server->lock);
}

static void assert_not_asked(struct server *server, const char *unexpected)
{
    pthread_mutex_lock(&server->lock);
    if (strcasestr(server->request, unexpected) != NULL)
        fail_msg("\"%s\" is in the request:\n%s", unexpected, server->request);
    pthread_mutex_unlock(&server->lock);
}

static int64_t elapsed_ms(int64_t start_ns)
{
    return (clock_monotonic_ns() - start_ns) / 1000000;
}

static void gets_a_whole_answer(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/ok");
    assert_true(call.worked);
    assert_int_equal(call.response.status, 200);
    assert_int_equal(call.response.failure, FAILURE_NONE);
    assert_string_equal(call.response.body.data, "{\"ok\":true}");
    assert_string_equal(call.response.content_type, "application/json; charset=utf-8");
    assert_string_equal(call.response.server, "uvicorn?[2J");
    assert_int_equal(call.response.retry_after_s, -1);
    assert_true(call.response.sent_ns > 0);
    assert_true(call.response.first_byte_ns >= call.response.sent_ns);
    assert_true(call.response.end_ns >= call.response.first_byte_ns);
    outbound_response_finish(&call.response);
}

static void a_plain_call_says_who_asks_and_no_more(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/ok");
    assert_true(call.worked);
    assert_asked(*state, "GET /ok HTTP/1.1\r\n");
    assert_asked(*state, "\r\nAccept: application/json\r\n");
    assert_asked(*state, "\r\nUser-Agent: opsbrain/" OPSBRAIN_VERSION "\r\n");
    assert_not_asked(*state, "Authorization");
    assert_asked(*state, "\r\nAccept-Encoding: identity\r\n");
    assert_not_asked(*state, "Content-Type");
    outbound_response_finish(&call.response);
}

static void an_answer_that_is_compressed_unasked_is_read(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/compressed");
    assert_true(call.worked);
    assert_string_equal(text_string(&call.response.body), "four");
    outbound_response_finish(&call.response);
}

static void posts_a_body_with_its_bearer(void **state)
{
    static const char body[] = "{\"model\":\"a\"} and what is behind it is not sent";
    struct call call = { .request = { .bearer = "s3cret",
                                      .accept = "text/event-stream",
                                      .body = body,
                                      .body_length = 13 } };

    perform(&call, *state, "/ok");
    assert_true(call.worked);
    assert_asked(*state, "POST /ok HTTP/1.1\r\n");
    assert_asked(*state, "\r\nAuthorization: Bearer s3cret\r\n");
    assert_asked(*state, "\r\nAccept: text/event-stream\r\n");
    assert_asked(*state, "\r\nContent-Type: application/json\r\n");
    assert_asked(*state, "\r\n\r\n{\"model\":\"a\"}");
    assert_not_asked(*state, "behind it");
    assert_not_asked(*state, "Expect:");
    outbound_response_finish(&call.response);
}

static void uses_the_given_method(void **state)
{
    struct call deletion = { .request = { .method = "DELETE" } };
    struct call head = { .request = { .method = "HEAD" } };

    perform(&deletion, *state, "/ok");
    assert_asked(*state, "DELETE /ok HTTP/1.1\r\n");
    assert_true(deletion.worked);
    perform(&head, *state, "/ok");
    assert_asked(*state, "HEAD /ok HTTP/1.1\r\n");
    assert_true(head.worked);
    outbound_response_finish(&deletion.response);
    outbound_response_finish(&head.response);
}

static bool collect(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
    return true;
}

static void streams_a_body_instead_of_keeping_it(void **state)
{
    TEXT_AUTO collected = { 0 };
    struct call call = { .request = { .on_bytes = collect, .context = &collected } };

    perform(&call, *state, "/stream");
    assert_true(call.worked);
    assert_string_equal(text_string(&collected), "hellohello");
    assert_int_equal(call.response.body.length, 0);
    outbound_response_finish(&call.response);
}

static bool refuse_bytes(void *context, const char *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    ++*(int *)context;
    return false;
}

static void a_stream_ends_when_its_reader_has_enough(void **state)
{
    int calls = 0;
    struct call call = { .request = { .on_bytes = refuse_bytes, .context = &calls } };

    perform(&call, *state, "/half");
    assert_int_equal(calls, 1);
    assert_failed(&call, FAILURE_CANCELLED, ERROR_CANCELLED);
}

static void an_errors_body_is_kept_even_when_streaming(void **state)
{
    TEXT_AUTO collected = { 0 };
    struct call call = { .request = { .on_bytes = collect, .context = &collected } };

    perform(&call, *state, "/too-long");
    assert_int_equal(collected.length, 0);
    assert_int_equal(call.response.status, 400);
    assert_non_null(strstr(call.response.body.data, "maximum context length"));
    assert_says(&call, "the server answered 400: This model's maximum context length is 8192 "
                       "tokens. (too_long)");
    assert_failed(&call, FAILURE_TOO_LONG, ERROR_UPSTREAM);
}

static void keeps_64_kib_of_an_errors_body(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/large-error");
    assert_int_equal(call.response.status, 500);
    assert_int_equal(call.response.body.length, 65536);
    assert_failed(&call, FAILURE_SERVER_ERROR, ERROR_UPSTREAM);
}

static void refuses_an_answer_larger_than_the_limit(void **state)
{
    struct call call = { .request = { .response_limit_bytes = 1 << 20 } };

    perform(&call, *state, "/large");
    assert_in_range(call.response.body.length, 1, 1 << 20);
    assert_says(&call, "larger than the limit");
    assert_failed(&call, FAILURE_PROTOCOL, ERROR_UPSTREAM);
}

static void says_when_to_come_back(void **state)
{
    struct call seconds = { 0 }, date = { 0 };

    perform(&seconds, *state, "/429");
    assert_int_equal(seconds.response.retry_after_s, 7);
    assert_says(&seconds, "answered 429: slow down (rate_limited)");
    assert_failed(&seconds, FAILURE_RATE_LIMITED, ERROR_UPSTREAM);
    perform(&date, *state, "/429-date");
    assert_in_range(date.response.retry_after_s, 90, 100);
    assert_failed(&date, FAILURE_RATE_LIMITED, ERROR_UPSTREAM);
}

static void does_not_follow_redirects(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/redirect");
    assert_int_equal(call.response.status, 302);
    assert_asked(*state, "GET /redirect ");
    assert_says(&call, "redirects are not followed");
    assert_failed(&call, FAILURE_PROTOCOL, ERROR_UPSTREAM);
}

static void ends_at_the_total_timeout(void **state)
{
    struct call call = { .request = { .total_timeout_ms = 300 } };
    int64_t start = clock_monotonic_ns();

    perform(&call, *state, "/never");
    assert_in_range(elapsed_ms(start), 290, 5000);
    assert_failed(&call, FAILURE_TOTAL_TIMEOUT, ERROR_TIMEOUT);
}

static void ends_when_a_stream_stalls(void **state)
{
    struct call call = { .request = { .idle_timeout_ms = 300 } };
    int64_t start = clock_monotonic_ns();

    perform(&call, *state, "/half");
    assert_in_range(elapsed_ms(start), 290, 5000);
    assert_string_equal(call.response.body.data, "hello");
    assert_failed(&call, FAILURE_IDLE_TIMEOUT, ERROR_TIMEOUT);
}

static void ends_when_no_first_byte_comes(void **state)
{
    struct call call = { .request = { .idle_timeout_ms = 300 } };

    perform(&call, *state, "/never");
    assert_int_equal(call.response.first_byte_ns, 0);
    assert_failed(&call, FAILURE_IDLE_TIMEOUT, ERROR_TIMEOUT);
}

/* A listener whose queue is full answers no SYN. */
static void ends_at_the_connect_timeout(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct server full = { 0 };
    struct call call = { .request = { .connect_timeout_ms = 300 } };
    int fillers[4];

    (void)state;
    full.listener = bind_loopback(&full.port);
    assert_int_equal(listen(full.listener, 0), 0);
    address.sin_port = htons((uint16_t)full.port);
    for (int i = 0; i < 4; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(connect(fillers[i], (struct sockaddr *)&address, sizeof address) == 0
                    || errno == EINPROGRESS);
    }
    perform(&call, &full, "/ok");
    assert_int_equal(call.response.sent_ns, 0);
    assert_failed(&call, FAILURE_CONNECT_TIMEOUT, ERROR_TIMEOUT);
    for (int i = 0; i < 4; i++)
        close(fillers[i]);
    close(full.listener);
}

/* Asks to stop 200 ms after it was asked first, and counts how often it was asked. */
struct patience {
    int64_t first_ns;
    int asked;
};

static bool run_out(void *context)
{
    struct patience *patience = context;

    if (patience->asked++ == 0)
        patience->first_ns = clock_monotonic_ns();
    return elapsed_ms(patience->first_ns) >= 200;
}

static void ends_soon_after_it_is_cancelled(void **state)
{
    static const char *const paths[] = { "/never", "/half" };

    for (size_t i = 0; i < 2; i++) {
        struct patience patience = { 0 };
        struct call call = { .request = { .cancelled = run_out, .context = &patience } };
        int64_t start = clock_monotonic_ns();

        perform(&call, *state, paths[i]);
        assert_in_range(elapsed_ms(start), 200, 2000);
        assert_true(patience.asked >= 3);
        assert_failed(&call, FAILURE_CANCELLED, ERROR_CANCELLED);
    }
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void sends_nothing_when_cancelled_before(void **state)
{
    struct call call = { .request = { .cancelled = at_once } };

    perform(&call, *state, "/ok");
    assert_int_equal(call.response.sent_ns, 0);
    assert_failed(&call, FAILURE_CANCELLED, ERROR_CANCELLED);
}

static void distinguishes_broken_connections_from_refused_ones(void **state)
{
    static const char *const broken[] = { "/reset", "/nothing", "/cut", "/cut-chunks" };
    struct server closed = { 0 };
    struct call refused = { 0 };

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct call call = { 0 };

        perform(&call, *state, broken[i]);
        assert_failed(&call, FAILURE_RESET, ERROR_UPSTREAM);
    }
    closed.listener = bind_loopback(&closed.port); /* bound, but it does not listen */
    perform(&refused, &closed, "/ok");
    assert_failed(&refused, FAILURE_CONNECT_REFUSED, ERROR_UPSTREAM);
    close(closed.listener);
}

static void reports_other_protocols(void **state)
{
    const struct server *server = *state;
    struct call garbage = { 0 }, tls = { 0 };

    perform(&garbage, server, "/garbage");
    assert_failed(&garbage, FAILURE_PROTOCOL, ERROR_UPSTREAM);
    snprintf(tls.url, sizeof tls.url, "https://127.0.0.1:%d/ok", server->port);
    tls.request.url = tls.url;
    tls.worked = outbound_perform(&tls.request, &tls.response, &tls.error);
    assert_failed(&tls, FAILURE_TLS, ERROR_UPSTREAM);
}

static void perform_url(struct call *call, const char *url)
{
    call->request.url = url;
    call->request.connect_timeout_ms = 2000;
    call->worked = outbound_perform(&call->request, &call->response, &call->error);
}

static void never_connects_to_refused_addresses(void **state)
{
    static const char *const urls[] = { "http://169.254.169.254/latest/meta-data",
                                        "http://2852039166/", "http://[::ffff:169.254.169.254]/",
                                        "http://[fd00:ec2::254]/", "http://0.0.0.0:1/" };

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct call call = { .request = { .bearer = "s3cret" } };

        perform_url(&call, urls[i]);
        assert_says(&call, "no deployment may have");
        assert_int_equal(call.response.sent_ns, 0);
        assert_failed(&call, FAILURE_CONNECT_REFUSED, ERROR_FORBIDDEN);
    }
}

static void a_proxy_in_the_environment_is_not_used(void **state)
{
    struct call call = { 0 };

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    perform(&call, *state, "/ok");
    assert_true(call.worked);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    outbound_response_finish(&call.response);
}

static void refuses_other_schemes_and_users(void **state)
{
    static const char *const urls[] = {
        "file:///etc/passwd",    "ftp://127.0.0.1/", "gopher://127.0.0.1/",
        "http://a:b@127.0.0.1/", "http://[",         ""
    };

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct call call = { 0 };

        perform_url(&call, urls[i]);
        assert_null(strstr(call.error.message, "a:b"));
        assert_failed(&call, FAILURE_PROTOCOL, ERROR_INVALID);
    }
}

static void a_name_that_does_not_resolve_is_reported(void **state)
{
    struct call call = { 0 };

    (void)state;
    perform_url(&call, "http://no-such-host.invalid:8000/v1");
    assert_says(&call, "no-such-host.invalid:8000: ");
    assert_false(call.worked);
    if (call.response.failure == FAILURE_CONNECT_TIMEOUT)
        skip(); /* no resolver answers here */
    assert_failed(&call, FAILURE_DNS, ERROR_UPSTREAM);
}

static void errors_never_show_the_bearer(void **state)
{
    struct call echo = { .request = { .bearer = "s3cret-t0ken" } };
    struct call broken = { .request = { .bearer = "s3cret\r\nX-Evil: 1" } };

    perform(&echo, *state, "/echo-as-error");
    assert_asked(*state, "Bearer s3cret-t0ken");
    assert_null(strstr(echo.error.message, "s3cret"));
    assert_failed(&echo, FAILURE_AUTH, ERROR_UPSTREAM);
    perform(&broken, *state, "/ok");
    assert_null(strstr(broken.error.message, "s3cret"));
    assert_int_equal(broken.response.sent_ns, 0);
    assert_failed(&broken, FAILURE_SEND, ERROR_INVALID);
}

static void *call_many_times(void *context)
{
    struct server *server = context;

    for (int i = 0; i < 10; i++) {
        struct call call = { 0 };

        perform(&call, server, i % 2 == 0 ? "/ok" : "/too-long");
        if (call.worked != (i % 2 == 0))
            return server;
        outbound_response_finish(&call.response);
    }
    return NULL;
}

static void several_threads_may_call_at_once(void **state)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_many_times, *state), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_a_whole_answer),
        cmocka_unit_test(a_plain_call_says_who_asks_and_no_more),
        cmocka_unit_test(an_answer_that_is_compressed_unasked_is_read),
        cmocka_unit_test(posts_a_body_with_its_bearer),
        cmocka_unit_test(uses_the_given_method),
        cmocka_unit_test(streams_a_body_instead_of_keeping_it),
        cmocka_unit_test(a_stream_ends_when_its_reader_has_enough),
        cmocka_unit_test(an_errors_body_is_kept_even_when_streaming),
        cmocka_unit_test(keeps_64_kib_of_an_errors_body),
        cmocka_unit_test(refuses_an_answer_larger_than_the_limit),
        cmocka_unit_test(says_when_to_come_back),
        cmocka_unit_test(does_not_follow_redirects),
        cmocka_unit_test(ends_at_the_total_timeout),
        cmocka_unit_test(ends_when_a_stream_stalls),
        cmocka_unit_test(ends_when_no_first_byte_comes),
        cmocka_unit_test(ends_at_the_connect_timeout),
        cmocka_unit_test(ends_soon_after_it_is_cancelled),
        cmocka_unit_test(sends_nothing_when_cancelled_before),
        cmocka_unit_test(distinguishes_broken_connections_from_refused_ones),
        cmocka_unit_test(reports_other_protocols),
        cmocka_unit_test(never_connects_to_refused_addresses),
        cmocka_unit_test(a_proxy_in_the_environment_is_not_used),
        cmocka_unit_test(refuses_other_schemes_and_users),
        cmocka_unit_test(a_name_that_does_not_resolve_is_reported),
        cmocka_unit_test(errors_never_show_the_bearer),
        cmocka_unit_test(several_threads_may_call_at_once),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
