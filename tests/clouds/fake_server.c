/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

struct fake_server {
    fake_answer_function *answer;
    void *context;
    fake_guard_function *guard; /* NULL: none */
    void *guard_context;
    pthread_mutex_t lock;
    struct MHD_Daemon *daemon;
};

struct received {
    char *url; /* with the query, as sent */
    struct text body;
};

static void *note_url(void *context, const char *url, struct MHD_Connection *connection)
{
    struct received *received = calloc(1, sizeof *received);

    (void)context, (void)connection;
    received->url = strdup(url);
    return received;
}

static void forget(void *context, struct MHD_Connection *connection, void **kept,
                   enum MHD_RequestTerminationCode why)
{
    struct received *received = *kept;

    (void)context, (void)connection, (void)why;
    if (received == NULL)
        return;
    free(received->url);
    text_finish(&received->body);
    free(received);
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value != NULL ? value : "";
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct fake_reply *reply)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        reply->body.length, (void *)(uintptr_t)text_string(&reply->body), MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    MHD_add_response_header(response, "Content-Type",
                            reply->type != NULL ? reply->type : "application/json");
    if (reply->header != NULL)
        MHD_add_response_header(response, reply->header, reply->value);
    result =
        MHD_queue_response(connection, reply->status > 0 ? (unsigned)reply->status : 200, response);
    MHD_destroy_response(response);
    return result;
}

static void serve_one(struct fake_server *server, const struct fake_request *request,
                      struct fake_reply *reply)
{
    fake_guard_function *guard = server->guard;
    void *memory = NULL;

    if (guard != NULL && guard(server->guard_context, FAKE_BEFORE, request, reply, &memory))
        return;
    pthread_mutex_lock(&server->lock);
    server->answer(server->context, request, reply);
    pthread_mutex_unlock(&server->lock);
    if (guard != NULL)
        guard(server->guard_context, FAKE_AFTER, request, reply, &memory);
}

static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *bytes,
                             size_t *length, void **kept)
{
    struct fake_server *server = context;
    struct received *received = *kept;
    struct fake_reply reply = { 0 };
    const char *authorization = header_of(connection, "Authorization");
    struct fake_request request = { .method = method, .path = url };
    char *query = strchr(received->url, '?');
    enum MHD_Result result = MHD_NO;

    (void)version;
    if (*length > 0) {
        text_add_bytes(&received->body, bytes, *length);
        *length = 0;
        return MHD_YES;
    }
    if (received->body.data == NULL && bytes == NULL && strcmp(method, "GET") != 0
        && strtoul(header_of(connection, "Content-Length"), NULL, 10) > 0)
        return MHD_YES; /* the body follows */
    request.query = query != NULL ? query + 1 : "";
    request.bearer = strncmp(authorization, "Bearer ", 7) == 0 ? authorization + 7 : "";
    request.content_type = header_of(connection, "Content-Type");
    request.metadata_flavor = header_of(connection, "Metadata-Flavor");
    request.body = text_string(&received->body);
    request.length = received->body.length;
    serve_one(server, &request, &reply);
    if (!reply.breaks_off)
        result = send_reply(connection, &reply);
    text_finish(&reply.body);
    return result;
}

static int listen_at(const struct sockaddr *address, socklen_t length)
{
    int one = 1, listening = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (listening < 0 || bind(listening, address, length) != 0 || listen(listening, 64) != 0)
        abort();
    return listening;
}

static struct fake_server *start(fake_answer_function *answer, void *context, int listening)
{
    struct fake_server *server = calloc(1, sizeof *server);

    server->answer = answer;
    server->context = context;
    pthread_mutex_init(&server->lock, NULL);
    server->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, serve,
        server, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_URI_LOG_CALLBACK, note_url, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_END);
    if (server->daemon == NULL)
        abort();
    return server;
}

struct fake_server *fake_server_start(fake_answer_function *answer, void *context)
{
    return fake_server_start_on(0, answer, context);
}

struct fake_server *fake_server_start_on(int port, fake_answer_function *answer, void *context)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons((uint16_t)port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    return start(answer, context, listen_at((const struct sockaddr *)&address, sizeof address));
}

struct fake_server *fake_server_start_at(const char *path, fake_answer_function *answer,
                                         void *context)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    return start(answer, context, listen_at((const struct sockaddr *)&address, sizeof address));
}

int fake_server_port(const struct fake_server *server)
{
    return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void fake_server_guard(struct fake_server *server, fake_guard_function *guard, void *context)
{
    server->guard = guard;
    server->guard_context = context;
}

void fake_server_hold(struct fake_server *server)
{
    pthread_mutex_lock(&server->lock);
}

void fake_server_release(struct fake_server *server)
{
    pthread_mutex_unlock(&server->lock);
}

void fake_server_stop(struct fake_server *server)
{
    if (server == NULL)
        return;
    MHD_stop_daemon(server->daemon);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

char *fake_server_parameter(const struct fake_request *request, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = request->query; *at != '\0';) {
        size_t end = strcspn(at, "&");

        if (strncmp(at, name, length) == 0 && (at[length] == '=' || length == end)) {
            char *value =
                strndup(at + length + (at[length] == '='), end - length - (at[length] == '='));

            MHD_http_unescape(value);
            return value;
        }
        at += end + (at[end] == '&');
    }
    return NULL;
}

void fake_server_add(json_t *objects, const char *path, const char *object)
{
    json_t *value = json_loads(object, 0, NULL);

    if (value == NULL || json_object_set_new(objects, path, value) != 0)
        abort();
}
