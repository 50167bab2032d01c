/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on the rows: which rows repeat an earlier one, or copy a row of another run. */

#include <stdlib.h>
#include <string.h>

#include "analysis/audit/audit_parts.h"
#include "base/core/memory.h"

/* Mean output lengths that differ by at most this share count as equal: if no length was requested,
 * answers end on their own, so their lengths vary. */
#define OUTPUT_WITHIN 0.1
#define COPIES_NEEDED 3 /* at least this many equal cells show a copy: fewer may be chance */

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

/* Compares the loads. If neither cell has one, as in a burst, compares the numbers of requests; an
 * unknown number equals no other. */
static bool same_load(const struct evidence_cell *a, const struct evidence_cell *b)
{
    if (isnan(a->concurrency) && isnan(a->request_rate_asked) && isnan(b->concurrency)
        && isnan(b->request_rate_asked))
        return a->requests_asked >= b->requests_asked && a->requests_asked <= b->requests_asked;
    return same(a->concurrency, b->concurrency)
           && same(a->request_rate_asked, b->request_rate_asked);
}

/* Compares the requested output lengths. If neither cell has one, compares the measured lengths; an
 * unknown measured length equals any other. */
static bool same_output(const struct evidence_cell *a, const struct evidence_cell *b)
{
    double mean = a->output_tokens_mean, other = b->output_tokens_mean;

    if (!isnan(a->output_tokens_asked) || !isnan(b->output_tokens_asked))
        return same(a->output_tokens_asked, b->output_tokens_asked);
    return isnan(mean) || isnan(other) || fabs(mean - other) <= OUTPUT_WITHIN * fmax(mean, other);
}

static bool same_place(const struct evidence_cell *a, const struct evidence_cell *b)
{
    return same_load(a, b) && audit_cells_same_length(a, b) && same_output(a, b)
           && audit_cells_same_run(a, b);
}

/* ---- Duplicates ---- */

/* Compares the variants, and what was requested: the loads (if there are none, the numbers of
 * requests) and the lengths. Cells that differ here are at different places in the grid. */
static int compare_stated(const struct evidence_cell *a, const struct evidence_cell *b)
{
    const double pairs[][2] = {
        { a->concurrency, b->concurrency },
        { a->request_rate_asked, b->request_rate_asked },
        { round(a->input_length), round(b->input_length) },
        { a->output_tokens_asked, b->output_tokens_asked },
    };
    int order = strcmp(a->variant, b->variant);

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && order == 0; i++)
        order = audit_compare(pairs[i][0], pairs[i][1]);
    if (order == 0 && isnan(a->concurrency) && isnan(a->request_rate_asked))
        order = audit_compare(a->requests_asked, b->requests_asked);
    return order;
}

static int compare_stated_then_row(const void *left, const void *right)
{
    const struct evidence_cell *a = *(const struct evidence_cell *const *)left;
    const struct evidence_cell *b = *(const struct evidence_cell *const *)right;
    int order = compare_stated(a, b);

    return order != 0 ? order : (a > b) - (a < b);
}

/* Returns the first cell from sorted[from] on that has the same place as sorted[index]. */
static const struct evidence_cell *first_of_place(const struct evidence_cell *const *sorted,
                                                  size_t from, size_t index)
{
    while (!same_place(sorted[from], sorted[index]))
        if (++from >= index)
            return sorted[index];
    return sorted[from];
}

/* Returns an array with, for each cell, the first cell at the same place, which can be the cell
 * itself. The caller frees the array. */
static const struct evidence_cell **firsts_of(const struct evidence *evidence)
{
    size_t count = evidence->cell_count, group = 0;
    const struct evidence_cell **firsts = memory_zeroed(count + 1, sizeof *firsts);
    FREE_AUTO const struct evidence_cell **sorted = memory_zeroed(count + 1, sizeof *sorted);

    for (size_t i = 0; i < count; i++)
        sorted[i] = &evidence->cells[i];
    qsort(sorted, count, sizeof *sorted, compare_stated_then_row);
    for (size_t i = 0; i < count; i++) {
        if (compare_stated(sorted[group], sorted[i]) != 0)
            group = i;
        firsts[sorted[i] - evidence->cells] = first_of_place(sorted, group, i);
    }
    return firsts;
}

