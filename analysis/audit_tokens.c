/* Rules on tokens: were they counted, and which? */

#include "analysis/audit_parts.h"

#define OUTPUT_NEEDED 16    /* tokens per request below which nothing is said of generation */
#define LOCKED_WITHIN 0.005 /* tokens per request equal to the context within this share */
#define LOCKED_NEEDED 3     /* cells, at two contexts or more */
#define CACHED_SHARE 0.1    /* of the input tokens */
#define RATES_WITHIN 0.03
#define RECOUNTED_WITHIN 0.02
#define LENGTH_WITHIN 0.1 /* of the tokens asked for: a chat template may add some */

static bool has_short_output(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cell_tokens_out(cell) < OUTPUT_NEEDED;
}

void check_one_token(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_CAUTION, has_short_output);
    double least = INFINITY;

    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++)
        least = fmin(least, cell_tokens_out(&audit->evidence->cells[finding->cells[i]]));
    text_addf(&finding->arithmetic, "%.3g output tokens per request, where %d are needed", least,
              OUTPUT_NEEDED);
    text_add(&finding->consequence,
             "Nothing follows for generation speed, quantization or speculative decoding: this is "
             "prefill and overhead.");
}

/* ---- Which tokens? ---- */

/* Tokens per request by the rates: of whatever tokens the file counts. */
static double tokens_per_request(const struct evidence_cell *cell)
{
    double rate = isnan(cell->token_throughput) ? cell->output_throughput : cell->token_throughput;

    return rate / cell->request_throughput;
}

static bool is_locked(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cell->input_length > 1
           && fabs(tokens_per_request(cell) / cell->input_length - 1) < LOCKED_WITHIN;
}

/* At one context alone it may be chance: as many tokens may have been asked for. */
static bool is_proof(const struct evidence *evidence)
{
    double low = INFINITY, high = 0;
    size_t count = 0;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (!is_locked(cell))
            continue;
        count++;
        low = fmin(low, cell->input_length);
        high = fmax(high, cell->input_length);
    }
    return count >= LOCKED_NEEDED && high > low;
}

void check_locked_tokens(struct audit *audit)
{
    struct finding *finding;
    const struct evidence_cell *cell;

    if (!is_proof(audit->evidence))
        return;
    finding = audit_find_cells(audit, FINDING_WRONG, is_locked);
    cell = &audit->evidence->cells[finding->cells[finding->cell_count - 1]];
    text_addf(&finding->arithmetic,
              "%zu cells have tokens/s = context x requests/s; row %lld: %.5g tokens/s / %.5g "
              "requests/s = %.5g, the context",
              finding->cell_count, (long long)cell->row,
              tokens_per_request(cell) * cell->request_throughput, cell->request_throughput,
              tokens_per_request(cell));
    text_add(&finding->consequence, "These are prompt tokens: neither generation speed nor a price "
                                    "per generated token follows.");
}

static bool counts_nothing(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && isnan(cell_tokens_out(cell)) && isnan(cell->output_throughput);
}

void check_unknown_output(struct audit *audit)
{
    struct finding *finding;

    if (!audit->evidence->imported)
        return;
    finding = audit_find_cells(audit, FINDING_CAUTION, counts_nothing);
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic, "%zu cells tell no number of output tokens",
              finding->cell_count);
    text_add(&finding->consequence,
             "Requests of unknown length: do not compare them with another workload, and conclude "
             "nothing on generation.");
}

static bool is_estimated(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cell->tokens_estimated;
}

void check_estimated(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_CAUTION, is_estimated);

    if (finding == NULL)
        return;
    text_add(&finding->arithmetic, "the server told no usage: one chunk was taken for one token");
    text_add(&finding->consequence,
             "With speculative decoding or tool calls a chunk is several tokens: token rates are "
             "lower bounds.");
}

static bool differs(double counted, double told)
{
    return fabs(counted / told - 1) > RECOUNTED_WITHIN;
}

static bool is_recounted(const struct evidence_cell *cell)
{
    return cell_is_measured(cell)
           && (differs(cell->output_tokens_mean, cell->output_tokens_usage)
               || differs(cell->input_tokens_mean, cell->input_tokens_usage));
}

void check_recounted(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_recounted);
    const struct evidence_cell *cell;

    if (finding == NULL)
        return;
    cell = &audit->evidence->cells[finding->cells[0]];
    text_addf(&finding->arithmetic,
              "row %lld: the tool's tokenizer counts %.4g input and %.4g output tokens per "
              "request, the server's usage tells %.4g and %.4g",
              (long long)cell->row, cell->input_tokens_mean, cell->output_tokens_mean,
              cell->input_tokens_usage, cell->output_tokens_usage);
    text_add(&finding->consequence,
             "Lengths, tokens/s and TPOT are not those of the served model: compare requests/s "
             "and latencies, or measure again with the model's own tokenizer.");
}

