/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/client_request.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/thread.h"
#include "base/json/json.h"
#include "server/mcp/input_request.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/multi_round.h"
#include "server/mcp/rpc.h"
#include "server/mcp/url_elicitation.h"
#include "server/streams/session.h"
#include "server/streams/stream.h"

#define CHECK_MS 200 /* time between two checks whether the call was cancelled */
#define REASON_BYTES 200

/* One request to the client. */
struct client_request {
    /* the next request in the session's list; the session's lock protects `next`, `inquiry` and
     * `response` */
    struct client_request *next;
    struct inquiry *inquiry;
    json_t *response;         /* our copy of the client's message; NULL: none yet */
    char id[ID_SIZE];         /* unguessable, so that only the addressed client can answer */
    char quoted[ID_SIZE + 2]; /* the id as JSON text */
};

/* All questions that a call asks at once. */
struct inquiry {
    struct rpc *rpc;
    const struct question *questions;
    size_t count;
    size_t unanswered; /* how many questions have no answer yet; the session's lock protects it */
    pthread_cond_t answered;
    struct client_request *requests; /* one per question */
};

/* ---- Sending ---- */

static bool push(const struct inquiry *inquiry, const json_t *message)
{
    struct stream *stream = inquiry->rpc->stream;
    FREE_AUTO char *json = json_write(message);

    return stream_push(stream, json, strlen(json));
}

static CHECKED bool send_all(const struct inquiry *inquiry, struct error *error)
{
    for (size_t i = 0; i < inquiry->count; i++) {
        const struct question *question = &inquiry->questions[i];
        json_auto_t *message =
            json_pack("{s:s, s:s, s:s, s:o}", "jsonrpc", "2.0", "id", inquiry->requests[i].id,
                      "method", question->method, "params", input_request_params(question));

        if (!push(inquiry, message))
            return error_set(error, ERROR_CANCELLED,
                             "the client disconnected before %s could be sent to it",
                             question->method);
    }
    return true;
}

/* Notifies the client that answers to the open questions are no longer accepted. */
static void withdraw(const struct inquiry *inquiry, const char *reason)
{
    for (size_t i = 0; i < inquiry->count; i++) {
        json_auto_t *message = json_pack("{s:s, s:s, s:{s:s, s:s}}", "jsonrpc", "2.0", "method",
                                         "notifications/cancelled", "params", "requestId",
                                         inquiry->requests[i].id, "reason", reason);

        if (inquiry->requests[i].response == NULL)
            push(inquiry, message);
    }
}

/* ---- Waiting ---- */

static void enter(struct inquiry *inquiry)
{
    struct session *session = inquiry->rpc->session;

    thread_condition_init(&inquiry->answered);
    pthread_mutex_lock(&session->lock);
    for (size_t i = 0; i < inquiry->count; i++) {
        struct client_request *request = &inquiry->requests[i];

        request->inquiry = inquiry;
        random_id("ask", request->id);
        snprintf(request->quoted, sizeof request->quoted, "\"%s\"", request->id);
        request->next = session->requests;
        session->requests = request;
    }
    pthread_mutex_unlock(&session->lock);
}

static void leave(struct inquiry *inquiry)
{
    struct session *session = inquiry->rpc->session;

    pthread_mutex_lock(&session->lock);
    for (struct client_request **at = &session->requests; *at != NULL;)
        if ((*at)->inquiry == inquiry)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    pthread_mutex_unlock(&session->lock);
}

