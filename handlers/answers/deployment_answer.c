/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/deployment_answer.h"

#include <inttypes.h>
#include <string.h>

#include "handlers/answer_row.h"

static const struct field limit_fields[] = {
    { "max_instances", VALUE_INTEGER, .optional = true,
      .help = "Maximum instances behind the URL, as registered." },
    { "container_concurrency", VALUE_INTEGER, .optional = true,
      .help = "Maximum requests that an instance receives at a time, as registered." },
    { "max_running", VALUE_INTEGER, .optional = true,
      .help = "Maximum sequences that the engine runs at a time, as registered." },
    { 0 },
};

const struct field deployment_answer_fields[] = {
    { "name", VALUE_TEXT, .help = "Registered name.", ROW_TEXT(struct deployment, name) },
    { "revision", VALUE_INTEGER,
      .help = "Counts changes; runs point to the revision they measured.",
      ROW_INTEGER(struct deployment, revision) },
    { "url", VALUE_TEXT, .help = "Base URL, without /v1.", ROW_TEXT(struct deployment, url) },
    { "provider", VALUE_TEXT, .included = INCLUDED_IN_DETAIL,
      .help = "How it is provided; endpoint: a server that was already running.",
      ROW_TEXT(struct deployment, provider) },
    { "model", VALUE_TEXT, .optional = true, .help = "Intended model; missing: the server's first.",
      ROW_TEXT_OR_NULL(struct deployment, model) },
    { "model_revision", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Revision of the weights, as registered.",
      ROW_TEXT_OR_NULL(struct deployment, model_revision) },
    { "quantization", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Format of the weights, as registered.",
      ROW_TEXT_OR_NULL(struct deployment, quantization) },
    { "chips", VALUE_INTEGER, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Accelerators per instance, as registered.",
      ROW_INTEGER_OR_NULL(struct deployment, chips) },
    { "engine", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Engine as registered; missing: as the server reports.",
      ROW_TEXT_OR_NULL(struct deployment, engine) },
    { "hardware", VALUE_TEXT, .optional = true, .help = "Hardware as registered.",
      ROW_TEXT_OR_NULL(struct deployment, hardware) },
    { "region", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Region as registered.", ROW_TEXT_OR_NULL(struct deployment, region) },
    { "secret", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Name of the secret that holds its bearer token, as registered.",
      ROW_TEXT_OR_NULL(struct deployment, secret) },
    { "labels", VALUE_TEXT_MAP, .sparse = true, .help = "Labels as registered.",
      ROW_JSON(struct deployment, labels) },
    { "limits", VALUE_OBJECT, .included = INCLUDED_OUTSIDE_LISTS, .sparse = true,
      .help = "Limits on how much runs at a time, as registered.", .fields = limit_fields,
      ROW_JSON(struct deployment, limits) },
    { "owner", VALUE_TEXT,
      .help = "Who may change its URL or secret, or remove it, besides admins.",
      ROW_TEXT(struct deployment, owner) },
    { "created_by", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .help = "Who made this revision.",
      ROW_TEXT(struct deployment, created_by) },
    { "created_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When it was first registered, UTC.", ROW_TIME(struct deployment, created_ms) },
    { "changed_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When this revision was made, UTC.", ROW_TIME(struct deployment, changed_ms) },
    { 0 },
};

json_t *deployment_answer_json(const struct deployment *deployment)
{
    return answer_row_take(deployment_answer_fields, deployment, NULL);
}

json_t *deployment_answer_facts_json(const struct model_facts *facts)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "id", answer_json_text(facts->model), "context_tokens",
        facts->context_tokens > 0 ? json_integer(facts->context_tokens) : json_null(), "engine",
        answer_json_text(facts->engine), "engine_version", answer_json_text(facts->engine_version),
        "details", answer_json_stored(facts->details), "observed_at",
        answer_json_time(facts->observed_ms));
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
    add_setting(out, "weights revision", deployment->model_revision);
    add_setting(out, "quantization", deployment->quantization);
    add_setting(out, "engine", deployment->engine);
    add_setting(out, "hardware", deployment->hardware);
    if (deployment->chips > 0)
        text_addf(out, "chips %" PRId64 ", ", deployment->chips);
    add_setting(out, "region", deployment->region);
    add_setting(out, "secret", deployment->secret);
    add_setting(out, "labels", deployment->labels);
    add_setting(out, "limits", deployment->limits);
    text_addf(out, "owner %s", deployment->owner);
}
