/* SPDX-License-Identifier: Apache-2.0 */
#include "client/remote/remote.h"

#include <string.h>

#include "base/core/base64.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "client/remote/event_stream.h"

#define VERSION "2026-07-28"
#define META(name) "io.modelcontextprotocol/" name
#define TOTAL_TIMEOUT_MS (24 * 3600 * INT64_C(1000))
/* the longest time without a byte; the comments that keep a stream open count as bytes, too */
#define IDLE_TIMEOUT_MS 120000
#define CONNECT_TIMEOUT_MS 5000
#define HEADERS_MAX 16

/* An answer that is arriving. */
struct arrival {
    const struct remote *remote;
    const struct remote_request *request;
    const struct outbound_response *response;
    struct event_stream events;
    struct text body;
    json_t *message; /* the message with the result or the error; NULL: not received yet */
};

/* ---- Sending ---- */

static json_t *describe_client(const struct remote *remote, const struct remote_request *request)
{
    json_t *capabilities =
        remote->can_ask ? json_pack("{s:{s:{}}}", "elicitation", "form") : json_object();
    json_t *meta = json_pack("{s:s, s:{s:s, s:s}, s:o}", META("protocolVersion"), VERSION,
                             META("clientInfo"), "name", "opsbrain", "version", OPSBRAIN_VERSION,
                             META("clientCapabilities"), capabilities);

    if (request->progress != NULL)
        json_object_set_new(meta, "progressToken", json_integer(1));
    return meta;
}

static char *write_request(const struct remote *remote, const struct remote_request *request)
{
    json_auto_t *params =
        request->params == NULL ? json_object() : json_copy(json_iterable(request->params));
    json_auto_t *message = json_pack("{s:s, s:i, s:s, s:O}", "jsonrpc", "2.0", "id", 1, "method",
                                     request->method, "params", params);

    json_object_set_new(params, "_meta", describe_client(remote, request));
    return json_write(message);
}

void remote_add_header(struct text *out, const char *name, const char *value)
{
    size_t length = strlen(value);
    bool is_plain = text_plain_length(value, length) == length && length > 0 && value[0] != ' '
                    && value[length - 1] != ' ' && strncmp(value, "=?", 2) != 0;

    text_addf(out, "%s: ", name);
    if (is_plain) {
        text_add(out, value);
        return;
    }
    text_add(out, "=?base64?");
    base64_add(out, value, length);
    text_add(out, "?=");
}

/* ---- Receiving ---- */

static void report_progress(const struct arrival *arrival, const json_t *message)
{
    const json_t *params = json_object_get(message, "params");

    if (arrival->request->progress == NULL
        || strcmp(json_get_text(message, "method", ""), "notifications/progress") != 0)
        return;
    arrival->request->progress(arrival->request->context, json_get_number(params, "progress", 0),
                               json_get_number(params, "total", 0),
                               json_get_text(params, "message", ""));
}

/* Handles a notification, or keeps the answer. Anything but JSON is ignored; if that was the
 * answer, read_result reports that there is none. */
static bool handle_message(void *context, const char *data, size_t length)
{
    struct arrival *arrival = context;
    json_auto_t *message = NULL;
    struct error ignored;

    if (!json_parse(data, length, &message, &ignored))
        return true;
    if (json_object_get(message, "id") == NULL && json_object_get(message, "method") != NULL) {
        report_progress(arrival, message);
        return true;
    }
    if (arrival->message == NULL)
        arrival->message = json_incref(message);
    return true;
}

static bool receive_bytes(void *context, const char *bytes, size_t length)
{
    struct arrival *arrival = context;

    if (strncmp(arrival->response->content_type, "text/event-stream", 17) == 0)
        return event_stream_feed(&arrival->events, bytes, length, handle_message, arrival);
    text_add_bytes(&arrival->body, bytes, length);
    return true;
}

