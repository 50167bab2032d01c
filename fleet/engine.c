/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/formats/promtext.h"
#include "base/json/json.h"
#include "fleet/probe.h"

/* If the caller sets no time limit, all requests of a probe must be answered within this time. It
 * does not apply to the requests that answers_by_name sends. */
#define ALL_WITHIN_MS 15000
/* How long a server that has to load the model can take to answer. */
#define FIRST_ANSWER_MS 30000

/* ---- The models list ---- */

/* Returns the context length, whichever name the server uses for it; 0 if it is not reported. */
static int64_t context_of(const json_t *row)
{
    static const char *const names[] = { "max_model_len", "context_length", "max_context_length",
                                         "context_window" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_get_integer(row, names[i], 0) > 0)
            return json_get_integer(row, names[i], 0);
    return 0;
}

static void read_models(struct probe *probe, const json_t *list)
{
    static const char *const of_model[] = { "root", NULL };
    static const char *const of_meta[] = { "n_vocab", "n_ctx_train", "n_params",
                                           "size",    "n_embd",      NULL };
    const json_t *row;
    size_t i;

    json_array_foreach(list, i, row) {
        const char *id = json_get_text(row, "id", "");

        probe_add_model(probe, id, context_of(row));
        if (i == 0)
            text_copy(probe->owner, sizeof probe->owner, json_get_text(row, "owned_by", ""));
        if (strcmp(id, probe_model(probe)) == 0) {
            probe_note_members(probe, row, of_model);
            probe_note_members(probe, json_object_get(row, "meta"), of_meta);
        }
    }
}

/* Also returns true, but with *error set, if the server refuses the request (404, 400 or a similar
 * status), because the engine may list its models at a different path. */
static CHECKED bool ask_models(struct probe *probe, struct error *error)
{
    struct engine_report *report = probe->report;
    json_auto_t *answer = NULL;
    const json_t *list;
    struct error problem;
    struct small_request ask = probe->ask;

    if (probe->is_timed)
        ask.each_within_ms = INT64_MAX; /* only the caller's limit counts */
    if (!small_request_json(&ask, "/v1/models", NULL, &answer, &report->failure, &problem)) {
        bool may_continue =
            report->failure == FAILURE_NOT_FOUND || report->failure == FAILURE_REFUSED_400;

        error_set(error, ERROR_UPSTREAM, "the models list cannot be read: %s%s", problem.message,
                  may_continue || report->failure == FAILURE_SERVER_ERROR
                      ? "; if the server has no such list, register the deployment with its "
                        "\"model\""
                      : "");
        return may_continue;
    }
    /* Together AI answers with a bare list */
    list = json_is_array(answer) ? answer : json_object_get(answer, "data");
    if (!json_is_array(list)) {
        report->failure = FAILURE_PROTOCOL;
        return error_set(error, ERROR_UPSTREAM,
                         "the models list cannot be read: the answer from %s/v1/models has no list "
                         "\"data\" (%s); is it an OpenAI-compatible server?",
                         probe->ask.endpoint->url, failure_name(FAILURE_PROTOCOL));
    }
    read_models(probe, list);
    return true;
}

/* ---- A model that is not listed ---- */

static bool completes(const struct small_request *ask, const char *path, const json_t *question)
{
    json_auto_t *answer = NULL;
    char *body = json_write(question);
    enum failure failure;
    struct error ignored;
    bool answers;

    answers = small_request_json(ask, path, body, &answer, &failure, &ignored);
    free(body);
    return answers && json_array_size(json_object_get(answer, "choices")) > 0;
}

/* Requests one token from the deployment's model. Some servers list nothing, or have no list, and
 * load a model when a request names it. */
