/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on what the hardware can do (the roofline model: S. Williams, A. Waterman, D. Patterson,
 * "Roofline", CACM 52(4), 2009): a token costs two operations per active parameter, and each step
 * of one stream reads the active weights once. The rules use only bounds that hold for every
 * engine: the fastest number format of the hardware unless the run states bf16 without
 * quantization, and the smallest weights of the model. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audit/audit_needs.h"
#include "analysis/import/import_columns.h"

/* A share of the peak above this is a mistake: real prefill reaches two thirds. */
#define COMPUTE_SHARE 0.9

/* The hardware and model that limit a cell: those that its row names if the file has several, else
 * the run's. NULL: not known, or not in the catalogue. */
struct roof {
    const struct hardware *hardware;
    const struct model *model;
    double chips; /* 1 if their number is not known */
};

/* From a variant such as "model=a, gpu=b", copies the value of the first member whose name is in
 * `names`; "" if there is none. */
static void variant_value(const char *variant, const char *const *names, char out[160])
{
    char heading[HEADING_SIZE], normalized[HEADING_SIZE];

    out[0] = '\0';
    for (const char *at = variant; *at != '\0' && out[0] == '\0';) {
        size_t equals = strcspn(at, "="), end = equals + strcspn(at + equals, ",");

        snprintf(heading, sizeof heading, "%.*s", (int)equals, at);
        import_column_normalize(heading, normalized);
        for (size_t i = 0; names[i] != NULL && end > equals; i++)
            if (strcmp(normalized, names[i]) == 0)
                snprintf(out, 160, "%.*s", (int)(end - equals - 1), at + equals + 1);
        at += end;
        at += strspn(at, ", ");
    }
}

static struct roof roof_of(const struct audit *audit, const struct evidence_cell *cell)
{
    static const char *const models[] = { "model", "model_id", "model_name", NULL };
    static const char *const accelerators[] = { "hardware", "accelerator", "gpu", "gpu_type",
                                                "gpu_name", "device",      NULL };
    static const char *const counts[] = { "chips",    "num_chips",       "gpus",
                                          "num_gpus", "gpu_count",       "tp",
                                          "tp_size",  "tensor_parallel", "tensor_parallel_size",
                                          NULL };
    const struct catalog *catalog = audit->input->catalog;
    struct roof roof = { audit->hardware, audit->model, isnan(audit->chips) ? 1 : audit->chips };
    char value[160];

    if (catalog == NULL || cell->variant[0] == '\0')
        return roof;
    variant_value(cell->variant, models, value);
    if (value[0] != '\0')
        roof.model = catalog_find_model(catalog, value);
    variant_value(cell->variant, accelerators, value);
    if (value[0] != '\0')
        roof.hardware = catalog_find_hardware(catalog, value);
    variant_value(cell->variant, counts, value);
    if (strtod(value, NULL) >= 1)
        roof.chips = strtod(value, NULL);
    return roof;
}

/* Whether the share is known for at least one cell. */
static bool has_share(const struct audit *audit,
                      double (*share_of)(const struct audit *audit,
                                         const struct evidence_cell *cell))
{
    for (size_t i = 0; i < audit->evidence->cell_count; i++)
        if (isfinite(share_of(audit, &audit->evidence->cells[i])))
            return true;
    return false;
}

static double best_flops(const struct hardware *hardware)
{
    double best = 0;

    for (int i = 0; i < FORMAT_COUNT; i++)
        best = fmax(best, hardware->peak_flops[i]);
    return best;
}

/* The peak in operations per second of all chips together: in bf16 if the run states bf16 without
 * quantization, else in the hardware's fastest number format. */
static double peak_flops(const struct audit *audit, const struct roof *roof)
{
    const char *type = audit->evidence->facts.weights_type;
    bool is_bf16 = strcmp(type, "bfloat16") == 0 || strcmp(type, "bf16") == 0;
    bool is_unquantized = audit->evidence->facts.quantization[0] == '\0'
                          || strcmp(audit->evidence->facts.quantization, "none") == 0;

    if (is_bf16 && is_unquantized && roof->hardware->peak_flops[FORMAT_BF16] > 0)
        return roof->chips * roof->hardware->peak_flops[FORMAT_BF16];
    return roof->chips * best_flops(roof->hardware);
}

/* Tokens of prompts and answers that passed through the model per second; NaN: not known. If input
 * lengths are in words, each word counts as one token, which is the minimum. If the file does not
 * state the unit of its lengths, the finding says so. */
static double tokens_through(const struct evidence_cell *cell)
{
    double prompt = isnan(cell->input_tokens_mean) ? cell->input_length : cell->input_tokens_mean;

    if (!isnan(cell->total_throughput))
        return cell->total_throughput;
    return cell->request_throughput * prompt
           + (cell->output_throughput > 0 ? cell->output_throughput : 0);
}