static bool is_cancelled(void *context)
{
    const struct arrival *arrival = context;

    return arrival->remote->cancelled != NULL
           && arrival->remote->cancelled(arrival->remote->context);
}

/* ---- Errors ---- */

/* Adds the server's error message from the body of a refusal: a JSON-RPC error, or an object with a
 * string "error" or "message". */
static void add_sentence(const char *bytes, size_t length, struct text *out)
{
    json_auto_t *body = NULL;
    struct error ignored;
    const char *sentence;

    if (!json_parse(bytes, length, &body, &ignored))
        return;
    sentence = json_get_text(json_object_get(body, "error"), "message", NULL);
    sentence = json_get_text(body, "error", sentence);
    sentence = json_get_text(body, "message", sentence);
    if (sentence != NULL)
        text_add_printable(out, sentence, strlen(sentence), 400);
}

static CHECKED bool explain_refusal(const struct remote *remote, long status, const char *sentence,
                                    struct error *error)
{
    if (status == 403)
        return error_set(error, ERROR_FORBIDDEN, "%s", sentence);
    if (remote->login.key[0] == '\0')
        return error_set(error, ERROR_UNAUTHENTICATED,
                         "%.200s needs a key: opsbrain login %.200s (an admin creates keys with "
                         "opsbrain key add)",
                         remote->login.url, remote->login.url);
    return error_set(error, ERROR_UNAUTHENTICATED,
                     "%.200s does not accept the key, which might be revoked or expired: "
                     "opsbrain login %.200s",
                     remote->login.url, remote->login.url);
}

/* Sets the error for an HTTP status. */
static CHECKED bool explain_status(const struct remote *remote,
                                   const struct outbound_response *response, struct error *error)
{
    TEXT_AUTO sentence = { 0 };
    long status = response->status;

    add_sentence(text_string(&response->body), response->body.length, &sentence);
    if (status == 401 || (status == 403 && sentence.length > 0))
        return explain_refusal(remote, status, text_string(&sentence), error);
    if (sentence.length == 0)
        return error_set(error, ERROR_UPSTREAM,
                         "%.200s is not an opsbrain server, or a proxy is in front of it: it "
                         "answered with status %ld; name the server in OPSBRAIN_URL",
                         remote->login.url, status);
    return error_set(error, status == 429 || status == 503 ? ERROR_BUSY : ERROR_INVALID, "%s",
                     text_string(&sentence));
}

static CHECKED bool explain(const struct remote *remote, const struct outbound_response *response,
                            struct error *error)
{
    struct error why = *error;

    if (response->failure == FAILURE_CANCELLED)
        return error_set(error, ERROR_CANCELLED, "interrupted");
    if (response->status >= 300)
        return explain_status(remote, response, error);
    if (response->failure == FAILURE_CONNECT_REFUSED || response->failure == FAILURE_CONNECT_TIMEOUT
        || response->failure == FAILURE_DNS)
        return error_set(error, ERROR_UPSTREAM,
                         "no server answers at %.200s: start one with opsbrain serve, or name "
                         "another in OPSBRAIN_URL or with opsbrain login URL",
                         remote->login.url);
    if (response->failure == FAILURE_RESET)
        return error_set(
            error, ERROR_UPSTREAM,
            "%.200s ended the connection without a complete answer: try again if it was "
            "restarted; if it uses TLS, its address must begin with https://",
            remote->login.url);
    return error_set(error, ERROR_UPSTREAM, "%s", why.message);
}

/* ---- Requests ---- */

static CHECKED bool perform(const struct remote *remote, struct outbound_request *request,
                            struct arrival *arrival, struct error *error)
{
    struct outbound_response response;
    bool done;

    request->bearer = remote->login.key[0] != '\0' ? remote->login.key : NULL;
    request->connect_timeout_ms = CONNECT_TIMEOUT_MS;
    request->total_timeout_ms = TOTAL_TIMEOUT_MS;
    request->idle_timeout_ms = IDLE_TIMEOUT_MS;
    request->on_bytes = receive_bytes;
    request->cancelled = is_cancelled;
    request->context = arrival;
    arrival->response = &response;
    done = outbound_perform(request, &response, error) || explain(remote, &response, error);
    arrival->response = NULL;
    outbound_response_finish(&response);
    return done;
}

