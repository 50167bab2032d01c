/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/url_elicitation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/elicitation.h"
#include "server/http/exchange.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/multi_round.h"
#include "server/mcp/protocol.h"
#include "server/mcp/request_state.h"
#include "server/mcp/rpc.h"
#include "server/streams/notifier.h"
#include "server/streams/stream.h"
#include "store/ledger/page_questions.h"

#define CHECK_MS 200 /* time between two checks for the answer */

/* One question, as it is sent to the client. */
struct sent_question {
    char id[ID_SIZE]; /* id of the question's page; "": it has no page, and is sent unchanged */
    json_t *params;
};

/* All questions that a call asks at once. */
struct inquiry {
    struct rpc *rpc;
    const struct question *questions;
    size_t count;
    struct sent_question *sent; /* one per question */
};

static json_t *capabilities_of(const struct rpc *rpc)
{
    if (rpc->era == ERA_MODERN)
        return json_deep_copy(json_object_get(rpc_meta(rpc), MCP_META_CAPABILITIES));
    return rpc->session != NULL ? json_loads(rpc->session->capabilities, 0, NULL) : NULL;
}

bool url_elicitation_is_needed(const struct rpc *rpc)
{
    json_auto_t *capabilities = capabilities_of(rpc);
    const json_t *elicitation = json_object_get(capabilities, "elicitation");

    return rpc->base_url[0] != '\0' && json_is_object(json_object_get(elicitation, "url"))
           && json_object_get(elicitation, "form") == NULL;
}

/* ---- Pages ---- */

/* Makes the id of a question's page. In 2026-07-28, it is the same in every round of a request. */
static void make_id(struct rpc *rpc, const char *key, char out[ID_SIZE])
{
    char digest[DIGEST_TEXT_SIZE];
    TEXT_AUTO words = { 0 };

    if (rpc->era != ERA_MODERN) {
        random_id("ask", out);
        return;
    }
    text_addf(&words, "the page of %s %s", multi_round_begin(rpc), key);
    digest_sha256_text(text_string(&words), words.length, digest);
    snprintf(out, ID_SIZE, "ask_%.32s", digest);
}

static int64_t patience_ms(const struct rpc *rpc)
{
    return rpc->server->settings->ask_timeout_s * 1000;
}

static CHECKED bool store_question(const struct rpc *rpc, const char *id, const json_t *params,
                                   struct error *error)
{
    int64_t now_ms = clock_utc_ms();
    int64_t valid_ms = rpc->era == ERA_MODERN ? REQUEST_STATE_MS : patience_ms(rpc);
    FREE_AUTO char *written = json_write(params);
    struct page_question row = { .params = written,
                                 .asked_ms = now_ms,
                                 .expires_ms = now_ms + valid_ms };

    text_copy(row.id, sizeof row.id, id);
    text_copy(row.principal, sizeof row.principal, rpc->exchange->principal.name);
    text_copy(row.tool, sizeof row.tool, rpc->tool != NULL ? rpc->tool->name : rpc->name);
    text_copy(row.client, sizeof row.client, rpc->client);
    return page_question_add(rpc->server->services->store, &row, error);
}

/* Notifies open pages that a question is new or has changed. */
static void announce(const struct rpc *rpc, const char *id)
{
    notifier_resource_changed(rpc->server->notifier, id);
}

/* The parameters that make the client open the question's page. In 2025-11-25, they contain an id,
 * which notifications/elicitation/complete repeats. */
static json_t *link_to(const struct rpc *rpc, const char *id, const json_t *params)
{
    TEXT_AUTO url = { 0 };

    text_addf(&url, "%s/ask/%s", rpc->base_url, id);
    return json_pack("{s:s, s:s, s:s, s:s*}", "mode", "url", "message",
                     json_get_text(params, "message", ""), "url", text_string(&url),
                     "elicitationId", rpc->era == ERA_MODERN ? NULL : id);
}

static CHECKED bool prepare(const struct inquiry *inquiry, size_t i, struct error *error)
{
    const struct question *question = &inquiry->questions[i];
    struct sent_question *sent = &inquiry->sent[i];

    if (strcmp(question->method, "elicitation/create") != 0
        || elicitation_is_by_url(question->params)) {
        sent->params = json_incref(question->params);
        return true;
    }
    make_id(inquiry->rpc, question->key, sent->id);
    sent->params = link_to(inquiry->rpc, sent->id, question->params);
    if (!store_question(inquiry->rpc, sent->id, question->params, error))
        return false;
    announce(inquiry->rpc, sent->id);
    return true;
}

/* ---- Answers ---- */

/* Ends the question. *question becomes its final state, unless the store fails. */
static void end(const struct rpc *rpc, const char *id, struct page_question *question)
{
    struct page_question last;
    struct error error;

    if (page_question_end(rpc->server->services->store, id, clock_utc_ms(), &last, &error)) {
        page_question_finish(question);
        *question = last;
    } else
        log_warning("%s: the question %s stays open: %s", rpc->exchange->id, id, error.message);
    announce(rpc, id);
}

static void drop(const struct rpc *rpc, const char *id)
{
    struct page_question ignored = { 0 };

    end(rpc, id, &ignored);
    page_question_finish(&ignored);
}

/* Whether the wait is over: the question was answered or has expired, the call was cancelled, or
 * the user took too long. */