static bool answers_by_name(struct probe *probe)
{
    struct small_request ask =
        probe->is_timed ? probe->ask : small_request_begin(probe->ask.endpoint, FIRST_ANSWER_MS);
    const char *model = probe->ask.endpoint->model;
    json_auto_t *chat = json_pack("{s:s, s:i, s:[{s:s, s:s}]}", "model", model, "max_tokens", 1,
                                  "messages", "role", "user", "content", "word");
    json_auto_t *completion =
        json_pack("{s:s, s:i, s:s}", "model", model, "max_tokens", 1, "prompt", "word");

    ask.each_within_ms = FIRST_ANSWER_MS;
    return model[0] != '\0'
           && (completes(&ask, "/v1/chat/completions", chat)
               || completes(&ask, "/v1/completions", completion));
}

/* Returns true if the server answered, even if only with an error, unless it is overloaded
 * (429, 503). */
static bool has_answered(enum failure failure)
{
    return failure == FAILURE_NONE || failure == FAILURE_REFUSED_400 || failure == FAILURE_AUTH
           || failure == FAILURE_NOT_FOUND || failure == FAILURE_SERVER_ERROR
           || failure == FAILURE_PROTOCOL;
}

/* ---- Further capabilities ---- */

static bool count_sample(void *context, const struct promtext_sample *sample)
{
    (void)sample;
    ++*(size_t *)context;
    return true;
}

/* A web page is not a metrics page, even if one of its lines can be parsed. */
static void ask_metrics(struct probe *probe)
{
    size_t samples = 0, skipped = 0;
    enum failure failure;
    struct error error;

    if (!small_request_text(&probe->ask, "/metrics", &probe->metrics, &failure, &error))
        return;
    promtext_read(text_string(&probe->metrics), probe->metrics.length, count_sample, &samples,
                  &skipped);
    probe->report->has_metrics = samples > skipped;
    if (!probe->report->has_metrics)
        text_clear(&probe->metrics);
}

/* vLLM and SGLang expect the text in `prompt`, llama.cpp in `content`; all three answer with
 * `tokens`. */
static void ask_tokenize(struct probe *probe)
{
    json_auto_t *question = json_pack("{s:s, s:s, s:s}", "model", probe_model(probe), "prompt",
                                      "word", "content", "word");
    json_auto_t *answer = NULL;
    char *body = json_write(question);
    enum failure failure;
    struct error error;

    if (small_request_json(&probe->ask, "/tokenize", body, &answer, &failure, &error))
        probe->report->has_tokenize = json_is_array(json_object_get(answer, "tokens"));
    free(body);
}

/* Uses the engine that the models list names or, if it names none, the first one that recognizes
 * the server. */
static void ask_engine(struct probe *probe)
{
    const struct engine *found = NULL;

    for (size_t i = 0; i < engine_count && found == NULL; i++)
        if (engines[i].owner != NULL && strcmp(engines[i].owner, probe->owner) == 0) {
            found = &engines[i];
            found->read(probe);
        }
    for (size_t i = 0; i < engine_count && found == NULL; i++)
        if (engines[i].read(probe))
            found = &engines[i];
    text_copy(probe->report->engine, sizeof probe->report->engine,
              found != NULL ? found->name : "openai-compatible");
}

/* Writes the details as JSON; removes members from the end until they fit. */
static void write_details(struct probe *probe)
{
    struct engine_report *report = probe->report;

    json_object_set_new(probe->details, "metrics", json_boolean(report->has_metrics));
    json_object_set_new(probe->details, "tokenize", json_boolean(report->has_tokenize));
    for (;;) {
        char *written = json_write(probe->details);
        bool fits = strlen(written) < sizeof report->details;
        const char *last = NULL, *name;
        json_t *value;

        if (fits)
            text_copy(report->details, sizeof report->details, written);
        free(written);
        if (fits)
            return;
        json_object_foreach(probe->details, name, value)
            last = name;
        json_object_del(probe->details, last);
    }
}

