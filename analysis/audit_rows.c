/* Rules on the rows: which of them are there twice, copied, or not what they say. */

#include <stdlib.h>
#include <string.h>

#include "analysis/audit_parts.h"
#include "base/memory.h"

#define SUCCESS_NEEDED 0.99
#define OUTPUT_WITHIN 0.1 /* answers end where they like: as long as another run's */
#define COPIES_NEEDED 3   /* cells equal to the digit: fewer may be chance */

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

/* A load that the file tells; how many requests a burst had, where it says no more. */
static bool same_load(const struct evidence_cell *a, const struct evidence_cell *b)
{
    if (isnan(a->concurrency) && isnan(a->request_rate_asked) && isnan(b->concurrency)
        && isnan(b->request_rate_asked))
        return a->requests_asked >= b->requests_asked && a->requests_asked <= b->requests_asked;
    return same(a->concurrency, b->concurrency)
           && same(a->request_rate_asked, b->request_rate_asked);
}

/* As asked for, or as it was seen where the file does not say what was asked for. */
static bool same_output(const struct evidence_cell *a, const struct evidence_cell *b)
{
    double seen = a->output_tokens_mean, other = b->output_tokens_mean;

    if (!isnan(a->output_tokens_asked) || !isnan(b->output_tokens_asked))
        return same(a->output_tokens_asked, b->output_tokens_asked);
    return isnan(seen) || isnan(other) || fabs(seen - other) <= OUTPUT_WITHIN * fmax(seen, other);
}

static bool same_place(const struct evidence_cell *a, const struct evidence_cell *b)
{
    return same_load(a, b) && cells_same_length(a, b) && same_output(a, b) && cells_same_run(a, b);
}

/* ---- The same cell again ---- */

/* By all of a place that is told: what stands apart here is of different places. */
static int compare_told(const struct evidence_cell *a, const struct evidence_cell *b)
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

static int compare_told_then_row(const void *left, const void *right)
{
    const struct evidence_cell *a = *(const struct evidence_cell *const *)left;
    const struct evidence_cell *b = *(const struct evidence_cell *const *)right;
    int order = compare_told(a, b);

    return order != 0 ? order : (a > b) - (a < b);
}

/* The first of `sorted` at the place of sorted[index], from `from` on, where all that may be begin.
 */
static const struct evidence_cell *first_of_place(const struct evidence_cell *const *sorted,
                                                  size_t from, size_t index)
{
    while (!same_place(sorted[from], sorted[index]))
        if (++from >= index)
            return sorted[index];
    return sorted[from];
}

/* Of each cell the first one of its place, itself or an earlier one; free(). */
static const struct evidence_cell **firsts_of(const struct evidence *evidence)
{
    size_t count = evidence->cell_count, group = 0;
    const struct evidence_cell **firsts = memory_zeroed(count + 1, sizeof *firsts);
    FREE_AUTO const struct evidence_cell **sorted = memory_zeroed(count + 1, sizeof *sorted);

    for (size_t i = 0; i < count; i++)
        sorted[i] = &evidence->cells[i];
    qsort(sorted, count, sizeof *sorted, compare_told_then_row);
    for (size_t i = 0; i < count; i++) {
        if (compare_told(sorted[group], sorted[i]) != 0)
            group = i;
        firsts[sorted[i] - evidence->cells] = first_of_place(sorted, group, i);
    }
    return firsts;
}

/* The pair of a place whose rates differ most. */
static void tell_spread(const struct evidence *evidence, const struct evidence_cell *const *firsts,
                        struct finding *finding)
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
    text_add(&finding->arithmetic, "; ");
    if (!isnan(cell_users(worst)))
        text_addf(&finding->arithmetic, "at %.15g users ", cell_users(worst));
    text_addf(&finding->arithmetic,
              "%.4g requests/s (row %lld) and %.4g (row %lld), of which the mean would be %.4g",
              worst_first->request_throughput, (long long)worst_first->row,
              worst->request_throughput, (long long)worst->row,
              (worst->request_throughput + worst_first->request_throughput) / 2);
}

void check_duplicates(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    FREE_AUTO const struct evidence_cell **firsts = firsts_of(evidence);
    struct finding *finding = NULL;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        if (firsts[i] == &evidence->cells[i])
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_WRONG);
        finding_add_cell(finding, i);
    }
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic, "%zu of %zu cells stand for a place that an earlier row has",
              finding->cell_count, evidence->cell_count);
    tell_spread(evidence, firsts, finding);
    text_add(&finding->consequence,
             "These are two runs or more in one file: take them apart, and do not average them.");
}

/* ---- Copies ---- */

