/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/largest_load.h"

static bool is_judged(const struct cell_row *cell)
{
    return cell != NULL && (cell->state == CELL_MEASURED || cell->state == CELL_FAILED);
}

static struct largest_load_level level_of(const struct grid_point *point, const struct slo *limits)
{
    struct largest_load_level level = { .point = *point };
    size_t count = 0;

    for (size_t i = 0; i < point->count; i++) {
        struct slo_nearest nearest;

        if (!is_judged(point->cells[i]))
            continue;
        nearest = slo_find_nearest(limits, &point->cells[i]->measurement);
        if (count++ == 0 || nearest.ratio > level.worst.ratio)
            level.worst = nearest;
        level.ratio += nearest.ratio;
    }
    level.judged = count > 0;
    level.ratio /= (double)(count > 0 ? count : 1);
    return level;
}

struct largest_load largest_load_find(const struct cell_grid *grid, const struct slo *limits,
                                      size_t output, size_t context)
{
    struct largest_load out = { .exact = true };
    size_t missed = 0;

    for (size_t load = 0; load < grid->loads.count; load++) {
        struct grid_point point = cell_grid_point(grid, output, context, load);
        struct largest_load_level level = level_of(&point, limits);

        if (!level.judged) {
            out.exact = out.exact && out.miss.judged;
        } else if (level.ratio <= 1) {
            out = (struct largest_load){ .met = level, .exact = true };
            out.smaller_misses = missed;
        } else {
            missed++;
            if (!out.miss.judged)
                out.miss = level;
        }
    }
    return out;
}
