/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the evidence for runs that opsbrain measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/evidence.h"
#include "analysis/evidence/evidence_private.h"
#include "base/core/memory.h"
#include "base/json/json.h"

static const enum evidence_state states[] = {
    [CELL_PENDING] = EVIDENCE_SKIPPED, [CELL_MEASURED] = EVIDENCE_MEASURED,
    [CELL_FAILED] = EVIDENCE_FAILED,   [CELL_INFEASIBLE] = EVIDENCE_INFEASIBLE,
    [CELL_SKIPPED] = EVIDENCE_SKIPPED, [CELL_INFERRED] = EVIDENCE_SKIPPED,
};

static void read_latency(const struct latency_summary *from, struct evidence_latency *out)
{
    *out = (struct evidence_latency){
        .count = (double)from->count,
        .mean_ms = from->mean_ms,
        .deviation_ms = NAN,
        .min_ms = from->min_ms,
        .p50_ms = from->p50_ms,
        .p90_ms = from->p90_ms,
        .p95_ms = from->p95_ms,
        .p99_ms = from->p99_ms,
        .max_ms = from->max_ms,
        .p50_at_least = from->p50_censored,
        .p90_at_least = from->p90_censored,
        .p95_at_least = from->p95_censored,
        .p99_at_least = from->p99_censored,
    };
}

static void read_marks(const struct measurement *from, struct evidence_cell *out)
{
    const struct {
        const char *name;
        bool is_set;
    } marks[] = {
        { "client_limited", from->client_limited },
        { "contaminated", from->contaminated },
        { "uneven", from->uneven },
        { "tokens_estimated", from->tokens_estimated },
        { "unsettled", from->unsettled },
        { "overloaded", from->overloaded },
    };

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (marks[i].is_set)
            evidence_add_warning(out, marks[i].name);
}

static void read_measurement(const struct measurement *from, struct evidence_cell *out)
{
    out->attempted = (double)from->attempted;
    out->succeeded = (double)from->succeeded;
    out->failed = (double)(from->attempted - from->succeeded);
    out->success_rate = from->success_rate;
    out->duration_s = from->window_s;
    out->input_tokens = (double)from->input_tokens;
    out->output_tokens = (double)from->output_tokens;
    if (from->cached_told > 0)
        out->cached_tokens = (double)from->cached_tokens;
    out->input_tokens_mean = from->input_tokens_mean;
    out->output_tokens_mean = from->output_tokens_mean;
    out->request_throughput = from->request_throughput;
    out->goodput = from->goodput;
    out->input_throughput = from->input_throughput;
    out->output_throughput = from->output_throughput;
    out->total_throughput = from->input_throughput + from->output_throughput;
    out->concurrency_actual = from->concurrency_actual;
    if (from->concurrency_expected > 0)
        out->concurrency_expected = from->concurrency_expected;
    out->concurrency_max = (double)from->concurrency_max;
    read_marks(from, out);
    for (int i = 0; i < METRIC_COUNT; i++)
        if (from->latency[i].count > 0)
            read_latency(&from->latency[i], &out->latency[i]);
}

static void read_cell(const struct cell_row *from, struct evidence_cell *out)
{
    const char *error = from->reason[0] != '\0' ? from->reason : from->measurement.first_error;

    out->position = from->position;
    out->attempt_id = from->attempt_id;
    out->state = states[from->state];
    if (from->request_rate > 0) /* an open loop has no fixed number of users */
        out->request_rate_asked = from->request_rate;
    else
        out->concurrency = (double)from->concurrency;
    out->input_length = (double)from->input_tokens;
    out->output_tokens_asked = (double)from->output_tokens;
    text_copy(out->status, sizeof out->status, cell_state_name(from->state));
    if (error[0] != '\0')
        out->error = memory_copy_text(error);
    if (from->measurement.attempted > 0)
        read_measurement(&from->measurement, out);
}

static void read_fingerprint(const json_t *fingerprint, struct evidence_facts *out)
{
    const json_t *limits = json_object_get(fingerprint, "limits");

    text_copy(out->model, sizeof out->model, json_get_text(fingerprint, "model", ""));
    text_copy(out->model_revision, sizeof out->model_revision,
              json_get_text(fingerprint, "model_revision", ""));
    text_copy(out->quantization, sizeof out->quantization,
              json_get_text(fingerprint, "quantization", ""));
    out->chips = json_get_number(fingerprint, "chips", NAN);
    text_copy(out->engine, sizeof out->engine, json_get_text(fingerprint, "engine", ""));
    text_copy(out->engine_version, sizeof out->engine_version,
              json_get_text(fingerprint, "engine_version", ""));
    text_copy(out->hardware, sizeof out->hardware, json_get_text(fingerprint, "hardware", ""));
    text_copy(out->provider, sizeof out->provider, json_get_text(fingerprint, "provider", ""));
    text_copy(out->region, sizeof out->region, json_get_text(fingerprint, "region", ""));
    out->context_limit_tokens = json_get_number(fingerprint, "context_tokens", NAN);
    out->max_instances = json_get_number(limits, "max_instances", NAN);
    out->container_concurrency = json_get_number(limits, "container_concurrency", NAN);
}

void evidence_of_run(const struct run_row *run, const struct cell_row *cells, size_t count,
                     struct evidence *out)
{
    const char *document = run->fingerprint_document;
    struct error ignored;

    evidence_init(out);
    text_copy(out->id, sizeof out->id, run->id);
    text_copy(out->format, sizeof out->format, "opsbrain");
    text_copy(out->name, sizeof out->name, run->sweep_id);
    text_copy(out->digest, sizeof out->digest, run->fingerprint);
    text_copy(out->corrects, sizeof out->corrects, run->corrects);
    text_copy(out->corrected_by, sizeof out->corrected_by, run->corrected_by);
    out->created_ms = run->created_ms;
    out->repetition = run->repetition;
    out->deployment_id = run->deployment_id;
    out->revision = run->revision;
    out->input_unit = LENGTH_TOKENS;
    if (document != NULL && json_parse(document, strlen(document), &out->fingerprint, &ignored))
        read_fingerprint(out->fingerprint, &out->facts);
    text_copy(out->facts.deployment, sizeof out->facts.deployment, run->deployment);
    text_copy(out->facts.tool, sizeof out->facts.tool, "opsbrain");
    for (size_t i = 0; i < count; i++) {
        struct evidence_cell *cell = evidence_add(out);

        if (cell != NULL)
            read_cell(&cells[i], cell);
    }
}

bool evidence_find_run(struct store *store, const char *id, struct evidence *out,
                       struct error *error)
{
    struct run_row run;
    struct cell_row *cells = NULL;
    size_t count;
    bool done;

    if (!run_find(store, id, &run, error))
        return false;
    done = cell_list(store, run.sweep_id, run.id, &cells, &count, error);
    if (done) {
        evidence_of_run(&run, cells, count, out);
        cell_rows_free(cells, count);
        done = deployment_same_since(store, run.deployment_id, run.revision, &out->revision, error);
    }
    run_row_finish(&run);
    return done;
}