static void arrival_finish(struct arrival *arrival)
{
    event_stream_finish(&arrival->events);
    text_finish(&arrival->body);
    json_decref(arrival->message);
}

static CHECKED bool read_result(const struct remote *remote, const struct arrival *arrival,
                                json_t **result, struct error *error)
{
    json_t *found = json_object_get(arrival->message, "result");
    const json_t *problem = json_object_get(arrival->message, "error");
    const char *reason = json_get_text(problem, "message", "the server gave no reason");
    TEXT_AUTO sentence = { 0 };

    if (json_is_object(found)) {
        *result = json_incref(found);
        return true;
    }
    if (problem == NULL)
        return error_set(error, ERROR_UPSTREAM,
                         "%.200s did not complete its answer, or is not an opsbrain server: try "
                         "again; long-running work is a job, which continues",
                         remote->login.url);
    text_add_printable(&sentence, reason, strlen(reason), 400);
    return error_set(error, ERROR_INVALID, "%s", text_string(&sentence));
}

/* Lists the protocol's headers, and then as many of the request's own headers as fit. */
static void list_headers(const struct remote_request *request, struct text lines[2],
                         const char *out[HEADERS_MAX])
{
    size_t count = 0;

    out[count++] = "MCP-Protocol-Version: " VERSION;
    remote_add_header(&lines[0], "Mcp-Method", request->method);
    out[count++] = text_string(&lines[0]);
    if (request->name != NULL) {
        remote_add_header(&lines[1], "Mcp-Name", request->name);
        out[count++] = text_string(&lines[1]);
    }
    for (size_t i = 0;
         request->headers != NULL && request->headers[i] != NULL && count < HEADERS_MAX - 1; i++)
        out[count++] = request->headers[i];
    out[count] = NULL;
}

bool remote_ask(const struct remote *remote, const struct remote_request *request, json_t **result,
                struct error *error)
{
    struct arrival arrival = { .remote = remote, .request = request };
    FREE_AUTO char *body = write_request(remote, request);
    struct text lines[2] = { 0 };
    const char *headers[HEADERS_MAX];
    TEXT_AUTO url = { 0 };
    struct outbound_request outgoing = { .body = body,
                                         .body_length = strlen(body),
                                         .accept = "application/json, text/event-stream",
                                         .headers = headers };
    bool done;

    /* makes all tools available, not only those that the server lists for agents */
    text_addf(&url, "%s/mcp?tools=all", remote->login.url);
    outgoing.url = text_string(&url);
    list_headers(request, lines, headers);
    done = perform(remote, &outgoing, &arrival, error);
    if (done && arrival.body.length > 0)
        handle_message(&arrival, arrival.body.data, arrival.body.length);
    done = done && read_result(remote, &arrival, result, error);
    arrival_finish(&arrival);
    text_finish(&lines[0]);
    text_finish(&lines[1]);
    return done;
}

bool remote_upload(const struct remote *remote, const char *path, const struct text *bytes,
                   json_t **answer, struct error *error)
{
    struct remote_request none = { 0 };
    struct arrival arrival = { .remote = remote, .request = &none };
    TEXT_AUTO url = { 0 };
    struct outbound_request outgoing = { .body = text_string(bytes), .body_length = bytes->length };
    bool done;

    text_addf(&url, "%s%s", remote->login.url, path);
    outgoing.url = text_string(&url);
    done = perform(remote, &outgoing, &arrival, error);
    if (done && !json_parse(text_string(&arrival.body), arrival.body.length, answer, error))
        done =
            error_set(error, ERROR_UPSTREAM, "%.200s is not an opsbrain server", remote->login.url);
    arrival_finish(&arrival);
    return done;
}
