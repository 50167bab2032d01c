/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/failure_onset.h"

static bool has_failed(const struct cell_row *cell)
{
    return cell != NULL
           && (cell->state == CELL_FAILED || cell->state == CELL_INFEASIBLE
               || (cell->state == CELL_MEASURED && cell_grid_failure(cell) != FAILURE_NONE));
}

static int64_t count_failed(const struct cell_row *cell)
{
    int64_t failed = 0;

    for (enum failure i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
        failed += cell->measurement.failures[i];
    return failed;
}

/* An infeasible cell without failed requests has no class of failure: it counts as too long. */
static enum failure class_of(const struct cell_row *cell)
{
    enum failure failure = cell_grid_failure(cell);

    return failure == FAILURE_NONE && cell->state == CELL_INFEASIBLE ? FAILURE_TOO_LONG : failure;
}

/* The worst repetition: failed is worse than infeasible, which is worse than measured with lost
 * requests. NULL: no repetition is any of these. */
static const struct cell_row *worst_of(const struct grid_point *point)
{
    const struct cell_row *worst = NULL;

    for (size_t i = 0; i < point->count; i++) {
        const struct cell_row *cell = point->cells[i];

        if (has_failed(cell)
            && (worst == NULL || (worst->state == CELL_MEASURED && cell->state != CELL_MEASURED)
                || (worst->state == CELL_INFEASIBLE && cell->state == CELL_FAILED)))
            worst = cell;
    }
    return worst;
}

static struct failure_onset describe(const struct grid_point *point, const struct cell_row *cell)
{
    return (struct failure_onset){
        .found = true,
        .point = *point,
        .cell = cell,
        .failure = class_of(cell),
        .failed = count_failed(cell),
        .attempted = cell->measurement.attempted,
        .message =
            cell->measurement.first_error[0] != '\0' ? cell->measurement.first_error : cell->reason,
    };
}

struct failure_onset failure_onset_find(const struct cell_grid *grid, size_t output, size_t context)
{
    struct failure_onset first = { 0 };

    for (size_t load = 0; load < grid->loads.count; load++) {
        const struct grid_point point = cell_grid_point(grid, output, context, load);
        const struct cell_row *cell = worst_of(&point);

        if (!first.found && cell != NULL)
            first = describe(&point, cell);
        else if (first.found && grid_point_state(&point) != CELL_MEASURED
                 && grid_point_state(&point) != CELL_PENDING
                 && grid_point_state(&point) != CELL_INFERRED)
            first.further++;
    }
    return first;
}
