/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare two numbers of tokens: the tool's count and the server's, or the requested
 * length and the measured one. */

#include "analysis/audit/audit_parts.h"

#define RECOUNTED_WITHIN 0.02 /* counts that differ by at most this share are taken to be equal */
/* a count can include or omit this many special tokens at the ends of a text */
#define ENDING_TOKENS 2
#define COMPARED_CELLS_MAX 1000 /* each cell is compared with at most this many others */

static bool differs(double counted, double reported)
{
    return fabs(counted - reported) > fmax(ENDING_TOKENS, RECOUNTED_WITHIN * reported);
}

/* Returns how many more tokens the server counts in a prompt than the tool does. If the number is
 * the same for every prompt, these tokens come from a chat template. */
static double extra_prompt_tokens(const struct evidence_cell *cell)
{
    return cell->input_tokens_usage - cell->input_tokens_mean;
}

/* Whether the tool and the server counted the prompt with different tokenizers. If they did, the
 * difference between their counts grows with the length of the prompt. To see that, compares the
 * cell with the cell of the same run whose prompt length differs most from its own. If no length
 * differs by more than half of the cell's own, the cell alone decides: the tokenizers differ if the
 * server counts fewer tokens than the tool, or so many more that no chat template can add them. */
static bool is_prompt_recounted(const struct evidence *evidence, const struct evidence_cell *cell)
{
    double widest = 0, growth = NAN;

    if (!differs(cell->input_tokens_mean, cell->input_tokens_usage))
        return false;
    for (size_t i = 0; i < evidence->cell_count && i < COMPARED_CELLS_MAX; i++) {
        const struct evidence_cell *other = &evidence->cells[i];
        double apart = fabs(other->input_tokens_mean - cell->input_tokens_mean);

        if (!(apart > widest) || !(apart > cell->input_tokens_mean / 2)
            || isnan(extra_prompt_tokens(other)) || !audit_cells_same_run(cell, other))
            continue;
        widest = apart;
        growth = (extra_prompt_tokens(other) - extra_prompt_tokens(cell))
                 / (other->input_tokens_mean - cell->input_tokens_mean);
    }
    if (!isnan(growth))
        return fabs(growth) > RECOUNTED_WITHIN;
    return extra_prompt_tokens(cell) < 0 || extra_prompt_tokens(cell) > AUDIT_TEMPLATE_TOKENS;
}

static void add_counts(const char *which, double counted, double reported, struct text *out)
{
    if (!isnan(counted + reported))
        text_addf(out, " the tool's tokenizer counts %.4g %s tokens, the server's usage %.4g;",
                  counted, which, reported);
}

static bool is_recounted(const struct evidence *evidence, const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell)
           && (differs(cell->output_tokens_mean, cell->output_tokens_usage)
               || is_prompt_recounted(evidence, cell));
}

void audit_check_recounted(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    struct finding *finding = NULL;
    const struct evidence_cell *cell;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        if (!is_recounted(evidence, &evidence->cells[i]))
            continue;
        audit_report_cell(audit, FINDING_WRONG, i, &finding);
    }
    if (finding == NULL)
        return;
    cell = audit_first_cell(audit, finding);
    text_addf(&finding->arithmetic, "row %lld, per request:", (long long)cell->row);
    add_counts("input", cell->input_tokens_mean, cell->input_tokens_usage, &finding->arithmetic);
    add_counts("output", cell->output_tokens_mean, cell->output_tokens_usage, &finding->arithmetic);
    finding->arithmetic.data[--finding->arithmetic.length] = '\0'; /* removes the last semicolon */
    text_add(&finding->consequence,
             "Lengths, tokens/s and TPOT are not those of the served model: compare only "
             "requests/s and latencies, or measure again with the model's own tokenizer.");
}

/* The server's count if it is known, else the tool's. */
static double input_measured(const struct evidence_cell *cell)
{
    return isnan(cell->input_tokens_usage) ? cell->input_tokens_mean : cell->input_tokens_usage;
}

static double output_measured(const struct evidence_cell *cell)
{
    return isnan(cell->output_tokens_usage) ? cell->output_tokens_mean : cell->output_tokens_usage;
}

static bool has_wrong_length(const struct evidence_cell *cell)
{
    double excess = input_measured(cell) - cell->input_length;

    return audit_cell_is_measured(cell)
           && (excess < -AUDIT_LENGTH_WITHIN * cell->input_length
               || excess > fmax(AUDIT_TEMPLATE_TOKENS, AUDIT_LENGTH_WITHIN * cell->input_length)
               || fabs(output_measured(cell) - cell->output_tokens_asked)
                      > AUDIT_LENGTH_WITHIN * cell->output_tokens_asked);
}

void audit_check_lengths(struct audit *audit)
{
    struct finding *finding;
    const struct evidence_cell *cell;

    finding = audit_find_cells(audit, FINDING_CAUTION, has_wrong_length);
    if (finding == NULL)
        return;
    cell = audit_first_cell(audit, finding);
    text_addf(&finding->arithmetic, "row %lld:", (long long)cell->row);
    if (!isnan(cell->input_length + input_measured(cell)))
        text_addf(&finding->arithmetic, " %.4g input tokens requested, %.4g measured;",
                  cell->input_length, input_measured(cell));
    if (!isnan(cell->output_tokens_asked + output_measured(cell)))
        text_addf(&finding->arithmetic, " %.4g output tokens requested, %.4g measured;",
                  cell->output_tokens_asked, output_measured(cell));
    finding->arithmetic.data[--finding->arithmetic.length] = '\0'; /* removes the last semicolon */
    text_add(&finding->consequence,
             "Report the measured lengths, not the requested ones, and compare only with runs "
             "with the same measured lengths.");
}
