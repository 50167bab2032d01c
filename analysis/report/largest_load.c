#include "analysis/report/largest_load.h"

#include <math.h>

static bool is_judged(const struct cell_row *cell)
{
    return cell != NULL && (cell->state == CELL_MEASURED || cell->state == CELL_FAILED);
}

static struct stand stand_of(const struct point *point, const struct limits *limits)
{
    struct stand stand = { .point = *point };
    size_t count = 0;

    for (size_t i = 0; i < point->count; i++) {
        struct strain strain;

        if (!is_judged(point->cells[i]))
            continue;
        strain = limits_strain(limits, &point->cells[i]->measurement);
        if (count++ == 0 || strain.ratio > stand.worst.ratio)
            stand.worst = strain;
        stand.ratio += strain.ratio;
    }
    stand.judged = count > 0;
    stand.ratio /= (double)(count > 0 ? count : 1);
    return stand;
}

struct limit_found limit_find(const struct grid *grid, const struct limits *limits, size_t output,
                              size_t context)
{
    struct limit_found out = { .exact = true };
    size_t missed = 0;

    for (size_t user = 0; user < grid->loads.count; user++) {
        struct point point = grid_point(grid, output, context, user);
        struct stand stand = stand_of(&point, limits);

        if (!stand.judged) {
            out.exact = out.exact && out.miss.judged;
        } else if (stand.ratio <= 1) {
            out = (struct limit_found){ .met = stand, .exact = true };
            out.uneven = missed;
        } else {
            missed++;
            if (!out.miss.judged)
                out.miss = stand;
        }
    }
    return out;
}