/* By the place and by the figures that are never equal by chance. */
static int compare_cells(const void *left, const void *right)
{
    const struct evidence_cell *a = *(const struct evidence_cell *const *)left;
    const struct evidence_cell *b = *(const struct evidence_cell *const *)right;
    const double pairs[][2] = {
        { a->request_throughput, b->request_throughput },
        { cell_mean_ms(a), cell_mean_ms(b) },
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

/* Has it figures with so many digits that they cannot be another's too? */
static bool is_distinctive(const struct evidence_cell *cell)
{
    double rate = cell->request_throughput;

    return cell_is_measured(cell) && rate > 0 && fabs(rate - round(rate * 1000) / 1000) > 1e-9;
}

/* The distinctive cells in order; free(). */
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
    finding = audit_find(audit, FINDING_WRONG);
    for (size_t i = 0; i < count; i++)
        finding_add_cell(finding, copies[i]);
    text_addf(&finding->arithmetic, "%zu of %zu cells are equal to the digit with those of %s (%s)",
              count, evidence->cell_count, other->id, other->name);
    text_add(&finding->consequence,
             "One measurement under two names: at most one of them is what it says. Do not compare "
             "them.");
}

void check_copies(struct audit *audit)
{
    const struct audit_input *input = audit->input;
    const struct evidence *evidence = audit->evidence;
    struct evidence other;

    while (input->next_other != NULL && input->next_other(input->context, &other)) {
        if (strcmp(other.id, evidence->id) != 0)
            check_copy(audit, &other);
        evidence_finish(&other);
    }
    for (size_t i = 0; i < json_array_size(evidence->other_names); i++) {
        struct finding *finding = audit_find(audit, FINDING_WRONG);

        text_addf(&finding->arithmetic, "the same file came as \"%s\" and as \"%s\"",
                  evidence->name, json_string_value(json_array_get(evidence->other_names, i)));
        text_add(&finding->consequence,
                 "One measurement under two names: at most one of them is what it says.");
    }
}

/* ---- Success ---- */

static bool is_failed_with_speed(const struct evidence_cell *cell)
{
    bool nothing_succeeded = cell->state == EVIDENCE_FAILED || cell->success_rate <= 0;

    return nothing_succeeded
           && (cell->request_throughput > 0 || cell->output_throughput > 0
               || cell_mean_ms(cell) > 0);
}

void check_failed_speed(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_failed_with_speed);
    const struct evidence_cell *cell;

    if (finding == NULL)
        return;
    cell = &audit->evidence->cells[finding->cells[0]];
    text_addf(&finding->arithmetic, "row %lld failed, and tells %.4g requests/s",
              (long long)cell->row, cell->request_throughput);
    text_add(&finding->consequence, "Failed cells have no speed: leave them out of every mean.");
}

static bool has_low_success(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cell->success_rate < SUCCESS_NEEDED && cell->success_rate > 0;
}

void check_success(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, has_low_success);
    double lowest = 1;

    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++)
        lowest = fmin(lowest, audit->evidence->cells[finding->cells[i]].success_rate);
    text_addf(&finding->arithmetic, "down to %.1f %% of the requests succeeded", 100 * lowest);
    text_add(
        &finding->consequence,
        audit->evidence->imported
            ? "Latencies are those of the lucky ones: compare these cells with nothing."
            : "What timed out or was never answered counts in the latencies as \"at least\" so "
              "long, what failed otherwise is in none: compare these cells with nothing.");
}

/* ---- Failures by another name ---- */

static bool sounds_too_long(const char *text)
{
    return text != NULL
           && (strstr(text, "400") != NULL || strcasestr(text, "context length") != NULL
               || strcasestr(text, "context window") != NULL || strcasestr(text, "too long") != NULL
               || strcasestr(text, "max_model_len") != NULL);
}

static bool sounds_like_memory(const char *text)
{
    return text != NULL
           && (strcasestr(text, "oom") != NULL || strcasestr(text, "out of memory") != NULL);
}

void check_misnamed(struct audit *audit)
{
    double limit = audit->evidence->facts.context_limit_tokens;
    struct finding *finding = NULL;

    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[i];
        bool too_long = cell->input_length >= limit && cell->state == EVIDENCE_FAILED;
        bool memory = sounds_like_memory(cell->status) || sounds_like_memory(cell->error);
        bool refused = sounds_too_long(cell->error);

        if (!too_long && !(memory && refused))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_WRONG);
        finding_add_cell(finding, i);
    }
    if (finding == NULL)
        return;
    if (isnan(limit))
        text_add(&finding->arithmetic, "refused as too long, and told as out of memory");
    else
        text_addf(&finding->arithmetic, "the context as served ends at %.15g tokens", limit);
    text_add(&finding->consequence,
             "The requests were too long for the model as served: infeasible, not a failure of the "
             "hardware.");
}
