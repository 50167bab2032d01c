/* SPDX-License-Identifier: Apache-2.0 */
/* Pulls a model into Ollama, loads it, keeps it loaded, and unloads it at the end. */
#include <stdio.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "fleet/machine/machine_watch.h"

#define LONG_MS (6 * INT64_C(3600000))
#define KEEP_INTERVAL_NS (60 * INT64_C(1000000000))
#define UNTIL_UNLOADED (-1) /* as `keep_alive`: the model stays loaded without a time limit */

static const char *model_of(const struct machine_watch *watch)
{
    return json_get_text(watch->record, "model", "");
}

static const char *base_of(const struct machine_watch *watch)
{
    return json_get_text(json_object_get(watch->record, "host"), "ollama", "");
}

struct ollama_pull {
    struct machine_watch *watch;
    char problem[200];
};

/* Reads {"status": "pulling 4c27e0f5b5ad", "completed": 3, "total": 9} or {"error": ...}. */
static void on_line(void *context, const json_t *line)
{
    struct ollama_pull *pull = context;
    int64_t total = json_get_integer(line, "total", 0);
    const char *status = json_get_text(line, "status", "");
    char shown[160];

    text_copy(pull->problem, sizeof pull->problem, json_get_text(line, "error", ""));
    text_copy(shown, sizeof shown, status);
    if (total > 0)
        snprintf(shown, sizeof shown, "%.100s: %lld %%", status,
                 (long long)(json_get_integer(line, "completed", 0) * 100 / total));
    machine_watch_show(pull->watch, NULL, "weights", shown);
}

static bool must_stop_pull(void *context)
{
    return !machine_watch_goes_on(((struct ollama_pull *)context)->watch);
}

static CHECKED bool pull(struct machine_watch *watch, const char *base, struct error *error)
{
    struct ollama_pull progress = { .watch = watch };
    struct machine_http http = machine_watch_http(watch, "", base);
    json_auto_t *body = json_pack("{s:s}", "model", model_of(watch));
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };

    http.timeout_ms = LONG_MS;
    http.on_line = on_line;
    http.stopped = must_stop_pull;
    http.context = &progress;
    machine_watch_show(watch, "starting", "weights", "");
    if (!machine_http_call(&http, "POST", "/api/pull", body, &reply, error))
        return false;
    return progress.problem[0] == '\0'
           || error_set(error, ERROR_UPSTREAM, "Ollama did not pull %s: %s", model_of(watch),
                        progress.problem);
}

static bool has_model(struct machine_watch *watch, const char *base)
{
    const struct machine_http http = machine_watch_http(watch, "", base);
    json_auto_t *body = json_pack("{s:s}", "model", model_of(watch));
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    struct error ignored;

    return machine_http_call(&http, "POST", "/api/show", body, &reply, &ignored);
}

/* Returns how many seconds the model should stay loaded: until the server's time is up, so that
 * Ollama then unloads it even without the watchdog. UNTIL_UNLOADED if the server has no end. */
static int64_t stay_s(const struct machine_watch *watch)
{
    int64_t left_ms = watch->ends_ms - clock_utc_ms();

    if (watch->ends_ms == 0)
        return UNTIL_UNLOADED;
    return left_ms > 0 ? left_ms / 1000 + 1 : 0;
}

/* Sends a request without a prompt, which loads the model and keeps it loaded for `keep_alive_s`
 * seconds, or until it is unloaded (UNTIL_UNLOADED). With 0, the request unloads the model. */
static CHECKED bool load(struct machine_watch *watch, const char *base, int64_t keep_alive_s,
                         struct machine_http_reply *reply, struct error *error)
{
    struct machine_http http = machine_watch_http(watch, "", base);
    json_auto_t *body = json_pack("{s:s, s:I, s:b}", "model", model_of(watch), "keep_alive",
                                  (json_int_t)keep_alive_s, "stream", 0);

    http.timeout_ms = LONG_MS;
    if (keep_alive_s == 0)
        http.stopped = NULL; /* unloading is not cancelled */
    watch->kept_loaded_ns = clock_monotonic_ns();
    return machine_http_call(&http, "POST", "/api/generate", body, reply, error);
}

bool machine_ollama_load(struct machine_watch *watch, const char *base, struct error *error)
{
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };

    if (!has_model(watch, base) && !pull(watch, base, error))
        return false;
    machine_watch_show(watch, "starting", "weights", "loading");
    return load(watch, base, stay_s(watch), &reply, error);
}

static CHECKED bool start(struct machine_watch *watch, struct error *error)
{
    return machine_ollama_load(watch, base_of(watch), error);
}

/* Sets `keep_alive` again, because each request from a client changes it. */
static CHECKED bool check(struct machine_watch *watch, struct error *error)
{
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };

    if (clock_monotonic_ns() - watch->kept_loaded_ns < KEEP_INTERVAL_NS)
        return true;
    return load(watch, base_of(watch), stay_s(watch), &reply, error);
}

/* Sends a GET that is not cancelled, even if the server should no longer run. */
static bool get(struct machine_watch *watch, const char *path, struct machine_http_reply *reply)
{
    struct machine_http http = machine_watch_http(watch, "", base_of(watch));
    struct error ignored;

    http.stopped = NULL;
    return machine_http_call(&http, "GET", path, NULL, reply, &ignored);
}

static bool runs(struct machine_watch *watch)
{
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };

    return get(watch, "/api/version", &reply) || reply.status != 0;
}

/* A model name without a tag means the tag "latest". If Ollama does not list its loaded models,
 * because it is too old or does not answer, the model counts as unloaded. */
static bool is_loaded(struct machine_watch *watch)
{
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    const char *model = model_of(watch);
    const json_t *loaded;
    size_t i;

    if (!get(watch, "/api/ps", &reply))
        return false;
    json_array_foreach(json_object_get(reply.body, "models"), i, loaded) {
        const char *name = json_get_text(loaded, "name", "");
        size_t length = strlen(model);

        if (strncmp(name, model, length) == 0
            && (name[length] == '\0' || strcmp(name + length, ":latest") == 0))
            return true;
    }
    return false;
}

/* Ollama answers the unload request before it has unloaded the model, and keeps the model loaded
 * until it has answered all requests in progress. If Ollama is not running or has no such model
 * (404), the model is not loaded. */
static CHECKED bool end(struct machine_watch *watch, struct error *error)
{
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };

    if (!load(watch, base_of(watch), 0, &reply, error))
        return reply.status == 404 || (reply.status == 0 && !runs(watch));
    return !is_loaded(watch)
           || error_set(error, ERROR_BUSY, "Ollama still has %s loaded", model_of(watch));
}

/* Leaves the model on disk, because it may have been there before. */
static CHECKED bool remove_it(struct machine_watch *watch, struct error *error)
{
    (void)watch, (void)error;
    return true;
}

const struct machine_kind machine_kind_service = { start, check, end, remove_it };
