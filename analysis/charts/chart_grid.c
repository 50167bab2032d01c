/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_grid.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/charts/chart_entries.h"
#include "analysis/report/load_curve.h"
#include "base/core/memory.h"

#define SOUND_SUCCESS_RATE 0.99

const char *chart_state_name(enum chart_state state)
{
    static const char *const names[] = { "not measured", "skipped", "inferred",
                                         "infeasible",   "failed",  "measured" };

    return names[state];
}

/* ---- Points ---- */

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    if (isnan(left) || isnan(right))
        return isnan(left) - isnan(right);
    return (left > right) - (left < right);
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The distinct values, ascending, at most CHART_AXIS_MAX; the caller frees them. */
static double *axis_of(const struct chart_grid *grid,
                       double (*value_of)(const struct chart_entry *), size_t *count)
{
    double *values = memory_zeroed(grid->entry_count + 1, sizeof *values);
    size_t distinct = 0;

    for (size_t i = 0; i < grid->entry_count; i++)
        values[i] = value_of(&grid->entries[i]);
    qsort(values, grid->entry_count, sizeof *values, compare);
    for (size_t i = 0; i < grid->entry_count && distinct < CHART_AXIS_MAX; i++)
        if (distinct == 0 || !is_same(values[i], values[distinct - 1]))
            values[distinct++] = values[i];
    *count = distinct;
    return values;
}

static double load_of(const struct chart_entry *entry)
{
    return entry->load;
}

static double row_of(const struct chart_entry *entry)
{
    return entry->row;
}

static size_t index_of(const double *axis, size_t count, double value)
{
    const double *found = bsearch(&value, axis, count, sizeof *axis, compare);

    return found == NULL ? count : (size_t)(found - axis);
}

static enum chart_state state_of(const struct evidence_cell *cell)
{
    switch (cell->state) {
    case EVIDENCE_MEASURED:
        return CHART_MEASURED;
    case EVIDENCE_FAILED:
        return CHART_FAILED;
    case EVIDENCE_INFEASIBLE:
        return CHART_INFEASIBLE;
    case EVIDENCE_SKIPPED:
        return strcmp(cell->status, "inferred") == 0  ? CHART_INFERRED
               : strcmp(cell->status, "pending") == 0 ? CHART_ABSENT
                                                      : CHART_SKIPPED;
    case EVIDENCE_UNKNOWN:
    case EVIDENCE_STATES:
        break;
    }
    return CHART_ABSENT;
}

static double failed_share_of(const struct evidence_cell *cell)
{
    double share = isfinite(cell->success_rate) ? 1 - cell->success_rate : 0;

    return fmin(1, fmax(0, share));
}

static double samples_of(const struct evidence_cell *cell)
{
    return isfinite(cell->succeeded)        ? cell->succeeded
           : isfinite(cell->attempted)      ? cell->attempted
           : isfinite(cell->requests_asked) ? cell->requests_asked
                                            : NAN;
}

static void point_add(const struct chart_grid *grid, struct chart_point *point,
                      const struct chart_entry *entry)
{
    if (point->entry_count++ == 0) {
        point->entries = entry;
        point->samples = NAN;
    }
    if (state_of(entry->cell) > point->state)
        point->state = state_of(entry->cell);
    point->failed_share = fmax(point->failed_share, failed_share_of(entry->cell));
    point->samples = fmin(point->samples, samples_of(entry->cell)); /* fmin ignores NaN */
    for (size_t i = 0; i < grid->mark_count; i++)
        point->is_marked |= !grid->marks[i].is_common && (entry->marks >> i & 1) != 0;
}

static void assign_entries(struct chart_grid *grid)
{
    for (size_t i = 0; i < grid->entry_count; i++) {
        const struct chart_entry *entry = &grid->entries[i];
        size_t row = index_of(grid->rows, grid->row_count, entry->row);
        size_t load = index_of(grid->loads, grid->load_count, entry->load);

        if (row < grid->row_count && load < grid->load_count)
            point_add(grid, &grid->points[row * grid->load_count + load], entry);
        else
            grid->unplaced_cells++;
    }
}