/* Sets before[i] to the number of cells that precede cell i at its place. Returns an array with the
 * number of cells at each place, stored at the index of the place's first cell. The caller frees
 * the array. */
static size_t *count_places(const struct evidence_cell *const *firsts,
                            const struct evidence *evidence, size_t *before)
{
    size_t *totals = memory_zeroed(evidence->cell_count + 1, sizeof *totals);

    for (size_t i = 0; i < evidence->cell_count; i++)
        before[i] = totals[firsts[i] - evidence->cells]++;
    return totals;
}

/* Whether all places have the same number of cells. */
static bool are_repeated_alike(const struct evidence_cell *const *firsts,
                               const struct evidence *evidence, const size_t *totals)
{
    for (size_t i = 1; i < evidence->cell_count; i++)
        if (totals[firsts[i] - evidence->cells] != totals[0])
            return false;
    return true;
}

/* Sets passes[i] to the number of cell i's run, counted from 0. A cell whose place has already
 * occurred in the current run begins the next run. */
static void split_by_rows(const struct evidence_cell *const *firsts,
                          const struct evidence *evidence, size_t *passes)
{
    /* for each place, the last run that has a cell there, counted from 1; 0: none yet */
    FREE_AUTO size_t *last = memory_zeroed(evidence->cell_count + 1, sizeof *last);
    size_t pass = 0;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        size_t *last_of_place = &last[firsts[i] - evidence->cells];

        pass += *last_of_place == pass + 1;
        *last_of_place = pass + 1;
        passes[i] = pass;
    }
}

size_t *audit_passes(const struct evidence *evidence)
{
    FREE_AUTO const struct evidence_cell **firsts = firsts_of(evidence);
    size_t *passes = memory_zeroed(evidence->cell_count + 1, sizeof *passes);
    FREE_AUTO size_t *totals = count_places(firsts, evidence, passes);

    if (evidence->cell_count > 0 && !are_repeated_alike(firsts, evidence, totals))
        split_by_rows(firsts, evidence, passes);
    return passes;
}

/* Describes the repeated cell whose request rate differs most from that of the first cell at its
 * place. Adds nothing if no two such rates are known. */
static void describe_spread(const struct evidence *evidence,
                            const struct evidence_cell *const *firsts, struct finding *finding)
{
    const struct evidence_cell *worst_first = NULL, *worst = NULL;
    double widest = -1;

    for (size_t i = 0; i < finding->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[finding->cells[i]];
        const struct evidence_cell *first = firsts[finding->cells[i]];
        double spread = fabs(cell->request_throughput - first->request_throughput);

        if (spread > widest) {
            widest = spread;
            worst_first = first;
            worst = cell;
        }
    }
    if (worst == NULL)
        return;
    text_add(&finding->arithmetic, "; widest difference");
    if (!isnan(audit_cell_users(worst)))
        text_addf(&finding->arithmetic, " at %.15g user%s", audit_cell_users(worst),
                  audit_plural(audit_cell_users(worst)));
    text_addf(&finding->arithmetic,
              ": %.4g requests/s (row %lld) and %.4g (row %lld), whose mean would be %.4g",
              worst_first->request_throughput, (long long)worst_first->row,
              worst->request_throughput, (long long)worst->row,
              (worst->request_throughput + worst_first->request_throughput) / 2);
}

void audit_check_duplicates(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    FREE_AUTO const struct evidence_cell **firsts = firsts_of(evidence);
    struct finding *finding = NULL;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        if (firsts[i] == &evidence->cells[i])
            continue;
        audit_report_cell(audit, FINDING_WRONG, i, &finding);
    }
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic,
              "cells that repeat the load and lengths of an earlier row: %zu of %zu",
              finding->cell_count, evidence->cell_count);
    describe_spread(evidence, firsts, finding);
    text_add(&finding->consequence,
             "The file holds two or more runs: separate them, and do not average them.");
}