/* By the server's count where it is told. */
static double input_seen(const struct evidence_cell *cell)
{
    return isnan(cell->input_tokens_usage) ? cell->input_tokens_mean : cell->input_tokens_usage;
}

static double output_seen(const struct evidence_cell *cell)
{
    return isnan(cell->output_tokens_usage) ? cell->output_tokens_mean : cell->output_tokens_usage;
}

static bool has_other_length(const struct evidence_cell *cell)
{
    return cell_is_measured(cell)
           && (fabs(input_seen(cell) - cell->input_length) > LENGTH_WITHIN * cell->input_length
               || fabs(output_seen(cell) - cell->output_tokens_asked)
                      > LENGTH_WITHIN * cell->output_tokens_asked);
}

void check_lengths(struct audit *audit)
{
    struct finding *finding;
    const struct evidence_cell *cell;

    if (audit->evidence->input_unit != LENGTH_TOKENS
        || !audit->evidence->imported) /* our own cells tell each request's own lengths */
        return;
    finding = audit_find_cells(audit, FINDING_CAUTION, has_other_length);
    if (finding == NULL)
        return;
    cell = &audit->evidence->cells[finding->cells[0]];
    text_addf(&finding->arithmetic, "row %lld:", (long long)cell->row);
    if (!isnan(cell->input_length + input_seen(cell)))
        text_addf(&finding->arithmetic, " %.4g input tokens asked for, %.4g seen;",
                  cell->input_length, input_seen(cell));
    if (!isnan(cell->output_tokens_asked + output_seen(cell)))
        text_addf(&finding->arithmetic, " %.4g output tokens asked for, %.4g seen;",
                  cell->output_tokens_asked, output_seen(cell));
    finding->arithmetic.data[--finding->arithmetic.length] = '\0';
    text_add(&finding->consequence,
             "Name the lengths that were seen, not those asked for, and compare only with runs "
             "that have the same.");
}

/* ---- Prefix cache ---- */

/* Of the input tokens; NaN. */
static double cached_share(const struct evidence_cell *cell)
{
    if (!isnan(cell->cached_share))
        return cell->cached_share;
    if (!isnan(cell->input_tokens))
        return cell->cached_tokens / cell->input_tokens;
    return cell->cached_tokens / (cell->input_tokens_mean * cell->succeeded);
}

static bool is_cached(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cached_share(cell) > CACHED_SHARE;
}

void check_cache(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_CAUTION, is_cached);
    double most = 0;

    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[finding->cells[i]];

        most = fmax(most, cached_share(cell));
    }
    text_addf(&finding->arithmetic, "up to %.0f %% of the input tokens came from the prefix cache",
              100 * most);
    text_add(&finding->consequence,
             "Prefill was mostly not done: TTFT and input rates are those of repeated prompts.");
}

/* ---- The client ---- */

static bool is_client_limited(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cell->client_limited;
}

void check_client(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_client_limited);

    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic, "%zu cells are marked client_limited", finding->cell_count);
    text_add(&finding->consequence,
             "The machine that measured was the limit: the server may be faster than these cells.");
}

static bool is_contaminated(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cell->contaminated;
}

void check_contaminated(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_contaminated);

    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic,
              "in %zu cells the server worked for others too, each time they were measured: "
              "run_show with `cell` tells by what that was seen",
              finding->cell_count);
    text_add(&finding->consequence,
             "Others used the server meanwhile: these cells show less than it can do alone.");
}

/* ---- Rates ---- */

static bool disagrees(double rate, double count, double duration_s)
{
    double computed = count / duration_s;

    return rate > 0 && computed > 0 && count >= 1 / RATES_WITHIN
           && fabs(rate / computed - 1) > RATES_WITHIN;
}

static bool has_odd_rates(const struct evidence_cell *cell)
{
    double both = cell->input_throughput + cell->output_throughput;

    return cell_is_measured(cell)
           && (disagrees(cell->request_throughput, cell->succeeded, cell->duration_s)
               || disagrees(cell->output_throughput, cell->output_tokens, cell->duration_s)
               || (both > 0 && fabs(cell->total_throughput / both - 1) > RATES_WITHIN));
}

void check_rates(struct audit *audit)
{
    struct finding *finding;
    const struct evidence_cell *cell;

    if (!audit->evidence->imported)
        return;
    finding = audit_find_cells(audit, FINDING_CAUTION, has_odd_rates);
    if (finding == NULL)
        return;
    cell = &audit->evidence->cells[finding->cells[0]];
    text_addf(&finding->arithmetic, "row %lld: %.5g requests/s, but %.15g succeeded in %.5g s",
              (long long)cell->row, cell->request_throughput, cell->succeeded, cell->duration_s);
    text_add(&finding->consequence,
             "A rate was taken over another time or other requests than the row says.");
}
