/* SPDX-License-Identifier: Apache-2.0 */
/* model_show: shows the models that a server reports. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/table.h"
#include "fleet/engine.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/answers/deployment_endpoint.h"

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { 0 },
};

static const struct field model_fields[] = {
    { "id", VALUE_TEXT, .help = "Id, as requests name it." },
    { "context_tokens", VALUE_INTEGER, .optional = true,
      .help = "Longest prompt plus answer, in tokens; missing: not reported." },
    { "in_use", VALUE_BOOLEAN, .help = "True: the model that this deployment uses." },
    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_TEXT, .help = "The deployment's name." },
    { "engine", VALUE_TEXT, .help = "Engine, such as vllm or llama.cpp." },
    { "engine_version", VALUE_TEXT, .optional = true, .help = "Its version, if reported." },
    { "models", VALUE_LIST, .help = "Models that the server lists.", .fields = model_fields },
    { "has_metrics", VALUE_BOOLEAN, .help = "Does metrics_show work for it?" },
    { "has_tokenize", VALUE_BOOLEAN,
      .help = "Can it count tokens, so that benchmarks can make prompts of exact length?" },
    { "details", VALUE_OBJECT,
      .help = "What else it reports about itself: flags, quantization, ..." },
    { 0 },
};

/* Returns true if requests go to the model with the index `i` in the report. If the deployment
 * names no model, they go to the first model. "llama3.2" also matches "llama3.2:latest", as in
 * fleet/probe.c. */
static bool is_in_use(const struct engine_report *report, const struct endpoint *endpoint, size_t i)
{
    const char *id = report->models[i].id, *model = endpoint->model;
    size_t length = strlen(model);

    if (length == 0)
        return i == 0;
    return strncmp(id, model, length) == 0
           && (id[length] == '\0' || strcmp(id + length, ":latest") == 0);
}

static json_t *models_json(const struct engine_report *report, const struct endpoint *endpoint)
{
    json_t *list = json_array();

    for (size_t i = 0; i < report->model_count; i++) {
        const struct engine_model *model = &report->models[i];

        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:b}", "id",
                      answer_json_foreign(model->id, strlen(model->id), sizeof model->id),
                      "context_tokens",
                      model->context_tokens > 0 ? json_integer(model->context_tokens) : json_null(),
                      "in_use", is_in_use(report, endpoint, i)));
    }
    return list;
}

#define MODELS_SHOWN 30

static void write_text(const struct engine_report *report, const struct endpoint *endpoint,
                       struct text *out)
{
    struct table *table = table_create();

    table_column(table, "Model", false);
    table_column(table, "Context tokens", true);
    table_column(table, "In use", false);
    for (size_t i = 0; i < report->model_count && i < MODELS_SHOWN; i++) {
        TEXT_AUTO id = { 0 };

        text_add_printable(&id, report->models[i].id, strlen(report->models[i].id), 100);
        table_cell(table, "%s", text_string(&id));
        if (report->models[i].context_tokens > 0)
            table_cell(table, "%" PRId64, report->models[i].context_tokens);
        else
            table_cell(table, "not reported");
        table_cell(table, "%s", is_in_use(report, endpoint, i) ? "yes" : "");
    }
    text_addf(out, "Engine: %s %s\n\n", report->engine, report->version);
    table_render(table, out);
    table_destroy(table);
    text_addf(out, "\nMetrics: %s. Tokenizer: %s.\n", report->has_metrics ? "yes" : "no",
              report->has_tokenize ? "yes" : "no");
    text_add(out, "Details: ");
    text_add_printable(out, report->details, strlen(report->details), 1000);
    text_add_char(out, '\n');
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    FREE_AUTO struct engine_report *report = memory_zeroed(1, sizeof *report);
    ENDPOINT_AUTO endpoint = { 0 };
    struct deployment deployment;

    if (!deployment_argument(call, &deployment, error)
        || !secret_access_endpoint(&call->services->access, &deployment, &endpoint, error)
        || !engine_probe(&endpoint, 0, report, error))
        return false;
    answer->structured = json_pack(
        "{s:s, s:o, s:o, s:o, s:b, s:b, s:o}", "deployment", deployment.name, "engine",
        answer_json_foreign(report->engine, strlen(report->engine), sizeof report->engine),
        "engine_version", answer_json_text(report->version), "models",
        models_json(report, &endpoint), "has_metrics", report->has_metrics, "has_tokenize",
        report->has_tokenize, "details", answer_json_stored(report->details));
    write_text(report, &endpoint, &answer->text);
    return true;
}

const struct tool tool_model_show = {
    .name = "model_show",
    .title = "Show what a server serves",
    .help = "Asks a deployment's server which models it has: exact ids, context length, engine, "
            "version.",
    .more = "Nothing is generated; model_health shows whether the model really answers.",
    .sets = SET_FLEET,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .idempotent = true,
    .open_world = true,
    .run = run,
};
