/* Rules on what the hardware can do (the roofline model: S. Williams, A. Waterman, D. Patterson,
 * "Roofline", CACM 52(4), 2009): a token costs two operations per active parameter, and each step
 * of one stream reads the active weights once. Only bounds that hold whatever the engine does: the
 * fastest number format that the hardware has, the smallest weights that the model has. */

#include <string.h>

#include "analysis/audit_parts.h"

#define COMPUTE_SHARE 0.9 /* of the peak; real prefill reaches two thirds */

static double best_flops(const struct hardware *hardware)
{
    double best = 0;

    for (int i = 0; i < FORMAT_COUNT; i++)
        best = fmax(best, hardware->peak_flops[i]);
    return best;
}

/* In the type the run says; else in the fastest. */
static double peak_flops(const struct audit *audit)
{
    const char *type = audit->evidence->facts.weights_type;
    double chips = isnan(audit->chips) ? 1 : audit->chips;
    bool wide = strcmp(type, "bfloat16") == 0 || strcmp(type, "bf16") == 0;
    bool plain = audit->evidence->facts.quantization[0] == '\0'
                 || strcmp(audit->evidence->facts.quantization, "none") == 0;

    if (wide && plain && audit->hardware->peak_flops[FORMAT_BF16] > 0)
        return chips * audit->hardware->peak_flops[FORMAT_BF16];
    return chips * best_flops(audit->hardware);
}

/* Tokens a second that went through the model, prompts and answers; NaN. A word is a token or more;
 * where the file does not say what it counts, the finding says so. */
static double tokens_through(const struct evidence_cell *cell)
{
    double prompt = isnan(cell->input_tokens_mean) ? cell->input_length : cell->input_tokens_mean;

    if (!isnan(cell->total_throughput))
        return cell->total_throughput;
    return cell->request_throughput * prompt
           + (cell->output_throughput > 0 ? cell->output_throughput : 0);
}

void check_compute(struct audit *audit)
{
    struct finding *finding = NULL;
    const struct evidence_cell *worst = NULL;
    bool unit_is_known = audit->evidence->input_unit != LENGTH_UNKNOWN;
    double bound;

    if (audit->hardware == NULL || audit->model == NULL)
        return;
    bound = peak_flops(audit) / (2 * audit->model->active_parameters);
    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[i];

        if (!cell_is_measured(cell) || !(tokens_through(cell) > COMPUTE_SHARE * bound))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, unit_is_known ? FINDING_WRONG : FINDING_CAUTION);
        finding_add_cell(finding, i);
        if (worst == NULL || tokens_through(cell) > tokens_through(worst))
            worst = cell;
    }
    if (finding == NULL)
        return;
    if (!unit_is_known)
        text_add(&finding->arithmetic, "if its context counts tokens, ");
    text_addf(&finding->arithmetic,
              "row %lld: %.4g tokens/s x 2 x %.3g active parameters = %.0f TFLOPS, of at most %.0f "
              "(%s)",
              (long long)worst->row, tokens_through(worst), audit->model->active_parameters,
              tokens_through(worst) * 2 * audit->model->active_parameters / 1e12,
              peak_flops(audit) / 1e12, audit->hardware->title);
    text_add(&finding->consequence,
             "Not all of these tokens were computed: prompts came from a cache, or were shorter or "
             "fewer than the table says.");
}

static double least_weights(const struct model *model)
{
    double least = INFINITY;

    for (int i = 0; i < FORMAT_COUNT; i++)
        if (model->weight_bytes[i] > 0)
            least = fmin(least, model->weight_bytes[i]);
    return least * model->active_parameters / model->parameters;
}

/* Output tokens per second of one stream; NaN. */
static double stream_speed(const struct evidence_cell *cell)
{
    if (cell->latency[METRIC_TPOT].mean_ms > 0)
        return 1000 / cell->latency[METRIC_TPOT].mean_ms;
    if (!isnan(cell->stream_throughput))
        return cell->stream_throughput;
    return cell->output_throughput / cell_users(cell);
}

/* Speculative decoding makes several tokens of one reading: four to eight at most. */
#define TOKENS_PER_STEP 8

void check_bandwidth(struct audit *audit)
{
    struct finding *finding = NULL;
    const struct evidence_cell *worst = NULL;
    double bound;

    if (audit->hardware == NULL || audit->model == NULL)
        return;
    bound = audit->hardware->bandwidth_bytes_per_s * (isnan(audit->chips) ? 1 : audit->chips)
            / least_weights(audit->model);
    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[i];

        if (!cell_is_measured(cell) || !(stream_speed(cell) > TOKENS_PER_STEP * bound))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_WRONG);
        finding_add_cell(finding, i);
        if (worst == NULL || stream_speed(cell) > stream_speed(worst))
            worst = cell;
    }
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic,
              "row %lld: %.4g tokens/s of one stream; %.4g GB/s / %.3g GB of active weights = %.4g "
              "steps/s",
              (long long)worst->row, stream_speed(worst),
              audit->hardware->bandwidth_bytes_per_s / 1e9, least_weights(audit->model) / 1e9,
              bound);
    text_addf(&finding->consequence,
              "Even with %d tokens a step that is too fast: tokens are counted that were not "
              "generated.",
              TOKENS_PER_STEP);
}
