/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on tokens (whether they were counted, and which ones), on warnings from the load
 * generator, and on rates. */

#include "analysis/audit/audit_parts.h"
#include "base/core/memory.h"

#define OUTPUT_NEEDED 16 /* fewer tokens per request are too few to judge generation */
/* If the tokens per request differ from the context by at most this share, they are taken to be the
 * tokens of the context itself: they are "locked" to it. */
#define LOCKED_WITHIN 0.005
#define LOCKED_NEEDED 3 /* at least this many cells must be locked, at two contexts or more */
/* Also, a line is fitted to the tokens per request as a function of the context. The tokens are
 * taken to be those of the context if the line rises by 1 per token of context (within
 * LINE_WITHIN), its constant is at most AUDIT_TEMPLATE_TOKENS, and at least the share LINE_SHARE of
 * the cells lie on it (within LINE_WITHIN). The contexts must differ by at least the factor
 * LINE_SPAN. */
#define LINE_WITHIN 0.03
#define LINE_SPAN 4
#define LINE_SHARE 0.8
#define RATES_WITHIN 0.03  /* rates that differ by at most this share agree */
#define SMALLEST_UNIT 1e-6 /* figures are taken to be rounded to this unit or a larger one */

/* False if no output was requested and none is reported, as when an engine only reads prompts: then
 * there is no generation to judge. */
static bool has_short_output(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && audit_cell_tokens_out(cell) < OUTPUT_NEEDED
           && (cell->output_tokens_asked != 0 || cell->output_throughput > 0);
}

void audit_check_one_token(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_CAUTION, has_short_output);
    double least = INFINITY;

    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++)
        least = fmin(least, audit_cell_tokens_out(&audit->evidence->cells[finding->cells[i]]));
    text_addf(&finding->arithmetic,
              "as few as %.3g output tokens per request; at least %d are needed", least,
              OUTPUT_NEEDED);
    text_add(&finding->consequence, "No conclusion about generation speed, quantization or "
                                    "speculative decoding is valid: these cells measure prefill "
                                    "and overhead.");
}

/* ---- Which tokens? ---- */

/* Tokens per request computed from the rates, whichever tokens the file counts. */
static double tokens_per_request(const struct evidence_cell *cell)
{
    double rate = isnan(cell->token_throughput) ? cell->output_throughput : cell->token_throughput;

    return rate / cell->request_throughput;
}

/* Whether the tokens per request can be those of the context: not if they equal the requested
 * output length, because then they are output tokens. */
static bool may_be_locked(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && cell->input_length > 1 && tokens_per_request(cell) > 0
           && !(fabs(tokens_per_request(cell) / cell->output_tokens_asked - 1)
                < AUDIT_LENGTH_WITHIN);
}

/* Whether the tokens per request equal the context, within the rounding of a rate. */
static bool is_locked(const struct evidence_cell *cell)
{
    return may_be_locked(cell)
           && fabs(tokens_per_request(cell) / cell->input_length - 1) < LOCKED_WITHIN;
}

/* Whether enough cells are locked, at two contexts or more: at one context alone, an output length
 * that the file does not state may happen to equal the context. */
static bool is_proven_by_matches(const struct evidence *evidence)
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

/* Tokens per request = a + b x context, by least squares over the cells that may be locked. */
struct line {
    double a, b;
    double low, high; /* the smallest and the largest context of these cells */
    size_t count;     /* number of these cells */
};

static struct line fit_line(const struct evidence *evidence)
{
    struct line line = { .low = INFINITY, .high = 0 };
    double x = 0, y = 0, xx = 0, xy = 0, n;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];
        double length = cell->input_length, tokens = tokens_per_request(cell);

        if (!may_be_locked(cell))
            continue;
        line.count++;
        line.low = fmin(line.low, length);
        line.high = fmax(line.high, length);
        x += length;
        y += tokens;
        xx += length * length;
        xy += length * tokens;
    }
    n = (double)line.count;
    line.b = (n * xy - x * y) / (n * xx - x * x);
    line.a = (y - line.b * x) / n;
    return line;
}

static bool is_on_line(const struct evidence_cell *cell, const struct line *line)
{
    double tokens = line->a + line->b * cell->input_length;

    return may_be_locked(cell) && fabs(tokens_per_request(cell) / tokens - 1) < LINE_WITHIN;
}

/* Whether tokens per request are the tokens of the context plus a small constant, over widely
 * different contexts. The constant can come from a chat template, short answers or a rounded
 * rate. */
static bool is_line_of_context(const struct evidence *evidence, const struct line *line)
{
    size_t on_line = 0;

    if (line->count < LOCKED_NEEDED || !(line->high >= LINE_SPAN * line->low)
        || !(fabs(line->b - 1) < LINE_WITHIN) || !(fabs(line->a) <= AUDIT_TEMPLATE_TOKENS))
        return false;
    for (size_t i = 0; i < evidence->cell_count; i++)
        on_line += is_on_line(&evidence->cells[i], line);
    return (double)on_line >= LINE_SHARE * (double)line->count;
}

/* Sets locked[i] for each cell whose tokens are those of its context; false: there are none. */
static bool find_locked(const struct evidence *evidence, bool *locked)
{
    struct line line = fit_line(evidence);
    bool proven = is_proven_by_matches(evidence), on_line = is_line_of_context(evidence, &line);

    for (size_t i = 0; i < evidence->cell_count; i++)
        locked[i] = (proven && is_locked(&evidence->cells[i]))
                    || (on_line && is_on_line(&evidence->cells[i], &line));
    return proven || on_line;
}

