/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/fingerprint.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "bench/plan/plan_workload.h"

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *object_or_null(const char *written)
{
    struct error ignored;
    json_t *object;

    if (!json_parse(written, strlen(written), &object, &ignored))
        return json_null();
    return object;
}

static json_t *count_or_null(int64_t count)
{
    return count > 0 ? json_integer((json_int_t)count) : json_null();
}

/* Adds the load settings that all cells share. */
static void add_load(json_t *planned, const struct plan *plan)
{
    if (plan->arrival != ARRIVAL_CLOSED)
        json_object_set_new(planned, "arrival", json_string(arrival_names[plan->arrival]));
    if (plan->arrival == ARRIVAL_GAMMA)
        json_object_set_new(planned, "burstiness", json_real(plan->burstiness));
    if (plan->think_time_s <= 0)
        return;
    json_object_set_new(planned, "think_time_s", json_real(plan->think_time_s));
    json_object_set_new(
        planned, "think_time",
        json_string(plan->think_time == THINK_EXPONENTIAL ? "exponential" : "fixed"));
}

char *fingerprint_write(const struct deployment *deployment, const struct model_facts *facts,
                        const struct workload *workload, const struct plan *plan,
                        const json_t *platform)
{
    const char *region = json_get_text(platform, "region", deployment->region);
    json_t *planned = plan_workload_specification(plan);
    json_t *form = workload_specification(workload);
    json_auto_t *document = NULL;

    add_load(planned, plan);
    json_object_set(planned, "api", json_object_get(form, "api"));
    if (plan->http2_streams > 0)
        json_object_set_new(planned, "http2_streams", json_integer(plan->http2_streams));
    document = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model",
        text_or_null(facts->model), "model_revision", text_or_null(deployment->model_revision),
        "quantization", text_or_null(deployment->quantization), "chips",
        count_or_null(deployment->chips), "engine", text_or_null(facts->engine), "engine_version",
        text_or_null(facts->engine_version), "context_tokens", count_or_null(facts->context_tokens),
        "engine_details", object_or_null(facts->details), "provider",
        text_or_null(deployment->provider), "hardware", text_or_null(deployment->hardware),
        "region", text_or_null(region), "limits", object_or_null(deployment->limits), "workload",
        planned, "request_form", form);
    if (platform != NULL)
        json_object_set_new(document, "platform", json_deep_copy(platform));
    return json_write(document);
}

static CHECKED bool agrees(const char *what, const char *then, const char *now, struct error *error)
{
    return then[0] == '\0' || now[0] == '\0' || strcmp(then, now) == 0
           || error_set(error, ERROR_CONFLICT,
                        "when the sweep began, the deployment's %s was '%.100s', and now it is "
                        "'%.100s': start a new sweep, or undo this change and call sweep_resume",
                        what, then, now);
}

bool fingerprint_agrees(const char *document, const struct model_facts *facts, struct error *error)
{
    char then_tokens[24] = "", now_tokens[24] = "";
    json_auto_t *then = object_or_null(document);
    int64_t tokens = json_get_integer(then, "context_tokens", 0);

    if (tokens > 0)
        snprintf(then_tokens, sizeof then_tokens, "%lld", (long long)tokens);
    if (facts->context_tokens > 0)
        snprintf(now_tokens, sizeof now_tokens, "%lld", (long long)facts->context_tokens);
    return agrees("model", json_get_text(then, "model", ""), facts->model, error)
           && agrees("engine", json_get_text(then, "engine", ""), facts->engine, error)
           && agrees("engine version", json_get_text(then, "engine_version", ""),
                     facts->engine_version, error)
           && agrees("context in tokens", then_tokens, now_tokens, error);
}