static bool is_over(struct rpc *rpc, const struct page_question *question, int64_t end_ms)
{
    int64_t now_ms = clock_utc_ms();

    return question->answer != NULL || now_ms >= question->expires_ms || now_ms >= end_ms
           || rpc_is_cancelled(rpc);
}

/* Waits for the answer until is_over(). *out: the question as it was read last. */
static CHECKED bool wait(struct rpc *rpc, const char *id, struct page_question *out,
                         struct error *error)
{
    static const struct timespec pause = { .tv_nsec = CHECK_MS * 1000000L };
    struct store *store = rpc->server->services->store;
    int64_t end_ms = clock_utc_ms() + patience_ms(rpc);

    for (;;) {
        if (!page_question_find(store, id, out, error))
            return false;
        if (is_over(rpc, out, end_ms))
            return true;
        page_question_finish(out);
        nanosleep(&pause, NULL);
    }
}

/* Always fails, with an error that says why there is no answer. */
static CHECKED bool explain(struct rpc *rpc, const struct page_question *question,
                            struct error *error)
{
    if (rpc_is_cancelled(rpc))
        return error_set(error, ERROR_CANCELLED, "the call was cancelled before the user answered");
    return error_set(error, ERROR_TIMEOUT,
                     "nobody answered on the page %.200s/ask/%s within %lld s (setting "
                     "ask_timeout): call again when the user is available",
                     rpc->base_url, question->id, (long long)patience_ms(rpc) / 1000);
}

static void report_completion(const struct rpc *rpc, const char *id)
{
    json_auto_t *message =
        json_pack("{s:s, s:s, s:{s:s}}", "jsonrpc", "2.0", "method",
                  "notifications/elicitation/complete", "params", "elicitationId", id);
    FREE_AUTO char *json = json_write(message);

    if (rpc->era != ERA_MODERN && rpc->stream != NULL)
        stream_push(rpc->stream, json, strlen(json));
    announce(rpc, id);
}

/* Waits for the answer. In 2026-07-28, if the call is cancelled, for example because the client
 * disconnected, the question stays open: the client can come back for the answer. */
static CHECKED bool await_answer(struct rpc *rpc, const char *id, json_t **out, struct error *error)
{
    struct page_question question;
    bool answered;

    if (!wait(rpc, id, &question, error))
        return false;
    if (question.answer == NULL && (!rpc_is_cancelled(rpc) || rpc->era != ERA_MODERN))
        end(rpc, id, &question); /* also reads an answer that came after the last check */
    if (question.answer == NULL)
        answered = explain(rpc, &question, error);
    else
        answered = json_parse(question.answer, strlen(question.answer), out, error);
    page_question_finish(&question);
    if (answered)
        report_completion(rpc, id);
    return answered;
}

/* `reply` comes from the client: it is the answer itself or, if the question has a page, says
 * whether the user agreed to open the page. */
static CHECKED bool add_answer(const struct inquiry *inquiry, size_t i, json_t *reply,
                               json_t *answers, struct error *error)
{
    const char *id = inquiry->sent[i].id;
    json_t *answer = NULL;

    if (id[0] == '\0') {
        answer = json_incref(reply);
    } else if (strcmp(json_get_text(reply, "action", ""), "accept") != 0) {
        drop(inquiry->rpc, id);
        answer = json_incref(reply);
    } else if (!await_answer(inquiry->rpc, id, &answer, error)) {
        return false;
    }
    json_object_set_new(answers, inquiry->questions[i].key, answer);
    return true;
}

static CHECKED bool collect(const struct inquiry *inquiry, const json_t *replies, json_t **out,
                            struct error *error)
{
    json_auto_t *answers = json_object();

    for (size_t i = 0; i < inquiry->count; i++)
        if (!add_answer(inquiry, i, json_object_get(replies, inquiry->questions[i].key), answers,
                        error))
            return false;
    *out = json_incref(answers);
    return true;
}

/* ---- Asking ---- */

static CHECKED bool ask_client(const struct inquiry *inquiry, url_elicitation_asks *ask,
                               json_t **replies, struct error *error)
{
    FREE_AUTO struct question *shown = memory_zeroed(inquiry->count, sizeof *shown);

    for (size_t i = 0; i < inquiry->count; i++)
        shown[i] = (struct question){ inquiry->questions[i].key, inquiry->questions[i].method,
                                      inquiry->sent[i].params };
    if (ask(inquiry->rpc, shown, inquiry->count, replies, error))
        return true;
    for (size_t i = 0; i < inquiry->count && error->kind != ERROR_INPUT_REQUIRED; i++)
        if (inquiry->sent[i].id[0] != '\0')
            drop(inquiry->rpc, inquiry->sent[i].id);
    return false;
}

bool url_elicitation_ask(struct rpc *rpc, url_elicitation_asks *ask,
                         const struct question *questions, size_t count, json_t **answers,
                         struct error *error)
{
    struct inquiry inquiry = { .rpc = rpc, .questions = questions, .count = count };
    json_auto_t *replies = NULL;
    bool done = true;

    inquiry.sent = memory_zeroed(count, sizeof *inquiry.sent);
    for (size_t i = 0; i < count && done; i++)
        done = prepare(&inquiry, i, error);
    done = done && ask_client(&inquiry, ask, &replies, error)
           && collect(&inquiry, replies, answers, error);
    for (size_t i = 0; i < count; i++)
        json_decref(inquiry.sent[i].params);
    free(inquiry.sent);
    return done;
}
