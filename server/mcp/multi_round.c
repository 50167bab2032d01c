/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/multi_round.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/http/exchange.h"
#include "server/mcp/input_request.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/methods.h"
#include "server/mcp/protocol.h"
#include "server/mcp/request_state.h"
#include "store/ledger/request_nonces.h"

#define RESULT_STORED_BYTES_MAX (64 * 1024)
/* How long a repeated request waits for the earlier one's result. */
#define REPEAT_PATIENCE_MS 3000

struct multi_round {
    char nonce[ID_SIZE]; /* "": none yet (multi_round_begin makes one) */
    char digest[DIGEST_TEXT_SIZE];
    json_t *given;   /* answers from this round and from earlier rounds, by key */
    json_t *used;    /* the given answers to questions that the call has asked */
    json_t *open;    /* the questions still to be answered, as MCP's InputRequests; NULL: none */
    json_t *missing; /* capabilities that the client lacks; NULL: none */
};

void multi_round_free(struct multi_round *multi_round)
{
    if (multi_round == NULL)
        return;
    json_decref(multi_round->given);
    json_decref(multi_round->used);
    json_decref(multi_round->open);
    json_decref(multi_round->missing);
    free(multi_round);
}

/* ---- What the client sent ---- */

static void create(struct rpc *rpc, const char *name)
{
    struct multi_round *multi_round = memory_zeroed(1, sizeof *multi_round);

    multi_round->given = json_object();
    multi_round->used = json_object();
    request_state_digest(rpc->name, name, json_object_get(rpc->params, "arguments"),
                         multi_round->digest);
    rpc->multi_round = multi_round;
}

static bool open_state(struct rpc *rpc, const json_t *sealed)
{
    struct request_state state;
    struct error error;

    if (!json_is_string(sealed))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.requestState must be a string");
    if (!request_state_open(rpc->server->sealing_key, json_string_value(sealed),
                            rpc->exchange->principal.name, rpc->multi_round->digest, clock_utc_ms(),
                            &state, &error))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "%s", error.message);
    text_copy(rpc->multi_round->nonce, sizeof rpc->multi_round->nonce, state.nonce);
    json_object_update(rpc->multi_round->given, state.answers);
    json_decref(state.answers);
    return true;
}

/* Keeps the answers, except to questions for which the state already has an answer. A client that
 * sends no state has not been asked anything yet: its answers are ignored if the tool changes
 * something, so that nobody can consent before being asked. */
static bool read_responses(struct rpc *rpc, json_t *responses)
{
    bool accepted = rpc->multi_round->nonce[0] != '\0' || rpc->tool == NULL || rpc->tool->read_only;
    const char *key;
    json_t *response;

    if (!json_is_object(responses))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.inputResponses must be an object");
    json_object_foreach(responses, key, response) {
        if (!json_is_object(response))
            return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                            "each member of params.inputResponses must be an object");
        if (accepted && json_object_get(rpc->multi_round->given, key) == NULL)
            json_object_set(rpc->multi_round->given, key, response);
    }
    return true;
}

bool multi_round_read(struct rpc *rpc, const char *name)
{
    json_t *state, *responses;

    if (rpc->era != ERA_MODERN)
        return true;
    state = json_object_get(rpc->params, "requestState");
    responses = json_object_get(rpc->params, "inputResponses");
    if (state == NULL && responses == NULL)
        return true;
    create(rpc, name);
    return (state == NULL || open_state(rpc, state))
           && (responses == NULL || read_responses(rpc, responses));
}

bool multi_round_resumed(const struct rpc *rpc)
{
    return multi_round_nonce(rpc) != NULL;
}

const char *multi_round_nonce(const struct rpc *rpc)
{
    return rpc->multi_round != NULL && rpc->multi_round->nonce[0] != '\0' ? rpc->multi_round->nonce
                                                                          : NULL;
}

/* ---- Asking ---- */

static const char *name_of(const struct rpc *rpc)
{
    return json_get_text(rpc->params, rpc->method->named_by, "");
}

const char *multi_round_begin(struct rpc *rpc)
{
    if (rpc->multi_round == NULL)
        create(rpc, name_of(rpc));
    if (rpc->multi_round->nonce[0] == '\0')
        random_id("rnd", rpc->multi_round->nonce);
    return rpc->multi_round->nonce;
}

static CHECKED bool check_capabilities(struct rpc *rpc, const struct question *questions,
                                       size_t count, struct error *error)
{
    FREE_AUTO char *shown = NULL;

    json_decref(rpc->multi_round->missing);
    rpc->multi_round->missing = input_request_missing(
        json_object_get(rpc_meta(rpc), MCP_META_CAPABILITIES), questions, count);
    if (rpc->multi_round->missing == NULL)
        return true;
    shown = json_write(rpc->multi_round->missing);
    return error_set(error, ERROR_UNSUPPORTED, "the client must declare the capabilities %.200s",
                     shown);
}

/* Adds the question to the open questions. Always fails, with INPUT_REQUIRED. */
static CHECKED bool add_question(struct multi_round *multi_round, const struct question *question,
                                 struct error *error)
{
    json_auto_t *request = input_request_requests(question, 1);

