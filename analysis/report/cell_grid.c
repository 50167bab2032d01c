/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/cell_grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double output_of(const struct cell_row *cell)
{
    return (double)cell->output_tokens;
}

static double context_of(const struct cell_row *cell)
{
    return (double)cell->input_tokens;
}

static double load_of(const struct cell_row *cell)
{
    return cell->request_rate > 0 ? cell->request_rate : (double)cell->concurrency;
}

static double repetition_of(const struct cell_row *cell)
{
    return (double)cell->repetition;
}

static void axis_init(struct cell_grid_axis *axis, const struct cell_row *cells, size_t count,
                      double (*value_of)(const struct cell_row *cell))
{
    size_t distinct = 0;

    axis->values = memory_zeroed(count > 0 ? count : 1, sizeof *axis->values);
    for (size_t i = 0; i < count; i++)
        axis->values[i] = value_of(&cells[i]);
    qsort(axis->values, count, sizeof *axis->values, compare);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || axis->values[i] != axis->values[distinct - 1])
            axis->values[distinct++] = axis->values[i];
    axis->count = distinct;
}

static size_t axis_index(const struct cell_grid_axis *axis, double value)
{
    const double *found = bsearch(&value, axis->values, axis->count, sizeof *axis->values, compare);

    return (size_t)(found - axis->values);
}

static size_t first_of(const struct cell_grid *grid, size_t output, size_t context, size_t load)
{
    return ((output * grid->contexts.count + context) * grid->loads.count + load)
           * grid->repetitions.count;
}

void cell_grid_init(struct cell_grid *grid, const struct cell_row *cells, size_t count)
{
    axis_init(&grid->outputs, cells, count, output_of);
    axis_init(&grid->contexts, cells, count, context_of);
    axis_init(&grid->loads, cells, count, load_of);
    axis_init(&grid->repetitions, cells, count, repetition_of);
    grid->is_rate = count > 0 && cells[0].request_rate > 0;
    grid->cells = memory_zeroed(first_of(grid, grid->outputs.count, 0, 0) + 1, sizeof *grid->cells);
    for (size_t i = 0; i < count; i++) {
        size_t first = first_of(grid, axis_index(&grid->outputs, output_of(&cells[i])),
                                axis_index(&grid->contexts, context_of(&cells[i])),
                                axis_index(&grid->loads, load_of(&cells[i])));

        grid->cells[first + axis_index(&grid->repetitions, repetition_of(&cells[i]))] = &cells[i];
    }
}

void cell_grid_finish(struct cell_grid *grid)
{
    free(grid->outputs.values);
    free(grid->contexts.values);
    free(grid->loads.values);
    free(grid->repetitions.values);
    free(grid->cells);
}

struct grid_point cell_grid_point(const struct cell_grid *grid, size_t output, size_t context,
                                  size_t load)
{
    return (struct grid_point){ .cells = grid->cells + first_of(grid, output, context, load),
                                .count = grid->repetitions.count,
                                .output_tokens = (int64_t)grid->outputs.values[output],
                                .context_tokens = (int64_t)grid->contexts.values[context],
                                .load = grid->loads.values[load],
                                .is_rate = grid->is_rate };
}

void cell_grid_each(const struct cell_grid *grid,
                    void (*each)(void *context, const struct grid_point *point), void *context)
{
    for (size_t output = 0; output < grid->outputs.count; output++)
        for (size_t row = 0; row < grid->contexts.count; row++)
            for (size_t load = 0; load < grid->loads.count; load++) {
                const struct grid_point point = cell_grid_point(grid, output, row, load);

                each(context, &point);
            }
}

size_t grid_point_count(const struct grid_point *point, enum cell_state state)
{
    size_t found = 0;

    for (size_t i = 0; i < point->count; i++)
        found += point->cells[i] != NULL && point->cells[i]->state == state;
    return found;
}

enum cell_state grid_point_state(const struct grid_point *point)
{
    static const enum cell_state order[] = { CELL_MEASURED, CELL_FAILED, CELL_INFEASIBLE,
                                             CELL_INFERRED, CELL_SKIPPED };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (grid_point_count(point, order[i]) > 0)
            return order[i];
    return CELL_PENDING;
}

bool grid_point_is_sound(const struct grid_point *point)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->cells[i] != NULL && point->cells[i]->state == CELL_MEASURED
            && (point->cells[i]->measurement.success_rate < CELL_GRID_SOUND_SUCCESS
                || point->cells[i]->measurement.contaminated))
            return false;
    return grid_point_count(point, CELL_MEASURED) > 0;
}

const char *grid_point_word(const struct grid_point *point)
{
    switch (grid_point_state(point)) {
    case CELL_FAILED:
        return "failed";
    case CELL_INFEASIBLE:
        return "too long";
    case CELL_SKIPPED:
        return "skipped";
    case CELL_INFERRED:
        return "inferred";
    case CELL_STATES:
    case CELL_PENDING:
    case CELL_MEASURED:
        break;
    }
    return "-";
}

const char *cell_grid_load_name(double load, bool is_rate, char out[LOAD_SIZE])
{
    snprintf(out, LOAD_SIZE, "%.6g %s", load,
             is_rate     ? "requests/s"
             : load == 1 ? "user"
                         : "users");
    return out;
}

json_t *cell_grid_load_json(double load, bool is_rate)
{
    return is_rate ? json_real(load) : json_integer((json_int_t)load);
}

void cell_grid_load_set(json_t *json, const char *prefix, double load, bool is_rate)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s", prefix, is_rate ? "request_rate" : "users");
    json_object_set_new(json, name, cell_grid_load_json(load, is_rate));
}

json_t *cell_grid_server_counters(const struct cell_row *cell)
{
    json_t *counters = NULL;
    struct error ignored;

    if (cell->witness == NULL
        || !json_parse(cell->witness, strlen(cell->witness), &counters, &ignored))
        return NULL;
    return counters;
}

enum failure cell_grid_failure(const struct cell_row *cell)
{
    enum failure most = FAILURE_NONE;
    int64_t count = 0;

    for (enum failure i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
        if (cell->measurement.failures[i] > count) {
            count = cell->measurement.failures[i];
            most = i;
        }
    return most;
}
