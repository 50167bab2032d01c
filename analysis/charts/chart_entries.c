/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_entries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

#define COMMON_ONE_IN 3 /* a warning is common if more than one in this many cells has it */

static int compare_numbers(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

/* ---- Which cells ---- */

static void add_all(struct chart_grid *grid)
{
    size_t total = 0;

    for (size_t r = 0; r < grid->runs->count; r++)
        total += grid->runs->runs[r].cell_count;
    grid->entries = memory_zeroed(total + 1, sizeof *grid->entries);
    for (size_t r = 0; r < grid->runs->count; r++)
        for (size_t i = 0; i < grid->runs->runs[r].cell_count; i++)
            grid->entries[grid->entry_count++] =
                (struct chart_entry){ .cell = &grid->runs->runs[r].cells[i], .run = r, .index = i };
}

/* Chooses the kind of load that more cells have, users or rates (users in a tie), and omits the
 * cells whose load of this kind is missing or negative. */
static void find_loads(struct chart_grid *grid)
{
    size_t users = 0, rates = 0, count = 0;

    for (size_t i = 0; i < grid->entry_count; i++) {
        users += isfinite(grid->entries[i].cell->concurrency) != 0;
        rates += isfinite(grid->entries[i].cell->request_rate_asked) != 0;
    }
    grid->is_rate = rates > users;
    for (size_t i = 0; i < grid->entry_count; i++) {
        struct chart_entry entry = grid->entries[i];

        entry.load = grid->is_rate ? entry.cell->request_rate_asked : entry.cell->concurrency;
        if (isfinite(entry.load) && entry.load >= 0)
            grid->entries[count++] = entry;
    }
    grid->unplaced_cells += grid->entry_count - count;
    grid->entry_count = count;
}

/* Whether two entries have different known values of the double at `offset` in struct
 * evidence_cell. */
static bool differ(const struct chart_grid *grid, size_t offset)
{
    double first = NAN;

    for (size_t i = 0; i < grid->entry_count; i++) {
        const char *cell = (const char *)grid->entries[i].cell;
        double value = *(const double *)(const void *)(cell + offset);

        if (isfinite(first) && isfinite(value) && value != first)
            return true;
        first = isfinite(value) ? value : first;
    }
    return false;
}

/* Rows are output lengths if the cells differ in these and not in their contexts; otherwise, rows
 * are contexts. */
static void find_rows(struct chart_grid *grid)
{
    grid->by_output = !differ(grid, offsetof(struct evidence_cell, input_length))
                      && differ(grid, offsetof(struct evidence_cell, output_tokens_asked));
    for (size_t i = 0; i < grid->entry_count; i++) {
        double row = grid->by_output ? grid->entries[i].cell->output_tokens_asked
                                     : grid->entries[i].cell->input_length;

        grid->entries[i].row = isfinite(row) ? row : NAN;
    }
}

static int compare_slices(const struct chart_entry *a, const struct chart_entry *b, bool by_output)
{
    int order = strcmp(a->cell->variant, b->cell->variant);

    if (order == 0 && !by_output)
        order = compare_numbers(a->cell->output_tokens_asked, b->cell->output_tokens_asked);
    return order;
}

static int compare_places(const struct chart_entry *a, const struct chart_entry *b)
{
    if (a->run != b->run)
        return a->run < b->run ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_slice(const void *a, const void *b, void *by_output)
{
    int order = compare_slices(a, b, *(const bool *)by_output);

    return order != 0 ? order : compare_places(a, b);
}

static int by_point(const void *a, const void *b)
{
    const struct chart_entry *left = a, *right = b;
    int order = compare_numbers(left->row, right->row);

    if (order == 0)
        order = compare_numbers(left->load, right->load);
    return order != 0 ? order : compare_places(left, right);
}

/* Keeps the largest slice: cells with the same variant and, unless rows are output lengths, the
 * same output length. */
static void keep_largest_slice(struct chart_grid *grid)
{
    size_t first = 0, best = 0, most = 0;

    qsort_r(grid->entries, grid->entry_count, sizeof *grid->entries, by_slice, &grid->by_output);
    for (size_t i = 0; i < grid->entry_count; i++) {
        if (compare_slices(&grid->entries[first], &grid->entries[i], grid->by_output) != 0)
            first = i;
        if (i + 1 - first > most) {
            most = i + 1 - first;
            best = first;
        }
    }
    grid->other_cells = grid->entry_count - most;
    memmove(grid->entries, grid->entries + best, most * sizeof *grid->entries);
    grid->entry_count = most;
    if (most == 0)
        return;
    grid->variant = grid->entries[0].cell->variant;
    grid->output_tokens = grid->by_output ? NAN : grid->entries[0].cell->output_tokens_asked;
}

/* ---- Marks ---- */

/* Returns the bit of the mark with this name; a new mark is added to the grid's marks. 0: the name
 * is empty or too long, or the grid already has CHART_MARKS_MAX other marks. */
static uint64_t mark_bit(struct chart_grid *grid, const char *name, size_t length)
{
    struct chart_mark *mark;

    if (length == 0 || length >= sizeof grid->marks[0].name)
        return 0;
    for (size_t i = 0; i < grid->mark_count; i++)
        if (strncmp(grid->marks[i].name, name, length) == 0 && grid->marks[i].name[length] == '\0')
            return UINT64_C(1) << i;
    if (grid->mark_count == CHART_MARKS_MAX)
        return 0;
    mark = &grid->marks[grid->mark_count];
    memcpy(mark->name, name, length);
    return UINT64_C(1) << grid->mark_count++;
}

static uint64_t listed_marks(struct chart_grid *grid, const char *list)
{
    uint64_t marks = 0;

    while (*list != '\0') {
        size_t length = strcspn(list, ", ");

        marks |= mark_bit(grid, list, length);
        list += length + strspn(list + length, ", ");
    }
    return marks;
}

static int compare_indices(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;

    return (left > right) - (left < right);
}

/* A finding that names no cells applies to all cells. */
static bool applies_to(const struct finding *finding, size_t index)
{
    return finding->cell_count == 0
           || bsearch(&index, finding->cells, finding->cell_count, sizeof index, compare_indices)
                  != NULL;
}

/* A cell's marks are its own warnings and the audit rules that have a finding on it. */
static void find_marks(struct chart_grid *grid)
{
    for (size_t i = 0; i < grid->entry_count; i++) {
        struct chart_entry *entry = &grid->entries[i];
        const struct findings *findings =
            grid->runs->findings != NULL ? &grid->runs->findings[entry->run] : NULL;

        entry->marks = listed_marks(grid, entry->cell->marks);
        for (size_t f = 0; findings != NULL && f < findings->count; f++)
            if (applies_to(&findings->at[f], entry->index))
                entry->marks |=
                    mark_bit(grid, findings->at[f].rule->name, strlen(findings->at[f].rule->name));
    }
    for (size_t m = 0; m < grid->mark_count; m++) {
        for (size_t i = 0; i < grid->entry_count; i++)
            grid->marks[m].cells += grid->entries[i].marks >> m & 1;
        grid->marks[m].is_common = COMMON_ONE_IN * grid->marks[m].cells > grid->entry_count;
    }
}

void chart_entries_find(struct chart_grid *grid)
{
    add_all(grid);
    find_loads(grid);
    find_rows(grid);
    keep_largest_slice(grid);
    qsort(grid->entries, grid->entry_count, sizeof *grid->entries, by_point);
    find_marks(grid);
}
