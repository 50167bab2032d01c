/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the ratios as tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/compare/compare_private.h"
#include "base/core/memory.h"
#include "base/formats/table.h"

#define COLUMNS 7        /* ratios per row, so that a table is at most 100 characters wide */
#define ENTRIES_MAX 1000 /* rows times columns of a table; a larger one is not shown */
#define TABLES_MAX 100   /* output lengths times rates; if there are more tables, none is shown */

static int order(const void *a, const void *b)
{
    return compare_order(*(const double *)a, *(const double *)b);
}

struct axis {
    double *at; /* distinct values; heap */
    size_t count;
};

static void axis_add(struct axis *axis, double value)
{
    for (size_t i = 0; i < axis->count; i++)
        if (compare_alike(axis->at[i], value))
            return;
    axis->at = memory_resize(axis->at, axis->count + 1, sizeof *axis->at);
    axis->at[axis->count++] = value;
}

static void axis_finish(struct axis *axis)
{
    free(axis->at);
}
#define AXIS_AUTO __attribute__((cleanup(axis_finish))) struct axis

/* Writes a ratio and its verdict, such as "0.951 -": "-" means that the candidate is slower, "+"
 * that it is faster, and no mark that there is no evidence. Writes "x" for a cell that was not
 * compared, and "" if there is no such cell. */
static void write_ratio(const struct compared_cell *cell, struct table *table)
{
    static const char *const marks[VERDICTS] = { [VERDICT_NOT_COMPARABLE] = "",
                                                 [VERDICT_NO_EVIDENCE] = "",
                                                 [VERDICT_FASTER] = " +",
                                                 [VERDICT_SLOWER] = " -" };

    if (cell == NULL)
        table_cell(table, "%s", "");
    else if (cell->why != CELL_COMPARED)
        table_cell(table, "x");
    else
        table_cell(table, cell->estimate.ratio < 100 ? "%.3f%s" : "%.3g%s", cell->estimate.ratio,
                   marks[cell->estimate.verdict]);
}

/* A table of at most COLUMNS input lengths, for one output length and request rate. */
struct block {
    const struct comparison *comparison;
    double output, rate;
    const struct axis *users, *lengths;
    size_t first; /* the index in `lengths` of the table's first column */
};

static const struct compared_cell *cell_at(const struct block *block, double users, double length)
{
    for (size_t i = 0; i < block->comparison->cell_count; i++) {
        const struct compared_cell *cell = &block->comparison->cells[i];

        if (compare_alike(cell->output_tokens, block->output)
            && compare_alike(cell->request_rate, block->rate) && compare_alike(cell->users, users)
            && compare_alike(cell->input_length, length))
            return cell;
    }
    return NULL;
}

const char *compare_write_number(double value, char out[COMPARE_NUMBER_SIZE])
{
    snprintf(out, COMPARE_NUMBER_SIZE, isnan(value) ? "?" : "%.6g", value);
    return out;
}

static void write_block(const struct block *block, struct text *out)
{
    size_t last = block->first + COLUMNS;
    struct table *table = table_create();
    char shown[32];

    last = last < block->lengths->count ? last : block->lengths->count;
    table_column(table, "users", true);
    for (size_t i = block->first; i < last; i++)
        table_column(table, compare_write_number(block->lengths->at[i], shown), true);
    for (size_t i = 0; i < block->users->count; i++) {
        table_cell(table, "%s", compare_write_number(block->users->at[i], shown));
        for (size_t j = block->first; j < last; j++)
            write_ratio(cell_at(block, block->users->at[i], block->lengths->at[j]), table);
    }
    table_render(table, out);
    table_destroy(table);
}

static void write_blocks(const struct comparison *comparison, double output, double rate,
                         struct text *out)
{
    AXIS_AUTO users = { 0 };
    AXIS_AUTO lengths = { 0 };
    struct block block = { comparison, output, rate, &users, &lengths, 0 };

    for (size_t i = 0; i < comparison->cell_count; i++) {
        const struct compared_cell *cell = &comparison->cells[i];

        if (!compare_alike(cell->output_tokens, output) || !compare_alike(cell->request_rate, rate))
            continue;
        axis_add(&users, cell->users);
        axis_add(&lengths, cell->input_length);
    }
    if (users.count == 0)
        return;
    if (users.count * lengths.count > ENTRIES_MAX) {
        text_addf(out, "\nThe table is too large to show (numbers of users: %zu, contexts: %zu).\n",
                  users.count, lengths.count);
        return;
    }
    qsort(users.at, users.count, sizeof *users.at, order);
    qsort(lengths.at, lengths.count, sizeof *lengths.at, order);
    text_add(out, "\nRatio by users (down) and context (across)");
    if (!isnan(output))
        text_addf(out, ", %.6g output tokens", output);
    if (!isnan(rate))
        text_addf(out, ", %.6g requests/s", rate);
    text_add(out, ":\n");
    for (; block.first < lengths.count; block.first += COLUMNS)
        write_block(&block, out);
}

void compare_write_table(const struct comparison *comparison, struct text *out)
{
    AXIS_AUTO outputs = { 0 };
    AXIS_AUTO rates = { 0 };

    for (size_t i = 0; i < comparison->cell_count; i++) {
        axis_add(&outputs, comparison->cells[i].output_tokens);
        axis_add(&rates, comparison->cells[i].request_rate);
    }
    if (outputs.count * rates.count > TABLES_MAX) {
        text_addf(
            out, "\nThere are too many tables to show (output lengths: %zu, request rates: %zu).\n",
            outputs.count, rates.count);
        return;
    }
    for (size_t i = 0; i < outputs.count; i++)
        for (size_t j = 0; j < rates.count; j++)
            write_blocks(comparison, outputs.at[i], rates.at[j], out);
}
