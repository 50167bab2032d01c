/* Rules on the rows: which of them are there twice, copied, or not what they say. */

#include <stdlib.h>
#include <string.h>

#include "analysis/audit_parts.h"
#include "base/memory.h"

#define SUCCESS_NEEDED 0.99
#define COPIES_NEEDED 3 /* cells equal to the digit: fewer may be chance */

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

static bool same_place(const struct evidence_cell *a, const struct evidence_cell *b)
{
    return same(a->concurrency, b->concurrency) && same(a->input_length, b->input_length)
           && same(a->output_tokens_asked, b->output_tokens_asked)
           && same(a->request_rate_asked, b->request_rate_asked);
}

/* ---- The same cell again ---- */

static const struct evidence_cell *first_of_place(const struct evidence *evidence, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_place(&evidence->cells[i], &evidence->cells[index]))
            return &evidence->cells[i];
    return NULL;
}

/* The pair of a place whose rates differ most. */
static void tell_spread(const struct evidence *evidence, struct finding *finding)
{
    const struct evidence_cell *worst_first = NULL, *worst = NULL;
    double widest = -1;

    for (size_t i = 0; i < finding->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[finding->cells[i]];
        const struct evidence_cell *first = first_of_place(evidence, finding->cells[i]);
        double spread = fabs(cell->request_throughput - first->request_throughput);

        if (spread > widest) {
            widest = spread;
            worst_first = first;
            worst = cell;
        }
    }
    if (worst != NULL)
        text_addf(&finding->arithmetic,
                  "; at %.15g users %.4g requests/s (row %lld) and %.4g "
                  "(row %lld), of which the mean would be %.4g",
                  cell_users(worst), worst_first->request_throughput, (long long)worst_first->row,
                  worst->request_throughput, (long long)worst->row,
                  (worst->request_throughput + worst_first->request_throughput) / 2);
}

void check_duplicates(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    struct finding *finding = NULL;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        if (first_of_place(evidence, i) == NULL)
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_WRONG);
        finding_add_cell(finding, i);
    }
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic, "%zu of %zu cells stand for a place that an earlier row has",
              finding->cell_count, evidence->cell_count);
    tell_spread(evidence, finding);
    text_add(&finding->consequence,
             "These are two runs or more in one file: take them apart, and do not average them.");
}

/* ---- Copies ---- */

/* Equal in the figures that are never equal by chance. */
static bool is_copy(const struct evidence_cell *a, const struct evidence_cell *b)
{
    return cell_is_measured(a) && cell_is_measured(b) && same_place(a, b)
           && same(a->request_throughput, b->request_throughput)
           && same(cell_mean_ms(a), cell_mean_ms(b)) && a->request_throughput > 0
           && fabs(a->request_throughput - round(a->request_throughput * 1000) / 1000) > 1e-9;
}

static bool has_copy(const struct evidence_cell *cell, const struct evidence *other)
{
    for (size_t i = 0; i < other->cell_count; i++)
        if (is_copy(cell, &other->cells[i]))
            return true;
    return false;
}

static void check_copy(struct audit *audit, const struct evidence *other)
{
    const struct evidence *evidence = audit->evidence;
    struct finding *finding;
    size_t copies = 0;

    for (size_t i = 0; i < evidence->cell_count; i++)
        copies += has_copy(&evidence->cells[i], other);
    if (copies < COPIES_NEEDED)
        return;
    finding = audit_find(audit, FINDING_WRONG);
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (has_copy(&evidence->cells[i], other))
            finding_add_cell(finding, i);
    text_addf(&finding->arithmetic, "%zu of %zu cells are equal to the digit with those of %s (%s)",
              copies, evidence->cell_count, other->id, other->name);
    text_add(&finding->consequence,
             "One measurement under two names: at most one of them is what it says. Do not compare "
             "them.");
}

void check_copies(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;

    for (size_t i = 0; i < audit->input->other_count; i++)
        if (strcmp(audit->input->others[i].id, evidence->id) != 0)
            check_copy(audit, &audit->input->others[i]);
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
    text_add(&finding->consequence,
             "Latencies are those of the lucky ones: compare these cells with nothing.");
}

/* ---- Failures by another name ---- */

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
        bool refused = cell->error != NULL && strstr(cell->error, "400") != NULL;

        if (!too_long && !(memory && refused))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_WRONG);
        finding_add_cell(finding, i);
    }
    if (finding == NULL)
        return;
    if (isnan(limit))
        text_add(&finding->arithmetic, "refused with 400, and told as out of memory");
    else
        text_addf(&finding->arithmetic, "the context as served ends at %.15g tokens", limit);
    text_add(&finding->consequence,
             "The requests were too long for the model as served: infeasible, not a failure of the "
             "hardware.");
}