/* ---- Copies ---- */

/* Compares the request rates, the mean latencies, and the requested loads and lengths. */
static int compare_cells(const void *left, const void *right)
{
    const struct evidence_cell *a = *(const struct evidence_cell *const *)left;
    const struct evidence_cell *b = *(const struct evidence_cell *const *)right;
    const double pairs[][2] = {
        { a->request_throughput, b->request_throughput },
        { audit_cell_mean_ms(a), audit_cell_mean_ms(b) },
        { a->concurrency, b->concurrency },
        { a->input_length, b->input_length },
        { a->output_tokens_asked, b->output_tokens_asked },
        { a->request_rate_asked, b->request_rate_asked },
    };
    int order = 0;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && order == 0; i++)
        order = audit_compare(pairs[i][0], pairs[i][1]);
    return order;
}

/* Whether the cell was measured and its request rate has more than three decimals: another cell
 * is unlikely to have the same rate by chance. */
static bool is_distinctive(const struct evidence_cell *cell)
{
    double rate = cell->request_throughput;

    return audit_cell_is_measured(cell) && rate > 0
           && fabs(rate - round(rate * 1000) / 1000) > 1e-9;
}

/* The distinctive cells, sorted by compare_cells; the caller frees the array. */
static const struct evidence_cell **sort_cells(const struct evidence *evidence, size_t *count)
{
    const struct evidence_cell **cells = memory_zeroed(evidence->cell_count + 1, sizeof *cells);

    *count = 0;
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (is_distinctive(&evidence->cells[i]))
            cells[(*count)++] = &evidence->cells[i];
    qsort(cells, *count, sizeof *cells, compare_cells);
    return cells;
}

static void check_copy(struct audit *audit, const struct evidence *other)
{
    const struct evidence *evidence = audit->evidence;
    FREE_AUTO size_t *copies = memory_zeroed(evidence->cell_count + 1, sizeof *copies);
    size_t count = 0, sorted_count;
    FREE_AUTO const struct evidence_cell **sorted = sort_cells(other, &sorted_count);
    struct finding *finding;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (is_distinctive(cell)
            && bsearch(&cell, sorted, sorted_count, sizeof *sorted, compare_cells) != NULL)
            copies[count++] = i;
    }
    if (count < COPIES_NEEDED)
        return;
    finding = audit_add_finding(audit, FINDING_WRONG);
    for (size_t i = 0; i < count; i++)
        audit_finding_add_cell(finding, copies[i]);
    text_addf(&finding->arithmetic,
              "%zu of %zu cells equal a cell of %s (%s) to the last digit, in request rate and, if "
              "known, mean latency",
              count, evidence->cell_count, other->id, other->name);
    text_add(&finding->consequence,
             "One measurement under two names: at most one of the names is right. Do not compare "
             "the two runs.");
}

/* Whether both are the same run, or imports of the same file (with different stated facts, for
 * example): then neither is a copy of the other. */
static bool is_same_file(const struct evidence *a, const struct evidence *b)
{
    return strcmp(a->id, b->id) == 0 || (a->digest[0] != '\0' && strcmp(a->digest, b->digest) == 0);
}

void audit_check_copies(struct audit *audit)
{
    const struct audit_input *input = audit->input;
    const struct evidence *evidence = audit->evidence;
    struct evidence other;

    while (input->next_other != NULL && input->next_other(input->context, &other)) {
        if (!is_same_file(evidence, &other))
            check_copy(audit, &other);
        evidence_finish(&other);
    }
    for (size_t i = 0; i < json_array_size(evidence->other_names); i++) {
        struct finding *finding = audit_add_finding(audit, FINDING_WRONG);

        text_addf(&finding->arithmetic, "the same file was imported as \"%s\" and as \"%s\"",
                  evidence->name, json_string_value(json_array_get(evidence->other_names, i)));
        text_add(&finding->consequence,
                 "One measurement under two names: at most one of the names is right.");
    }
}