void chart_grid_init(struct chart_grid *grid, const struct chart_runs *runs)
{
    *grid = (struct chart_grid){ .runs = runs, .output_tokens = NAN, .variant = "" };
    chart_entries_find(grid);
    grid->loads = axis_of(grid, load_of, &grid->load_count);
    grid->rows = axis_of(grid, row_of, &grid->row_count);
    grid->points = memory_zeroed(grid->load_count * grid->row_count + 1, sizeof *grid->points);
    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        grid->points[i] = (struct chart_point){ .load = grid->loads[i % grid->load_count],
                                                .row = grid->rows[i / grid->load_count],
                                                .samples = NAN };
    assign_entries(grid);
    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        if (grid->points[i].entry_count > grid->repetitions)
            grid->repetitions = grid->points[i].entry_count;
}

void chart_grid_finish(struct chart_grid *grid)
{
    free(grid->loads);
    free(grid->rows);
    free(grid->points);
    free(grid->entries);
}

const struct chart_point *chart_grid_at(const struct chart_grid *grid, size_t row, size_t load)
{
    return &grid->points[row * grid->load_count + load];
}

size_t chart_grid_count(const struct chart_grid *grid, enum chart_state state)
{
    size_t found = 0;

    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        found += grid->points[i].state == state;
    return found;
}

size_t chart_grid_fullest_row(const struct chart_grid *grid)
{
    size_t best = 0, most = 0;

    for (size_t row = 0; row < grid->row_count; row++) {
        size_t measured = 0;

        for (size_t i = 0; i < grid->load_count; i++)
            measured += chart_grid_at(grid, row, i)->state == CHART_MEASURED;
        if (measured > most) {
            most = measured;
            best = row;
        }
    }
    return best;
}

size_t chart_grid_marked(const struct chart_grid *grid)
{
    size_t found = 0;

    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        found += grid->points[i].is_marked;
    return found;
}

/* ---- What a point shows ---- */

struct chart_figure chart_point_figure(const struct chart_point *point, size_t offset)
{
    struct chart_figure figure = { NAN, NAN, NAN, 0 };
    double sum = 0;

    for (size_t i = 0; i < point->entry_count; i++) {
        const char *cell = (const char *)point->entries[i].cell;
        double value = *(const double *)(const void *)(cell + offset);

        if (state_of(point->entries[i].cell) != CHART_MEASURED || !isfinite(value))
            continue;
        sum += value;
        figure.count++;
        figure.mean = sum / (double)figure.count;
        figure.low = fmin(figure.low, value);
        figure.high = fmax(figure.high, value);
    }
    return figure;
}

/* The first cell that has the point's state; NULL: none. */
static const struct evidence_cell *shown_cell(const struct chart_point *point)
{
    for (size_t i = 0; i < point->entry_count; i++)
        if (state_of(point->entries[i].cell) == point->state)
            return point->entries[i].cell;
    return NULL;
}

static bool is_http_status(const char *status)
{
    return strlen(status) == 3 && isdigit((unsigned char)status[0])
           && isdigit((unsigned char)status[1]) && isdigit((unsigned char)status[2]);
}

const char *chart_point_word(const struct chart_point *point)
{
    static const char *const words[] = {
        [CHART_SKIPPED] = "skipped", [CHART_INFERRED] = "inferred", [CHART_INFEASIBLE] = "too long",
        [CHART_FAILED] = "fail",     [CHART_MEASURED] = "?",
    };
    const struct evidence_cell *cell = shown_cell(point);

    if (point->state == CHART_FAILED && cell != NULL && is_http_status(cell->status))
        return cell->status;
    return point->state == CHART_ABSENT ? "" : words[point->state];
}

