/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/deployment_answer.h"

#include <inttypes.h>
#include <string.h>

#include "base/json/json.h"

static const struct field limit_fields[] = {
    { "max_instances", VALUE_INTEGER, .optional = true,
      .help = "Instances behind the URL at most, as registered." },
    { "container_concurrency", VALUE_INTEGER, .optional = true,
      .help = "Requests that one instance is let through at a time, as registered." },
    { "max_running", VALUE_INTEGER, .optional = true,
      .help = "Sequences the engine runs at a time, as registered." },
    { 0 },
};

const struct field deployment_answer_fields[] = {
    { "name", VALUE_TEXT, .help = "Registered name." },
    { "revision", VALUE_INTEGER, .help = "Counts changes; measured runs point at a revision." },
    { "url", VALUE_TEXT, .help = "Base URL, without /v1." },
    { "provider", VALUE_TEXT, .told = TOLD_IN_DETAIL,
      .help = "Where it comes from; endpoint: a server that runs already." },
    { "model", VALUE_TEXT, .optional = true,
      .help = "Model that is meant; missing: the server's first." },
    { "model_revision", VALUE_TEXT, .told = TOLD_ALONE, .optional = true,
      .help = "Of the weights, as registered." },
    { "quantization", VALUE_TEXT, .told = TOLD_ALONE, .optional = true,
      .help = "Of the weights, as registered." },
    { "chips", VALUE_INTEGER, .told = TOLD_ALONE, .optional = true,
      .help = "Accelerators of an instance, as registered." },
    { "engine", VALUE_TEXT, .told = TOLD_ALONE, .optional = true,
      .help = "Engine as registered; missing: as the server tells." },
    { "hardware", VALUE_TEXT, .optional = true, .help = "Hardware as registered." },
    { "region", VALUE_TEXT, .told = TOLD_ALONE, .optional = true, .help = "Region as registered." },
    { "secret", VALUE_TEXT, .told = TOLD_ALONE, .optional = true,
      .help = "Name of the secret that holds its bearer token; missing: none is sent." },
    { "labels", VALUE_TEXT_MAP, .sparse = true, .help = "Labels as registered." },
    { "limits", VALUE_OBJECT, .told = TOLD_ALONE, .sparse = true,
      .help = "Limits in front of the model, as registered.", .fields = limit_fields },
    { "owner", VALUE_TEXT, .help = "Who may move or remove it, beside admins." },
    { "created_by", VALUE_TEXT, .told = TOLD_IN_DETAIL, .help = "Who made this revision." },
    { "created_at", VALUE_TEXT, .told = TOLD_IN_DETAIL, .optional = true,
      .help = "First registration, UTC." },
    { "changed_at", VALUE_TEXT, .told = TOLD_IN_DETAIL, .optional = true,
      .help = "This revision, UTC." },
    { 0 },
};

json_t *deployment_answer_json(const struct deployment *deployment)
{
    return json_pack(
        "{s:s, s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, "
        "s:o}",
        "name", deployment->name, "revision", (json_int_t)deployment->revision, "url",
        deployment->url, "provider", deployment->provider, "model",
        answer_json_text(deployment->model), "model_revision",
        answer_json_text(deployment->model_revision), "quantization",
        answer_json_text(deployment->quantization), "chips",
        deployment->chips > 0 ? json_integer((json_int_t)deployment->chips) : json_null(), "engine",
        answer_json_text(deployment->engine), "hardware", answer_json_text(deployment->hardware),
        "region", answer_json_text(deployment->region), "secret",
        answer_json_text(deployment->secret), "labels", answer_json_stored(deployment->labels),
        "limits", answer_json_stored(deployment->limits), "owner", deployment->owner, "created_by",
        deployment->created_by, "created_at", answer_json_time(deployment->created_ms),
        "changed_at", answer_json_time(deployment->changed_ms));
}

static void add_setting(struct text *out, const char *name, const char *value)
{
    if (value[0] == '\0' || strcmp(value, "{}") == 0)
        return;
    text_addf(out, "%s ", name);
    text_add_printable(out, value, strlen(value), 300);
    text_add(out, ", ");
}

void deployment_answer_describe(const struct deployment *deployment, struct text *out)
{
    add_setting(out, "model", deployment->model);
    add_setting(out, "revision of the weights", deployment->model_revision);
    add_setting(out, "quantization", deployment->quantization);
    add_setting(out, "engine", deployment->engine);
    add_setting(out, "hardware", deployment->hardware);
    if (deployment->chips > 0)
        text_addf(out, "%" PRId64 " chips, ", deployment->chips);
    add_setting(out, "region", deployment->region);
    add_setting(out, "secret", deployment->secret);
    add_setting(out, "labels", deployment->labels);
    add_setting(out, "limits", deployment->limits);
    text_addf(out, "owner %s", deployment->owner);
}