    if (multi_round->open == NULL)
        multi_round->open = json_object();
    json_object_update(multi_round->open, request);
    return error_set(error, ERROR_INPUT_REQUIRED, "the client must answer %s first",
                     question->method);
}

bool multi_round_ask(struct rpc *rpc, const struct question *questions, size_t count,
                     json_t **answers, struct error *error)
{
    json_auto_t *found = json_object();
    bool complete = true;

    if (rpc->multi_round == NULL)
        create(rpc, name_of(rpc));
    if (!check_capabilities(rpc, questions, count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *key = questions[i].key;
        json_t *answer = json_object_get(rpc->multi_round->given, key);

        if (answer == NULL) {
            complete = add_question(rpc->multi_round, &questions[i], error);
            continue;
        }
        if (!input_request_check(&questions[i], answer, error))
            return false;
        json_object_set(found, key, answer);
        json_object_set(rpc->multi_round->used, key, answer);
    }
    if (complete)
        *answers = json_incref(found);
    return complete;
}

/* ---- Answering ---- */

static void add_member(struct text *out, const char *name, const json_t *value)
{
    FREE_AUTO char *written = json_write(value);

    text_addf(out, "\"%s\":", name);
    text_add(out, written);
}

static CHECKED bool seal(struct rpc *rpc, char **out, struct error *error)
{
    struct multi_round *multi_round = rpc->multi_round;
    struct request_state state = { .expires_ms = clock_utc_ms() + REQUEST_STATE_MS,
                                   .answers = multi_round->used };

    text_copy(state.nonce, sizeof state.nonce, multi_round_begin(rpc));
    text_copy(state.principal, sizeof state.principal, rpc->exchange->principal.name);
    text_copy(state.digest, sizeof state.digest, multi_round->digest);
    return request_state_seal(rpc->server->sealing_key, &state, out, error);
}

static bool answer_with_questions(struct rpc *rpc)
{
    FREE_AUTO char *sealed = NULL;
    struct error error;

    if (!seal(rpc, &sealed, &error)) {
        rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "%s", error.message);
        return true;
    }
    rpc->result_type = "input_required";
    add_member(&rpc->result, "inputRequests", rpc->multi_round->open);
    text_add(&rpc->result, ",\"requestState\":");
    json_add_string(&rpc->result, sealed, strlen(sealed));
    return true;
}

bool multi_round_answer(struct rpc *rpc, const struct error *error)
{
    if (rpc->multi_round == NULL)
        return false;
    if (error->kind == ERROR_INPUT_REQUIRED && rpc->multi_round->open != NULL)
        return answer_with_questions(rpc);
    if (error->kind != ERROR_UNSUPPORTED || rpc->multi_round->missing == NULL)
        return false;
    rpc->error_data = json_pack("{s:O}", "requiredCapabilities", rpc->multi_round->missing);
    rpc_fail(rpc, RPC_MISSING_CAPABILITY, 400, "%s", error->message);
    return true;
}

/* ---- Carried out once ---- */

/* Finds the stored request that used the nonce. If that request has no result yet, it might still
 * be running: waits for the result, at most REPEAT_PATIENCE_MS. */
static bool find_answered(struct rpc *rpc, struct request_nonce *out, bool *found)
{
    static const struct timespec pause = { .tv_nsec = 20 * 1000000 };
    int64_t end_ns = clock_monotonic_ns() + REPEAT_PATIENCE_MS * INT64_C(1000000);
    struct error error;

    do {
        if (!request_nonce_find(rpc->server->services->store, rpc->multi_round->nonce, out, found,
                                &error))
            return rpc_fail_fault(rpc, "finding an answered request", &error);
        if (!*found || out->result != NULL)
            return true;
        nanosleep(&pause, NULL);
    } while (clock_monotonic_ns() < end_ns);
    return true;
}

static void refuse_repeated(struct rpc *rpc, const struct request_nonce *answered)
{
    char when[CLOCK_TEXT_SIZE];
    struct error error;

    error_set(&error, ERROR_CONFLICT,
              "this was already carried out, at %s as request %s, and is not repeated; its "
              "answer is not stored: audit_list shows the outcome",
              clock_format_utc(answered->created_ms, when), answered->request_id);
    if (rpc->tool != NULL)
        method_tools_write_error(rpc, &error);
    else
        rpc_fail_with(rpc, &error);
}

bool multi_round_repeat(struct rpc *rpc)
{
    struct request_nonce answered = { 0 };
    bool found;

    if (multi_round_nonce(rpc) == NULL)
        return false;
    if (!find_answered(rpc, &answered, &found))
        return true;
    if (!found)
        return false;
    if (answered.result != NULL)
        method_tasks_repeat(rpc, answered.result);
    else
        refuse_repeated(rpc, &answered);
    free(answered.result);
    return true;
}

void multi_round_store_answer(struct rpc *rpc, const struct change *change)
{
    struct error error;

    if (change->nonce == NULL || !change->written || rpc->result.length > RESULT_STORED_BYTES_MAX)
        return;
    if (!request_nonce_answer(rpc->server->services->store, change->nonce,
                              text_string(&rpc->result), &error))
        log_warning("%s: the answer is not stored: %s", rpc->exchange->id, error.message);
}