static void add_ms(struct timespec *time, int64_t ms)
{
    time->tv_sec += ms / 1000;
    time->tv_nsec += ms % 1000 * 1000000;
    if (time->tv_nsec >= 1000000000) {
        time->tv_sec++;
        time->tv_nsec -= 1000000000;
    }
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Waits until all questions are answered, the call is cancelled, or the time is up. */
static CHECKED bool wait(struct inquiry *inquiry, struct error *error)
{
    struct rpc *rpc = inquiry->rpc;
    int64_t patience_s = rpc->server->settings->ask_timeout_s;
    struct timespec now, end;
    bool cancelled, late;

    clock_gettime(CLOCK_MONOTONIC, &now);
    end = now;
    add_ms(&end, patience_s * 1000);
    pthread_mutex_lock(&rpc->session->lock);
    while (inquiry->unanswered > 0 && !rpc_is_cancelled(rpc) && is_before(&now, &end)) {
        add_ms(&now, CHECK_MS);
        pthread_cond_timedwait(&inquiry->answered, &rpc->session->lock, &now);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    late = inquiry->unanswered > 0;
    pthread_mutex_unlock(&rpc->session->lock);
    cancelled = rpc_is_cancelled(rpc);
    if (cancelled)
        return error_set(error, ERROR_CANCELLED,
                         "the call was cancelled before the client answered");
    if (late)
        return error_set(error, ERROR_TIMEOUT,
                         "the client did not answer %s within %lld s (setting ask_timeout): call "
                         "again when the user is available",
                         inquiry->questions[0].method, (long long)patience_s);
    return true;
}

static struct client_request *find_request(struct session *session, const char *quoted)
{
    struct client_request *request = session->requests;

    while (request != NULL && (strcmp(request->quoted, quoted) != 0 || request->response != NULL))
        request = request->next;
    return request;
}

void client_request_handle_response(const struct rpc *rpc)
{
    struct session *session = rpc->session;
    struct client_request *request;

    if (session == NULL || rpc->id == NULL)
        return;
    pthread_mutex_lock(&session->lock);
    request = find_request(session, rpc->id);
    if (request != NULL) {
        request->response = json_deep_copy(rpc->response);
        request->inquiry->unanswered--;
        pthread_cond_signal(&request->inquiry->answered);
    }
    pthread_mutex_unlock(&session->lock);
}

/* ---- The answers ---- */

static CHECKED bool refuse(const struct question *question, const json_t *response,
                           struct error *error)
{
    const char *message =
        json_get_text(json_object_get(response, "error"), "message", "no reason given");
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, message, strlen(message), REASON_BYTES);
    return error_set(error, ERROR_UPSTREAM, "the client answered %s with an error: %s",
                     question->method, text_string(&shown));
}

static CHECKED bool collect(const struct inquiry *inquiry, json_t **answers, struct error *error)
{
    json_auto_t *collected = json_object();

    for (size_t i = 0; i < inquiry->count; i++) {
        const struct question *question = &inquiry->questions[i];
        const json_t *response = inquiry->requests[i].response;
        json_t *result = json_object_get(response, "result");

        if (result == NULL)
            return refuse(question, response, error);
        if (!input_request_check(question, result, error))
            return false;
        json_object_set(collected, question->key, result);
    }
    *answers = json_incref(collected);
    return true;
}

static void inquiry_finish(struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->count; i++)
        json_decref(inquiry->requests[i].response);
    pthread_cond_destroy(&inquiry->answered);
    free(inquiry->requests);
}

static CHECKED bool inquire(struct inquiry *inquiry, json_t **answers, struct error *error)
{
    bool answered;

    inquiry->unanswered = inquiry->count;
    inquiry->requests = memory_zeroed(inquiry->count, sizeof *inquiry->requests);
    enter(inquiry);
    answered = send_all(inquiry, error) && wait(inquiry, error);
    leave(inquiry);
    if (!answered)
        withdraw(inquiry, error->kind == ERROR_TIMEOUT ? "no answer in time" : "the call is over");
    answered = answered && collect(inquiry, answers, error);
    inquiry_finish(inquiry);
    return answered;
}

/* ---- Which clients can be asked ---- */

static CHECKED bool check_capabilities(const struct rpc *rpc, const struct question *questions,
                                       size_t count, struct error *error)
{
    json_auto_t *capabilities = json_loads(rpc->session->capabilities, 0, NULL);
    json_auto_t *missing = input_request_missing(capabilities, questions, count);
    FREE_AUTO char *shown = NULL;

    if (missing == NULL)
        return true;
    shown = json_write(missing);
    return error_set(error, ERROR_UNSUPPORTED,
                     "the client must declare the capabilities %.200s in initialize", shown);
}

static CHECKED bool ask_session(struct rpc *rpc, const struct question *questions, size_t count,
                                json_t **answers, struct error *error)
{
    struct inquiry inquiry = { .rpc = rpc, .questions = questions, .count = count };

    if (rpc->session == NULL)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s can be sent to the client only in a session: begin with initialize",
                         questions[0].method);
    if (!check_capabilities(rpc, questions, count, error))
        return false;
    if (rpc->stream == NULL)
        return error_set(
            error, ERROR_UNSUPPORTED,
            "%s cannot be sent to the client, because this call has no stream of events "
            "(it needs Accept: text/event-stream, and must not be in a batch)",
            questions[0].method);
    return inquire(&inquiry, answers, error);
}

static CHECKED bool ask_client(struct rpc *rpc, const struct question *questions, size_t count,
                               json_t **answers, struct error *error)
{
    return rpc->era == ERA_MODERN ? multi_round_ask(rpc, questions, count, answers, error)
                                  : ask_session(rpc, questions, count, answers, error);
}

bool client_request_ask(struct call *call, const struct question *questions, size_t count,
                        json_t **answers, struct error *error)
{
    struct rpc *rpc = call->host;

    return url_elicitation_is_needed(rpc)
               ? url_elicitation_ask(rpc, ask_client, questions, count, answers, error)
               : ask_client(rpc, questions, count, answers, error);
}