/* The operations per second that the cell's tokens need, as a share of the peak; NaN: not known. */
static double compute_share(const struct audit *audit, const struct evidence_cell *cell)
{
    const struct roof roof = roof_of(audit, cell);

    if (roof.hardware == NULL || roof.model == NULL || !audit_cell_is_measured(cell))
        return NAN;
    return tokens_through(cell) * 2 * roof.model->active_parameters / peak_flops(audit, &roof);
}

bool audit_needs_compute(const struct audit *audit)
{
    return has_share(audit, compute_share);
}

/* Creates a finding with the cells above the given share, and sets *worst to the cell with the
 * highest share. If there are no such cells, returns NULL. */
static struct finding *find_above(struct audit *audit, enum finding_weight weight, double share,
                                  double (*share_of)(const struct audit *audit,
                                                     const struct evidence_cell *cell),
                                  const struct evidence_cell **worst)
{
    struct finding *finding = NULL;

    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[i];

        if (!(share_of(audit, cell) > share))
            continue;
        audit_report_cell(audit, weight, i, &finding);
        if (finding->cell_count == 1 || share_of(audit, cell) > share_of(audit, *worst))
            *worst = cell;
    }
    return finding;
}

void audit_check_compute(struct audit *audit)
{
    bool unit_is_known = audit->evidence->input_unit != LENGTH_UNKNOWN;
    const struct evidence_cell *worst;
    struct finding *finding = find_above(audit, unit_is_known ? FINDING_WRONG : FINDING_CAUTION,
                                         COMPUTE_SHARE, compute_share, &worst);
    struct roof roof;

    if (finding == NULL)
        return;
    roof = roof_of(audit, worst);
    if (!unit_is_known)
        text_add(&finding->arithmetic, "if the context is in tokens, ");
    text_addf(
        &finding->arithmetic,
        "row %lld: %.4g tokens/s x 2 x %.3g active parameters = %.0f TFLOPS; the peak is %.0f "
        "(%s)",
        (long long)worst->row, tokens_through(worst), roof.model->active_parameters,
        tokens_through(worst) * 2 * roof.model->active_parameters / 1e12,
        peak_flops(audit, &roof) / 1e12, roof.hardware->title);
    text_add(&finding->consequence,
             "Not all of these tokens were computed: prompts came from a cache, or were shorter or "
             "fewer than the table says.");
}

/* The bytes of the model's active weights in the smallest format that the catalogue lists for the
 * model. */
static double active_weight_bytes(const struct model *model)
{
    double least = INFINITY;

    for (int i = 0; i < FORMAT_COUNT; i++)
        if (model->weight_bytes[i] > 0)
            least = fmin(least, model->weight_bytes[i]);
    return least * model->active_parameters / model->parameters;
}

/* Output tokens per second of one stream; NaN: not known. */
static double stream_speed(const struct evidence_cell *cell)
{
    if (cell->latency[METRIC_TPOT].mean_ms > 0)
        return 1000 / cell->latency[METRIC_TPOT].mean_ms;
    if (!isnan(cell->stream_throughput))
        return cell->stream_throughput;
    return cell->output_throughput / audit_cell_users(cell);
}

/* The maximum number of tokens that speculative decoding is assumed to produce each time the
 * weights are read. */
#define TOKENS_PER_STEP 8

/* How many times per second the weights must be read, at one read per token, divided by how many
 * times the memory bandwidth allows; NaN: not known. */
static double bandwidth_share(const struct audit *audit, const struct evidence_cell *cell)
{
    const struct roof roof = roof_of(audit, cell);

    if (roof.hardware == NULL || roof.model == NULL || !audit_cell_is_measured(cell))
        return NAN;
    return stream_speed(cell) * active_weight_bytes(roof.model)
           / (roof.chips * roof.hardware->bandwidth_bytes_per_s);
}

bool audit_needs_bandwidth(const struct audit *audit)
{
    return has_share(audit, bandwidth_share);
}

void audit_check_bandwidth(struct audit *audit)
{
    const struct evidence_cell *worst;
    struct finding *finding =
        find_above(audit, FINDING_WRONG, TOKENS_PER_STEP, bandwidth_share, &worst);
    struct roof roof;

    if (finding == NULL)
        return;
    roof = roof_of(audit, worst);
    text_addf(&finding->arithmetic,
              "row %lld: %.4g tokens/s of one stream; %.4g GB/s / %.3g GB of active weights = %.4g "
              "steps/s",
              (long long)worst->row, stream_speed(worst),
              roof.chips * roof.hardware->bandwidth_bytes_per_s / 1e9,
              active_weight_bytes(roof.model) / 1e9,
              roof.chips * roof.hardware->bandwidth_bytes_per_s / active_weight_bytes(roof.model));
    text_addf(
        &finding->consequence,
        "Even with %d tokens per step, that is too fast: the counts include tokens that were not "
        "generated.",
        TOKENS_PER_STEP);
}
