/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/audit/audit_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

void audit_places_finish(struct audit_places *places)
{
    free(places->at);
    free(places->by_mean);
    free(places->by_row);
}

static int compare_runs(const struct audit_place *a, const struct audit_place *b)
{
    int order = strcmp(a->cell->variant, b->cell->variant);

    return order != 0 ? order : (a->pass > b->pass) - (a->pass < b->pass);
}

static int compare_shapes(const struct audit_place *a, const struct audit_place *b)
{
    int order = compare_runs(a, b);

    return order != 0 ? order : audit_compare(round(a->length), round(b->length));
}

static int compare_rows(const struct audit_place *a, const struct audit_place *b)
{
    return (a->cell > b->cell) - (a->cell < b->cell);
}

static int compare_places(const void *left, const void *right)
{
    const struct audit_place *a = left, *b = right;
    int order = compare_shapes(a, b);

    if (order == 0)
        order = audit_compare(a->users, b->users);
    return order != 0 ? order : compare_rows(a, b);
}

static int compare_means(const void *left, const void *right)
{
    const struct audit_place *a = *(const struct audit_place *const *)left;
    const struct audit_place *b = *(const struct audit_place *const *)right;
    int order = compare_runs(a, b);

    if (order == 0)
        order = audit_compare(a->mean_ms, b->mean_ms);
    return order != 0 ? order : compare_rows(a, b);
}

/* Returns the index after the last cell that `compare` finds equal to the one at `first`. */
static size_t end_of(const struct audit_places *places, size_t first,
                     int (*compare)(const struct audit_place *a, const struct audit_place *b))
{
    size_t end = first + 1;

    while (end < places->count && compare(&places->at[first], &places->at[end]) == 0)
        end++;
    return end;
}

static const struct evidence_cell *first_row(const struct audit_places *places, size_t run,
                                             size_t end)
{
    const struct evidence_cell *first = places->at[run].cell;

    for (size_t i = run + 1; i < end; i++)
        if (places->at[i].cell < first)
            first = places->at[i].cell;
    return first;
}

static void find_bounds(struct audit_places *places)
{
    size_t run = 0, run_end = 0, shape = 0, shape_end = 0;
    const struct evidence_cell *first = NULL;

    for (size_t i = 0; i < places->count; i++) {
        if (i >= run_end) {
            run_end = end_of(places, run = i, compare_runs);
            first = first_row(places, run, run_end);
        }
        if (i >= shape_end)
            shape_end = end_of(places, shape = i, compare_shapes);
        places->at[i].run = run;
        places->at[i].run_end = run_end;
        places->at[i].run_first = first;
        places->at[i].shape = shape;
        places->at[i].shape_end = shape_end;
    }
}

bool audit_cache_is_off(const struct evidence_facts *facts)
{
    return strstr(facts->flags, "no-enable-prefix-caching") != NULL
           || strstr(facts->flags, "disable-radix-cache") != NULL;
}

struct audit_places audit_places_of(const struct evidence *evidence)
{
    size_t count = evidence->cell_count;
    FREE_AUTO size_t *passes = audit_passes(evidence);
    struct audit_places places = { count, memory_zeroed(count + 1, sizeof *places.at),
                                   memory_zeroed(count + 1, sizeof *places.by_mean),
                                   memory_zeroed(count + 1, sizeof *places.by_row) };

    for (size_t i = 0; i < count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        places.at[i] = (struct audit_place){ .is_measured = audit_cell_is_measured(cell),
                                             .users = audit_cell_users(cell),
                                             .length = cell->input_length,
                                             .output = cell->output_tokens_asked,
                                             .mean_ms = audit_cell_mean_ms(cell),
                                             .cell = cell,
                                             .pass = passes[i] };
    }
    places.cache_is_off = audit_cache_is_off(&evidence->facts);
    qsort(places.at, count, sizeof *places.at, compare_places);
    find_bounds(&places);
    for (size_t i = 0; i < count; i++) {
        places.by_mean[i] = &places.at[i];
        places.by_row[places.at[i].cell - evidence->cells] = &places.at[i];
    }
    qsort(places.by_mean, count, sizeof *places.by_mean, compare_means);
    return places;
}

bool audit_place_same_length(const struct audit_place *a, const struct audit_place *b)
{
    if (!isnan(a->length) || !isnan(b->length))
        return fabs(a->length - b->length) < 0.5;
    return audit_cells_same_length(a->cell, b->cell);
}

bool audit_place_same_output(const struct audit_place *a, const struct audit_place *b)
{
    return isnan(a->output) || isnan(b->output) || fabs(a->output - b->output) < 0.5;
}

static bool same_lengths(const struct audit_place *a, const struct audit_place *b)
{
    return audit_place_same_length(a, b) && audit_place_same_output(a, b);
}

const struct audit_place *audit_place_next_level(const struct audit_places *places,
                                                 const struct audit_place *place)
{
    for (size_t i = (size_t)(place - places->at) + 1; i < place->shape_end; i++) {
        const struct audit_place *other = &places->at[i];

        if (other->is_measured && other->users > place->users && same_lengths(other, place))
            return other;
    }
    return NULL;
}

bool audit_place_is_lowest(const struct audit_places *places, const struct audit_place *place)
{
    for (size_t i = place->shape; places->at[i].users < place->users; i++)
        if (same_lengths(&places->at[i], place))
            return false;
    return true;
}
