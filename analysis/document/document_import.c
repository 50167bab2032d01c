/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the verdict and the takeaways of a part without a report, such as an import. For other
 * parts, analysis/report/ derives them. */
#include <math.h>

#include "analysis/charts/chart_frame.h"
#include "analysis/document/document_parts.h"
#include "analysis/report/takeaways.h"
#include "base/core/memory.h"

#define SOUND_FAILED_SHARE 0.01
#define PARTS_SHOWN 3 /* a saturation sentence with more parts is replaced with a range */

/* ---- Saturation ---- */

static const char *row_word(const struct chart_grid *grid)
{
    return grid->by_output ? "output length" : "context";
}

/* Writes the rows from `first` to `last`: "context 4 to 256". */
static void add_rows(const struct chart_grid *grid, size_t first, size_t last, struct text *out)
{
    char from[SCALE_NUMBER_SIZE], to[SCALE_NUMBER_SIZE];

    text_addf(out, "%s %s", row_word(grid), chart_row_name(grid->rows[first], from));
    if (last > first)
        text_addf(out, " to %s", chart_row_name(grid->rows[last], to));
}

/* For each row, the index of the smallest load at which it is certainly saturated; load_count if
 * there is none. The caller frees the array. */
static size_t *saturation_of(const struct chart_grid *grid)
{
    size_t *loads = memory_zeroed(grid->row_count + 1, sizeof *loads);

    for (size_t row = 0; row < grid->row_count; row++)
        loads[row] = chart_grid_saturation(grid, row);
    return loads;
}

/* Describes the sentence that add_saturation() writes, and the rows that are not in it. */
struct saturated_rows {
    double low, high; /* the smallest and the largest of the loads in the sentence */
    size_t parts;     /* how many parts the sentence has */
    size_t uncertain; /* how many rows have no load at which they are certainly saturated */
};

/* Writes a sentence in which neighbouring rows that saturate at the same load are one part. */
static struct saturated_rows add_saturation(const struct chart_grid *grid, struct text *out)
{
    struct saturated_rows found = { INFINITY, -INFINITY, 0, 0 };
    FREE_AUTO size_t *loads = saturation_of(grid);
    char name[LOAD_SIZE];

    for (size_t first = 0, last; first < grid->row_count; first = last + 1) {
        for (last = first; last + 1 < grid->row_count && loads[last + 1] == loads[first];)
            last++;
        if (loads[first] == grid->load_count) {
            found.uncertain += last + 1 - first;
            continue;
        }
        text_addf(out, "%s %s for ", found.parts++ > 0 ? "," : "Saturated at",
                  cell_grid_load_name(grid->loads[loads[first]], grid->is_rate, name));
        add_rows(grid, first, last, out);
        found.low = fmin(found.low, grid->loads[loads[first]]);
        found.high = fmax(found.high, grid->loads[loads[first]]);
    }
    return found;
}

/* Writes a shorter sentence in place of one that has too many parts. */
static void write_range(const struct chart_grid *grid, const struct saturated_rows *found,
                        struct text *out)
{
    char low[SCALE_NUMBER_SIZE], high[LOAD_SIZE];

    text_clear(out);
    text_addf(out, "Saturated at %s to %s, depending on the %s (outlined in the first chart)",
              scale_exact(found->low, low), cell_grid_load_name(found->high, grid->is_rate, high),
              row_word(grid));
}

static void add_saturation_sentence(const struct chart_grid *grid, json_t *sentences)
{
    struct text text = { 0 };
    const struct saturated_rows found = add_saturation(grid, &text);

    if (found.parts > PARTS_SHOWN)
        write_range(grid, &found, &text);
    text_add(&text,
             found.parts > 0 ? "." : "The figures show no load at which the server is saturated.");
    if (found.uncertain > 0 && found.parts > 0)
        text_addf(&text, " For %zu of %zu %ss the figures show no saturation.", found.uncertain,
                  grid->row_count, row_word(grid));
    takeaways_add_take(sentences, &text);
}

/* ---- The best point ---- */

static bool is_sound(const struct chart_point *point)
{
    return point->state == CHART_MEASURED && point->failed_share <= SOUND_FAILED_SHARE;
}