static CHECKED bool probe_all(struct probe *probe, struct error *error)
{
    if (!ask_models(probe, error)) {
        if (!has_answered(probe->report->failure) || !answers_by_name(probe))
            return false;
        probe_add_model(probe, probe->ask.endpoint->model, 0);
    }
    ask_metrics(probe);
    ask_engine(probe);
    /* If the server has no list, assume that it has the deployment's model. If the server's list
     * is empty, first check that the deployment's model answers. */
    if (probe->report->model_count == 0
        && (probe->report->failure != FAILURE_NONE || answers_by_name(probe)))
        probe_add_model(probe, probe->ask.endpoint->model, 0);
    if (probe->report->model_count == 0)
        return probe->report->failure != FAILURE_NONE
                   ? false
                   : error_set(error, ERROR_UPSTREAM,
                               "%s lists no models: load one, or register the deployment with a "
                               "\"model\" that answers",
                               probe->ask.endpoint->url);
    probe->report->failure = FAILURE_NONE;
    ask_tokenize(probe);
    write_details(probe);
    return true;
}

bool engine_probe(const struct endpoint *endpoint, int64_t within_ms, struct engine_report *out,
                  struct error *error)
{
    struct engine_report *report = memory_zeroed(1, sizeof *report);
    struct probe probe = { .ask = small_request_begin(endpoint,
                                                      within_ms > 0 ? within_ms : ALL_WITHIN_MS),
                           .is_timed = within_ms > 0,
                           .details = json_object(),
                           .report = report };
    bool ok = probe_all(&probe, error);

    if (ok)
        *out = *report;
    else
        out->failure = report->failure;
    text_finish(&probe.metrics);
    json_decref(probe.details);
    free(report);
    return ok;
}

/* ---- Facts about a deployment's model ---- */

static CHECKED bool refuse_unlisted(const struct engine_report *report,
                                    const struct endpoint *endpoint, struct error *error)
{
    static const size_t named = 5;
    TEXT_AUTO names = { 0 };

    for (size_t i = 0; i < report->model_count && i < named; i++)
        text_addf(&names, "%s\"%.60s\"", i > 0 ? ", " : "", report->models[i].id);
    if (report->model_count > named)
        text_addf(&names, " and %zu more", report->model_count - named);
    return error_set(error, ERROR_NOT_FOUND,
                     "the server is up, but has no model \"%.80s\" (%s); it serves %s: choose one "
                     "of these with deployment_update",
                     endpoint->model, failure_name(FAILURE_NOT_FOUND), text_string(&names));
}

/* Returns the engine that was recognized. If none was, returns the one that the deployment was
 * registered with, or "openai-compatible" if it was registered without one. */
static const char *engine_name(const struct engine_report *report,
                               const struct deployment *deployment)
{
    if (deployment->engine[0] != '\0' && strcmp(report->engine, "openai-compatible") == 0)
        return deployment->engine;
    return report->engine;
}

static CHECKED bool gather_facts(const struct deployment *deployment, struct endpoint *endpoint,
                                 const struct engine_report *report, struct model_facts *out,
                                 struct error *error)
{
    const struct engine_model *model = engine_model_find(report, endpoint->model);
    if (model == NULL)
        return refuse_unlisted(report, endpoint, error);
    if (endpoint->model[0] == '\0')
        text_copy(endpoint->model, sizeof endpoint->model, model->id);
    *out = (struct model_facts){ .deployment_id = deployment->id,
                                 .revision = deployment->revision,
                                 .observed_ms = clock_utc_ms(),
                                 .context_tokens = model->context_tokens };
    text_copy(out->model, sizeof out->model, endpoint->model);
    text_copy(out->engine, sizeof out->engine, engine_name(report, deployment));
    text_copy(out->engine_version, sizeof out->engine_version, report->version);
    text_copy(out->details, sizeof out->details, report->details);
    return true;
}

bool engine_facts(const struct deployment *deployment, struct endpoint *endpoint, int64_t within_ms,
                  struct model_facts *out, enum failure *failure, struct error *error)
{
    struct engine_report *report = memory_zeroed(1, sizeof *report);
    bool ok = engine_probe(endpoint, within_ms, report, error);

    *failure = report->failure;
    ok = ok && gather_facts(deployment, endpoint, report, out, error);

    free(report);
    return ok;
}
