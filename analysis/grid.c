#include "analysis/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SOUND_SUCCESS_RATE 0.99

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static void axis_init(struct axis *axis, const struct cell_row *cells, size_t count, size_t offset)
{
    size_t kept = 0;

    axis->values = memory_zeroed(count > 0 ? count : 1, sizeof *axis->values);
    for (size_t i = 0; i < count; i++)
        memcpy(&axis->values[i], (const char *)&cells[i] + offset, sizeof *axis->values);
    qsort(axis->values, count, sizeof *axis->values, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || axis->values[i] != axis->values[kept - 1])
            axis->values[kept++] = axis->values[i];
    axis->count = kept;
}

static size_t axis_index(const struct axis *axis, int64_t value)
{
    const int64_t *found =
        bsearch(&value, axis->values, axis->count, sizeof *axis->values, compare);

    return (size_t)(found - axis->values);
}

static size_t first_of(const struct grid *grid, size_t output, size_t context, size_t user)
{
    return ((output * grid->contexts.count + context) * grid->users.count + user)
           * grid->repetitions.count;
}

void grid_init(struct grid *grid, const struct cell_row *cells, size_t count)
{
    axis_init(&grid->outputs, cells, count, offsetof(struct cell_row, output_tokens));
    axis_init(&grid->contexts, cells, count, offsetof(struct cell_row, input_tokens));
    axis_init(&grid->users, cells, count, offsetof(struct cell_row, concurrency));
    axis_init(&grid->repetitions, cells, count, offsetof(struct cell_row, repetition));
    grid->cells = memory_zeroed(first_of(grid, grid->outputs.count, 0, 0) + 1, sizeof *grid->cells);
    for (size_t i = 0; i < count; i++) {
        size_t first = first_of(grid, axis_index(&grid->outputs, cells[i].output_tokens),
                                axis_index(&grid->contexts, cells[i].input_tokens),
                                axis_index(&grid->users, cells[i].concurrency));

        grid->cells[first + axis_index(&grid->repetitions, cells[i].repetition)] = &cells[i];
    }
}

void grid_finish(struct grid *grid)
{
    free(grid->outputs.values);
    free(grid->contexts.values);
    free(grid->users.values);
    free(grid->repetitions.values);
    free(grid->cells);
}

struct point grid_point(const struct grid *grid, size_t output, size_t context, size_t user)
{
    return (struct point){ .cells = grid->cells + first_of(grid, output, context, user),
                           .count = grid->repetitions.count,
                           .output_tokens = grid->outputs.values[output],
                           .context_tokens = grid->contexts.values[context],
                           .users = grid->users.values[user] };
}

void grid_each(const struct grid *grid, void (*each)(void *context, const struct point *point),
               void *context)
{
    for (size_t output = 0; output < grid->outputs.count; output++)
        for (size_t row = 0; row < grid->contexts.count; row++)
            for (size_t user = 0; user < grid->users.count; user++) {
                const struct point point = grid_point(grid, output, row, user);

                each(context, &point);
            }
}

size_t point_count(const struct point *point, enum cell_state state)
{
    size_t found = 0;

    for (size_t i = 0; i < point->count; i++)
        found += point->cells[i] != NULL && point->cells[i]->state == state;
    return found;
}

enum cell_state point_state(const struct point *point)
{
    static const enum cell_state order[] = { CELL_MEASURED, CELL_FAILED, CELL_INFEASIBLE,
                                             CELL_INFERRED, CELL_SKIPPED };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (point_count(point, order[i]) > 0)
            return order[i];
    return CELL_PENDING;
}

bool point_is_sound(const struct point *point)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->cells[i] != NULL && point->cells[i]->state == CELL_MEASURED
            && point->cells[i]->measurement.success_rate < SOUND_SUCCESS_RATE)
            return false;
    return point_count(point, CELL_MEASURED) > 0;
}

const char *point_word(const struct point *point)
{
    switch (point_state(point)) {
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

enum failure cell_failure(const struct cell_row *cell)
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
