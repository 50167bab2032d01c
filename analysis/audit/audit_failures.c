/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on cells in which requests failed: a speed is reported although nothing succeeded, figures
 * cover only the requests that succeeded, requests that were too long are reported as a different
 * failure, or all requests failed. */

#include <string.h>

#include "analysis/audit/audit_places.h"
#include "base/core/memory.h"

#define SUCCESS_NEEDED 0.99 /* low_success reports a smaller share of successes */
#define AT_ONCE_S 2.0       /* requests that fail within this time were refused, not processed */
#define FEW_USERS 4         /* with no more users than this, none delays another's refusal */

/* ---- Success ---- */

static bool is_failed_with_speed(const struct evidence_cell *cell)
{
    bool nothing_succeeded = cell->state == EVIDENCE_FAILED || cell->success_rate <= 0;

    return nothing_succeeded
           && (cell->request_throughput > 0 || cell->output_throughput > 0
               || audit_cell_mean_ms(cell) > 0);
}

/* Writes the first of the figures that make is_failed_with_speed() true. */
static void add_speed(const struct evidence_cell *cell, struct text *out)
{
    if (cell->request_throughput > 0)
        text_addf(out, "%.4g requests/s", cell->request_throughput);
    else if (cell->output_throughput > 0)
        text_addf(out, "%.4g output tokens/s", cell->output_throughput);
    else
        text_addf(out, "a mean latency of %.4g s", audit_cell_mean_ms(cell) / 1000);
}

void audit_check_failed_speed(struct audit *audit)
{
    struct finding *finding;
    const struct evidence_cell *cell;

    finding = audit_find_cells(audit, FINDING_WRONG, is_failed_with_speed);
    if (finding == NULL)
        return;
    cell = audit_first_cell(audit, finding);
    text_addf(&finding->arithmetic, "row %lld failed, but reports ", (long long)cell->row);
    add_speed(cell, &finding->arithmetic);
    text_add(&finding->consequence, "Failed cells have no speed: omit them from every mean.");
}

static bool has_low_success(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && cell->success_rate < SUCCESS_NEEDED
           && cell->success_rate > 0;
}

void audit_check_success(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, has_low_success);
    double lowest = 1;

    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++)
        lowest = fmin(lowest, audit->evidence->cells[finding->cells[i]].success_rate);
    text_addf(&finding->arithmetic, "in the worst cell, %.1f %% of the requests succeeded",
              100 * lowest);
    text_add(&finding->consequence,
             audit->evidence->imported
                 ? "The latencies cover only the requests that succeeded: do not compare these "
                   "cells with others."
                 : "Requests that timed out or were never answered count in the latencies as \"at "
                   "least\" the time that opsbrain waited for them; other failed requests are not "
                   "included: do not compare these cells with others.");
}

/* ---- Failures under another name ---- */

static bool says_too_long(const char *text)
{
    return text != NULL
           && (strstr(text, "400") != NULL || strcasestr(text, "context length") != NULL
               || strcasestr(text, "context window") != NULL || strcasestr(text, "too long") != NULL
               || strcasestr(text, "max_model_len") != NULL);
}

static bool says_out_of_memory(const char *text)
{
    return text != NULL
           && (strcasestr(text, "oom") != NULL || strcasestr(text, "out of memory") != NULL);
}

/* Whether the server refused the requests as too long, but the file reports "out of memory". */
static bool is_called_out_of_memory(const struct evidence_cell *cell)
{
    return says_too_long(cell->error)
           && (says_out_of_memory(cell->status) || says_out_of_memory(cell->error));
}

/* How long the cell's requests took to fail; NaN: not known. */
static double failing_s(const struct evidence_cell *cell)
{
    return cell->duration_s > 0 ? cell->duration_s : cell->latency[METRIC_E2E].max_ms / 1000;
}

static bool fails_at_once_with_few(const struct evidence_cell *cell)
{
    return cell->state == EVIDENCE_FAILED && audit_cell_users(cell) <= FEW_USERS
           && failing_s(cell) < AT_ONCE_S;
}

/* Whether no cell of the run and input length of `first` was measured, and at least one of these
 * cells failed within AT_ONCE_S although it had at most FEW_USERS users. */
static bool is_refused_at_once(const struct audit_places *places, const struct audit_place *first)
{
    bool at_once = false;

    for (size_t i = first->shape; i < first->shape_end; i++) {
        const struct audit_place *place = &places->at[i];

        if (place->is_measured)
            return false;
        at_once = at_once || fails_at_once_with_few(place->cell);
    }
    return at_once;
}