void audit_check_locked_tokens(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    FREE_AUTO bool *locked = memory_zeroed(evidence->cell_count + 1, sizeof *locked);
    struct finding *finding;
    const struct evidence_cell *cell;

    if (!find_locked(evidence, locked))
        return;
    finding = audit_add_finding(audit, FINDING_WRONG);
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (locked[i])
            audit_finding_add_cell(finding, i);
    cell = &evidence->cells[finding->cells[finding->cell_count - 1]];
    text_addf(&finding->arithmetic,
              "%zu cells have tokens/s = context x requests/s; row %lld: %.5g tokens/s / %.5g "
              "requests/s = %.5g, at a context of %.15g",
              finding->cell_count, (long long)cell->row,
              tokens_per_request(cell) * cell->request_throughput, cell->request_throughput,
              tokens_per_request(cell), cell->input_length);
    text_add(&finding->consequence, "These are prompt tokens: neither generation speed nor a price "
                                    "per generated token follows from them.");
}

static bool counts_nothing(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && isnan(audit_cell_tokens_out(cell))
           && isnan(cell->output_throughput);
}

void audit_check_unknown_output(struct audit *audit)
{
    struct finding *finding;

    finding = audit_find_cells(audit, FINDING_CAUTION, counts_nothing);
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic, "cells without a count of output tokens: %zu",
              finding->cell_count);
    text_add(&finding->consequence,
             "The length of the answers is not known: do not compare these cells with another "
             "workload, and draw no conclusion about generation.");
}

static bool is_estimated(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && cell->tokens_estimated;
}

void audit_check_estimated(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_CAUTION, is_estimated);

    if (finding == NULL)
        return;
    text_add(&finding->arithmetic,
             "answers without usage: each of their chunks was counted as one token");
    text_add(
        &finding->consequence,
        "With speculative decoding or tool calls, a chunk can hold several tokens: token rates are "
        "lower bounds.");
}

/* ---- Warnings from the load generator ---- */

static bool is_client_limited(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && cell->client_limited;
}

void audit_check_client(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_client_limited);

    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic, "cells with the warning client_limited: %zu",
              finding->cell_count);
    text_add(&finding->consequence, "The measuring machine was the bottleneck: the server may be "
                                    "faster than these cells show.");
}

static bool is_contaminated(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && cell->contaminated;
}

void audit_check_contaminated(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_contaminated);

    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic,
              "cells in which the server also worked for other clients, each time they were "
              "measured: %zu; run_show with `cell` says how this was detected",
              finding->cell_count);
    text_add(&finding->consequence, "Other clients used the server at the same time: undisturbed, "
                                    "it can do more than these cells show.");
}

static bool is_uneven(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && evidence_has_warning(cell, "uneven");
}

void audit_check_uneven(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_uneven);

    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic,
              "cells in which the server stalled, its speed changed or varied, or its metrics were "
              "missing for a while: %zu; each cell's `reason` in run_show says which",
              finding->cell_count);
    text_add(&finding->consequence, "The means of these cells may mix different states of the "
                                    "server, and describe none of them.");
}

/* ---- Rates ---- */

/* The maximum error that rounding can have caused in the figure: half a unit of its last decimal,
 * or 0.5 for an integer. */
static double rounding_error(double value)
{
    double unit = 1;

    while (unit > SMALLEST_UNIT && fabs(value / unit - round(value / unit)) > 1e-6)
        unit /= 10;
    return unit / 2;
}

/* Whether the rate differs from count / duration_s by more than rounding and RATES_WITHIN explain.
 * False if the count is so small that a difference of 1 exceeds RATES_WITHIN, or if a figure is not
 * known. */
static bool disagrees(double rate, double count, double duration_s)
{
    double seconds_off = rounding_error(duration_s), rate_off = rounding_error(rate);
    double least = count / (duration_s + seconds_off), most = count / (duration_s - seconds_off);

    return rate > 0 && duration_s > seconds_off && count >= 1 / RATES_WITHIN
           && (rate + rate_off < least * (1 - RATES_WITHIN)
               || rate - rate_off > most * (1 + RATES_WITHIN));
}

/* Writes the first of the cell's rates that disagrees with its other figures; false: none does. */
static bool find_odd_rate(const struct evidence_cell *cell, struct text *out)
{
    double both = cell->input_throughput + cell->output_throughput;

    if (disagrees(cell->request_throughput, cell->succeeded, cell->duration_s))
        text_addf(out, "%.5g requests/s, but %.15g requests succeeded in %.5g s",
                  cell->request_throughput, cell->succeeded, cell->duration_s);
    else if (disagrees(cell->output_throughput, cell->output_tokens, cell->duration_s))
        text_addf(out, "%.5g output tokens/s, but %.15g output tokens in %.5g s",
                  cell->output_throughput, cell->output_tokens, cell->duration_s);
    else if (both > 0 && fabs(cell->total_throughput / both - 1) > RATES_WITHIN)
        text_addf(out, "%.5g tokens/s in total, but %.5g input and %.5g output tokens/s",
                  cell->total_throughput, cell->input_throughput, cell->output_throughput);
    return out->length > 0;
}

static bool has_odd_rates(const struct evidence_cell *cell)
{
    TEXT_AUTO odd = { 0 };

    return audit_cell_is_measured(cell) && find_odd_rate(cell, &odd);
}

void audit_check_rates(struct audit *audit)
{
    struct finding *finding;
    const struct evidence_cell *cell;
    TEXT_AUTO odd = { 0 };

    finding = audit_find_cells(audit, FINDING_CAUTION, has_odd_rates);
    if (finding == NULL)
        return;
    cell = audit_first_cell(audit, finding);
    find_odd_rate(cell, &odd);
    text_addf(&finding->arithmetic, "row %lld: %s", (long long)cell->row, text_string(&odd));
    text_add(
        &finding->consequence,
        "A rate was computed from a duration or from counts that differ from those in the row.");
}