static void add_peak_sentence(const struct chart_grid *grid, const struct chart_runs *runs,
                              json_t *sentences)
{
    const struct chart_quantity *quantity = chart_quantity_default(runs);
    const struct chart_point *best = NULL;
    char number[SCALE_NUMBER_SIZE], load[LOAD_SIZE], row[SCALE_NUMBER_SIZE];
    double most = -INFINITY;
    struct text text = { 0 };

    for (size_t i = 0; i < grid->load_count * grid->row_count; i++) {
        double value = chart_point_figure(&grid->points[i], quantity->offset).mean;

        if (!is_sound(&grid->points[i]) || !(value > most))
            continue;
        best = &grid->points[i];
        most = value;
    }
    if (best == NULL || quantity->is_latency)
        return;
    text_addf(&text, "Peak: %s %s %s %s at %s %s.", scale_number(most, number), quantity->unit,
              grid->is_rate ? "at" : "with", cell_grid_load_name(best->load, grid->is_rate, load),
              row_word(grid), chart_row_name(best->row, row));
    takeaways_add_take(sentences, &text);
}

/* The first latency in `names` that the point has; NULL: it has none of them. */
static const struct chart_quantity *latency_of(const struct chart_point *point)
{
    static const char *const names[] = { "ttft_p50_ms", "ttft_mean_ms", "e2e_p50_ms",
                                         "e2e_mean_ms" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct chart_quantity *quantity = chart_quantity_find(names[i]);

        if (chart_point_figure(point, quantity->offset).count > 0)
            return quantity;
    }
    return NULL;
}

/* Adds the latency at the smallest load of the first row. */
static void add_smallest_sentence(const struct chart_grid *grid, json_t *sentences)
{
    const struct chart_point *point;
    const struct chart_quantity *quantity;
    char number[SCALE_NUMBER_SIZE], load[LOAD_SIZE], row[SCALE_NUMBER_SIZE];
    struct text text = { 0 };

    if (grid->load_count == 0 || grid->row_count == 0)
        return;
    point = chart_grid_at(grid, 0, 0);
    quantity = is_sound(point) ? latency_of(point) : NULL;
    if (quantity == NULL)
        return;
    text_addf(&text, "The smallest load, %s at %s %s: %s %s ms.",
              cell_grid_load_name(point->load, grid->is_rate, load), row_word(grid),
              chart_row_name(point->row, row), quantity->title,
              scale_number(chart_point_figure(point, quantity->offset).mean, number));
    takeaways_add_take(sentences, &text);
}

/* ---- How much was measured ---- */

static void add_counts_sentence(const struct chart_grid *grid, json_t *sentences)
{
    static const enum chart_state others[] = { CHART_FAILED, CHART_INFEASIBLE, CHART_INFERRED,
                                               CHART_SKIPPED };
    size_t further = grid->other_cells + grid->unplaced_cells;
    struct text text = { 0 };

    text_addf(&text, "%zu of %zu points of the grid were measured",
              chart_grid_count(grid, CHART_MEASURED), grid->load_count * grid->row_count);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (chart_grid_count(grid, others[i]) > 0)
            text_addf(&text, ", %zu %s", chart_grid_count(grid, others[i]),
                      chart_state_name(others[i]));
    text_add(&text, ".");
    takeaways_add_take(sentences, &text);
    if (further == 0)
        return;
    text_addf(&text,
              "%zu more cell%s only in the table: with a different output length, from a different "
              "run in the file, or without a place on the charts' axes.",
              further, further == 1 ? " is" : "s are");
    takeaways_add_take(sentences, &text);
}

static void add_trust_sentence(const struct chart_grid *grid, json_t *sentences)
{
    if (grid->repetitions == 1)
        json_array_append_new(sentences,
                              json_string("With only one repetition, the spread is unknown: small "
                                          "differences between points mean nothing."));
}

json_t *document_import_verdict(const struct chart_runs *runs)
{
    json_t *sentences = json_array();
    CHART_GRID_AUTO grid;

    chart_grid_init(&grid, runs);
    if (chart_grid_count(&grid, CHART_MEASURED) > 0)
        add_saturation_sentence(&grid, sentences);
    return sentences;
}

json_t *document_import_takeaways(const struct chart_runs *runs)
{
    json_t *sentences = json_array();
    CHART_GRID_AUTO grid;

    chart_grid_init(&grid, runs);
    add_peak_sentence(&grid, runs, sentences);
    add_smallest_sentence(&grid, sentences);
    add_counts_sentence(&grid, sentences);
    if (chart_grid_count(&grid, CHART_MEASURED) > 0)
        add_trust_sentence(&grid, sentences);
    return sentences;
}
