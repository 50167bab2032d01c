/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the HTTP request path end to end: a real server gets the bytes on one connection, in two
 * pieces. Whatever the bytes are, the server answers in HTTP or closes the connection. The first
 * answer is valid JSON if its Content-Type says so and it is not streamed. The connection ends once
 * the client stops sending or, if it has an open stream, disconnects. Other clients are still
 * served. "{session}" in the input stands for the id of an existing session. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PLACEHOLDER "{session}"

static bool report_progress(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    for (int i = 1; i <= 3; i++)
        call->progress(call, i, 3, "a step");
    answer->structured = json_pack("{s:i}", "steps", 3);
    text_add(&answer->text, "3 steps");
    return true;
}

static const struct param no_params[] = { { 0 } };
static const struct tool progress_tool = {
    .name = "tell", /* the name that the corpus uses */
    .title = "Progress",
    .help = "Reports its progress.",
    .params = no_params,
    .fields = served_slow_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .run = report_progress,
};
static const struct tool work_tool = {
    .name = "work",
    .title = "Work",
    .help = "Works.",
    .params = no_params,
    .fields = served_slow_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .run = report_progress,
};
static const struct tool *const fuzz_tools[] = { &served_echo_tool, &progress_tool, &work_tool,
                                                 NULL };

static struct served served;
static struct http_client probe; /* a connection that must continue to be served */
static char *session;

static void stop(void)
{
    http_close(&probe);
    free(session);
    served_destroy(&served);
}

/* Opens a new session. Keeps trying for 20 s, because the queue may be full of calls whose clients
 * have disconnected. */
static void renew_session(void)
{
    free(session);
    session = NULL;
    for (int i = 0; i < 1000 && session == NULL; i++) {
        if (i > 0)
            served_sleep_ms(20);
        session = mcp_initialize(server_port(served.server), NULL);
    }
    must(session != NULL);
}

static void start_once(void)
{
    if (served.server != NULL)
        return;
    served_create(&served);
    served.tools = fuzz_tools;
    served.resources = resources;
    served.prompts = prompts;
    served_start(&served, NULL);
    http_open(&probe, server_port(served.server));
    renew_session();
    atexit(stop);
}

static void fill_in(const char *bytes, size_t length, struct text *out)
{
    const char *end = bytes + length, *found;

    while ((found = memmem(bytes, (size_t)(end - bytes), PLACEHOLDER, strlen(PLACEHOLDER)))
           != NULL) {
        text_add_bytes(out, bytes, (size_t)(found - bytes));
        text_add(out, session);
        bytes = found + strlen(PLACEHOLDER);
    }
    text_add_bytes(out, bytes, (size_t)(end - bytes));
}

/* The server has one HTTP thread: once this thread answers the probe, it has read what the client
 * sent before. */
static void must_be_served(void)
{
    must(http_exchange(&probe, "GET", "/health", NULL, NULL, NULL) == 200);
}

/* Checks the first answer; must_end() drops the answers to further requests. */
static void check_answer(struct http_client *client, bool has_body)
{
    TEXT_AUTO body = { 0 };
    FREE_AUTO char *type = NULL;
    json_auto_t *json = NULL;
    struct error error;
    int status = http_read_head(client);

    must(status == 0 || (status >= 200 && status < 600));
    if (status == 0 || !has_body || client->chunked) /* a stream */
        return;
    while (http_read_part(client, &body))
        continue;
    type = http_header(client, "Content-Type");
    if (client->left == 0 && type != NULL && strcmp(type, "application/json") == 0)
        must(json_parse(text_string(&body), body.length, &json, &error));
}

static bool is_too_late(int64_t begun_ns)
{
    return clock_monotonic_ns() - begun_ns > INT64_C(60000000000);
}

/* Waits until the server disconnects or has an open stream, which would last as long as the client
 * reads it. Then disconnects, and waits until the server has noticed. */
static void must_end(struct http_client *client)
{
    static const struct timeval glance = { .tv_usec = 100000 };
    static const struct linger reset = { .l_onoff = 1 };
    int64_t begun_ns = clock_monotonic_ns();

    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &glance, sizeof glance);
    do {
        errno = 0;
        text_clear(&client->received);
        if (!http_receive(client) && errno != EAGAIN)
            break;
        must(!is_too_late(begun_ns));
    } while (atomic_load(&served.server->http->open_streams) == 0);
    setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    http_close(client);
    while (atomic_load(&served.server->http->open_connections) > 1) {
        must(!is_too_late(begun_ns));
        served_sleep_ms(1);
    }
}

static void send_all(const struct text *input)
{
    static const struct timeval patience = { .tv_sec = 60 };
    struct http_client client;
    size_t half = input->length / 2;

    http_open(&client, server_port(served.server));
    setsockopt(client.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    http_send_bytes(&client, text_string(input), half);
    must_be_served();
    http_send_bytes(&client, text_string(input) + half, input->length - half);
    must_be_served();
    shutdown(client.fd, SHUT_WR);
    check_answer(&client, strncmp(text_string(input), "HEAD", 4) != 0);
    must_end(&client);
    must_be_served();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned runs;
    TEXT_AUTO input = { 0 };

    start_once();
    fill_in((const char *)data, size, &input);
    send_all(&input);
    if (++runs % 64 == 0 || memmem(data, size, "DELETE", 6) != NULL)
        renew_session();
    return 0;
}