const char *chart_point_reason(const struct chart_point *point)
{
    const struct evidence_cell *cell = shown_cell(point);

    return cell == NULL || cell->error == NULL || point->state == CHART_MEASURED ? "" : cell->error;
}

void chart_point_add_reason(const struct chart_point *point, struct text *out)
{
    const char *reason = chart_point_reason(point);

    if (reason[0] != '\0')
        text_addf(out, " (%.160s)", reason);
}

void chart_point_marks(const struct chart_grid *grid, const struct chart_point *point,
                       struct text *out)
{
    uint64_t marks = 0;

    for (size_t i = 0; i < point->entry_count; i++)
        marks |= point->entries[i].marks;
    for (size_t i = 0; i < grid->mark_count; i++)
        if ((marks >> i & 1) != 0)
            text_addf(out, "%s%s", out->length > 0 ? ", " : "", grid->marks[i].name);
}

/* ---- Saturation ---- */

/* Whether the point is measured and not marked, and no measured repetition is contaminated or has a
 * success rate below SOUND_SUCCESS_RATE. */
static bool is_sound(const struct chart_point *point)
{
    for (size_t i = 0; i < point->entry_count; i++) {
        const struct evidence_cell *cell = point->entries[i].cell;

        if (state_of(cell) == CHART_MEASURED
            && (cell->success_rate < SOUND_SUCCESS_RATE || cell->contaminated))
            return false;
    }
    return point->state == CHART_MEASURED && !point->is_marked;
}

static struct load_point load_point_of(const struct chart_point *point, size_t offset)
{
    struct chart_figure figure = chart_point_figure(point, offset);
    struct chart_figure ttft =
        chart_point_figure(point, offsetof(struct evidence_cell, latency[METRIC_TTFT].p50_ms));
    struct chart_figure e2e =
        chart_point_figure(point, offsetof(struct evidence_cell, latency[METRIC_E2E].p50_ms));
    bool overloaded = false, limited = false;

    for (size_t i = 0; i < point->entry_count; i++) {
        overloaded |= evidence_has_warning(point->entries[i].cell, "overloaded");
        limited |= point->entries[i].cell->client_limited;
    }
    return (struct load_point){
        .load = point->load,
        .tokens_per_s = figure.mean,
        .noise = fmax(NOISE_LEAST, NOISE_UNKNOWN / sqrt((double)figure.count)),
        .ttft_ms = ttft.mean,
        .e2e_ms = e2e.mean,
        .waiting = NAN,
        .overloaded = overloaded,
        .at_least = limited,
    };
}

/* Writes to `curve` the row's sound points (is_sound) whose load and figure are positive, and to
 * `at` the indices of their loads. Returns the number of points. */
static size_t curve_of(const struct chart_grid *grid, size_t row, size_t offset,
                       struct load_point *curve, size_t *at)
{
    size_t count = 0;

    for (size_t i = 0; i < grid->load_count; i++) {
        const struct chart_point *point = chart_grid_at(grid, row, i);

        if (!is_sound(point) || !(chart_point_figure(point, offset).mean > 0) || point->load <= 0)
            continue;
        at[count] = i;
        curve[count++] = load_point_of(point, offset);
    }
    return count;
}

size_t chart_grid_saturation(const struct chart_grid *grid, size_t row)
{
    static const size_t offsets[] = { offsetof(struct evidence_cell, output_throughput),
                                      offsetof(struct evidence_cell, token_throughput),
                                      offsetof(struct evidence_cell, request_throughput) };
    struct load_point curve[CHART_AXIS_MAX];
    size_t at[CHART_AXIS_MAX];

    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        size_t count = curve_of(grid, row, offsets[i], curve, at);
        struct load_verdict verdict;

        if (count < 2)
            continue;
        verdict = load_curve_judge(curve, count, grid->is_rate);
        return verdict.reached ? at[verdict.at] : grid->load_count;
    }
    return grid->load_count;
}