/* Sets out[i] for each cell that failed because of its input length: in its run, no cell of that
 * length or a longer one was measured, but a shorter one was, and is_refused_at_once() is true for
 * that length. */
static void mark_refused_lengths(const struct evidence *evidence, bool *out)
{
    AUDIT_PLACES_AUTO places = audit_places_of(evidence);
    double served = NAN; /* the longest length measured in the run; NaN: none */
    bool refused = false;

    for (size_t i = 0; i < places.count; i++) {
        const struct audit_place *place = &places.at[i];

        if (i == place->run)
            served = NAN;
        for (size_t j = i; i == place->run && j < place->run_end; j++)
            if (places.at[j].is_measured)
                served = fmax(served, places.at[j].length);
        if (i == place->shape)
            refused = place->length > served && is_refused_at_once(&places, place);
        out[place->cell - evidence->cells] = refused && place->cell->state == EVIDENCE_FAILED;
    }
}

/* Input plus output tokens; an answer has at least one. */
static double needed_length(const struct evidence_cell *cell)
{
    return cell->input_length + fmax(1, cell->output_tokens_asked);
}

/* Returns an array with, for each cell, whether its requests were too long, but the file reports a
 * different failure. The caller frees the array. */
static bool *find_misnamed(const struct evidence *evidence)
{
    bool *misnamed = memory_zeroed(evidence->cell_count + 1, sizeof *misnamed);
    double limit = evidence->facts.context_limit_tokens;

    mark_refused_lengths(evidence, misnamed);
    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        misnamed[i] |= (needed_length(cell) > limit && cell->state == EVIDENCE_FAILED)
                       || is_called_out_of_memory(cell);
    }
    return misnamed;
}

/* Returns the cell with the shortest context among the finding's cells that failed at once with few
 * users. There is such a cell if mark_refused_lengths() marked at least one cell. */
static const struct evidence_cell *shortest_refused(const struct evidence *evidence,
                                                    const struct finding *finding)
{
    const struct evidence_cell *shortest = NULL;

    for (size_t i = 0; i < finding->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[finding->cells[i]];

        if (fails_at_once_with_few(cell)
            && (shortest == NULL || cell->input_length < shortest->input_length))
            shortest = cell;
    }
    return shortest;
}

static void add_refusal(const struct evidence *evidence, const struct evidence_cell *cell,
                        struct text *out)
{
    text_addf(out,
              "from %.15g %s on, everything fails, even at %.15g user%s (row %lld), where "
              "failing takes less than %g s",
              cell->input_length, finding_length_unit(evidence), audit_cell_users(cell),
              audit_plural(audit_cell_users(cell)), (long long)cell->row, AT_ONCE_S);
}

void audit_check_misnamed(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    double limit = evidence->facts.context_limit_tokens;
    struct finding *finding = NULL;
    FREE_AUTO bool *misnamed = find_misnamed(evidence);
    const struct evidence_cell *first;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        if (!misnamed[i])
            continue;
        audit_report_cell(audit, FINDING_WRONG, i, &finding);
    }
    if (finding == NULL)
        return;
    first = audit_first_cell(audit, finding);
    if (!isnan(limit))
        text_addf(&finding->arithmetic, "the context of the served model ends at %.15g tokens",
                  limit);
    else if (is_called_out_of_memory(first))
        text_add(&finding->arithmetic, "refused as too long, but reported as out of memory");
    else
        add_refusal(evidence, shortest_refused(evidence, finding), &finding->arithmetic);
    text_add(&finding->consequence,
             "The requests were too long for the model as served: infeasible, not a failure of the "
             "hardware.");
}

/* ---- All requests failed ---- */

/* Reports only cells that the rules above do not report. */
void audit_check_all_failed(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    FREE_AUTO bool *misnamed = find_misnamed(evidence);
    struct finding *finding = NULL;
    const struct evidence_cell *cell;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        cell = &evidence->cells[i];
        if (cell->state != EVIDENCE_FAILED || misnamed[i] || is_failed_with_speed(cell))
            continue;
        audit_report_cell(audit, FINDING_CAUTION, i, &finding);
    }
    if (finding == NULL)
        return;
    cell = audit_first_cell(audit, finding);
    text_addf(&finding->arithmetic, "%zu of %zu cells; row %lld: ", finding->cell_count,
              audit->evidence->cell_count, (long long)cell->row);
    if (cell->failed > 0)
        text_addf(&finding->arithmetic, "%.15g of %.15g requests failed", cell->failed,
                  cell->failed + (cell->succeeded > 0 ? cell->succeeded : 0));
    else
        text_add(&finding->arithmetic, "no request succeeded");
    text_add(&finding->consequence,
             "These cells have no figures: omit them from every mean and from every grid.");
}
