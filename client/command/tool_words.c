/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/tool_words.h"

#include <stdio.h>
#include <string.h>

const struct tool_word tool_words[] = {
    { "deployments", "deployment_list", "" },
    { "deployment", "deployment_show", "[deployment]" },
    { "register", "deployment_register", "name url" },
    { "update", "deployment_update", "deployment" },
    { "remove", "deployment_remove", "deployment" },
    { "health", "model_health", "[deployment]" },
    { "model", "model_show", "[deployment]" },
    { "ask", "model_query", "[deployment] prompt" },
    { "metrics", "metrics_show", "[deployment]" },
    { "history", "metrics_history", "[deployment] [metric]" },
    { "logs", "deployment_logs", "[deployment]" },
    { "plan", "sweep_plan", "[deployment]" },
    { "bench", "sweep_start", "[deployment]" }, /* carried out by client_bench.c */
    { "sweeps", "sweep_list", "[deployment]" },
    { "sweep", "sweep_show", "sweep" },
    { "resume", "sweep_resume", "sweep" },
    { "jobs", "job_list", "" },
    { "job", "job_show", "job" },
    { "cancel", "job_cancel", "job" },
    { "leases", "lease_list", "" },
    { "targets", "target_list", "" },
    { "target", "target_show", "target" },
    { "recipes", "recipe_list", "[provider]" },
    { "recipe", "recipe_show", "recipe" },
    { "deploy", "deployment_plan", "deployment recipe target" },
    { "apply", "deployment_apply", "plan" },
    { "fleet", "fleet_list", "" },
    { "discover", "deployment_discover", "target" },
    { "adopt", "deployment_adopt", "deployment target" },
    { "extend", "deployment_extend", "deployment life_s" },
    { "scale", "deployment_scale", "deployment replicas" },
    { "start", "deployment_start", "deployment" },
    { "stop", "deployment_stop", "deployment" },
    { "destroy", "deployment_destroy", "deployment" },
    { "runs", "run_list", "[sweep|deployment]" },
    { "run", "run_show", "run" },
    { "report", "run_report", "[run|sweep|deployment]" },
    { "chart", "run_chart", "run" },
    { "audit", "run_audit", "run" },
    { "compare", "run_compare", "baseline candidate" },
    { "compare", "run_compare", "sweep" },
    { "export", "run_export", "run [format]" },
    { "import", "run_import", "", "/v1/imports" },
    { "datasets", "dataset_list", "" },
    { "dataset", "dataset_import", "", "/v1/datasets" },
    { 0 },
};

/* ---- Operands ---- */

struct operand {
    const char *names; /* "run|sweep", not ended by a NUL */
    size_t length;
    bool optional;
};

static size_t split(const struct tool_word *word, struct operand out[TOOL_WORD_OPERANDS_MAX])
{
    size_t count = 0;

    for (const char *at = word->operands; *at != '\0' && count < TOOL_WORD_OPERANDS_MAX;) {
        size_t length = strcspn(at, " ");
        bool optional = *at == '[';

        out[count++] = (struct operand){ at + optional, length - (optional ? 2 : 0), optional };
        at += length + (at[length] == ' ');
    }
    return count;
}

static size_t count_required(const struct operand *operands, size_t count)
{
    size_t required = 0;

    for (size_t i = 0; i < count; i++)
        required += !operands[i].optional;
    return required;
}

bool tool_word_takes(const struct tool_word *word, size_t operands)
{
    struct operand known[TOOL_WORD_OPERANDS_MAX];
    size_t count = split(word, known);

    if (word->upload != NULL)
        return operands > 0;
    return operands <= count && operands >= count_required(known, count);
}

const struct tool_word *tool_word_find(const char *name, size_t operands)
{
    const struct tool_word *first = NULL;

    for (const struct tool_word *word = tool_words; word->name != NULL; word++) {
        if (strcmp(word->name, name) != 0)
            continue;
        if (tool_word_takes(word, operands))
            return word;
        first = first == NULL ? word : first;
    }
    return first;
}

/* The parameter that takes ids with the prefix that `value` has; "": the prefix is not known. */
static const char *kind_of(const char *value)
{
    static const struct {
        const char *prefix, *kind;
    } prefixes[] = { { "run_", "run" }, { "imp_", "run" }, { "swp_", "sweep" }, { "job_", "job" } };

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(value, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0)
            return prefixes[i].kind;
    return "";
}

static void choose(const struct operand *operand, const char *value, char out[TOOL_WORD_PARAM_SIZE])
{
    const char *kind = kind_of(value), *at = operand->names, *end = at + operand->length;
    size_t length = 0;

    for (; at < end; at += length + 1) {
        length = strcspn(at, "|] ");
        snprintf(out, TOOL_WORD_PARAM_SIZE, "%.*s", (int)length, at);
        if (strcmp(out, kind) == 0)
            return;
    }
}

/* If fewer operands are given than the row has, its last optional ones count as missing, and then
 * its last required ones. */
bool tool_word_param(const struct tool_word *word, size_t index, size_t given, const char *value,
                     char out[TOOL_WORD_PARAM_SIZE])
{
    struct operand known[TOOL_WORD_OPERANDS_MAX];
    size_t count = split(word, known), required = count_required(known, count);
    size_t spare = given > required ? given - required : 0, at = 0;

    for (size_t i = 0; i < count; i++) {
        if (known[i].optional && spare == 0)
            continue;
        spare -= known[i].optional;
        if (at++ == index) {
            choose(&known[i], value, out);
            return true;
        }
    }
    return false;
}
