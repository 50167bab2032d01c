#include "analysis/saturation.h"

#include <math.h>

struct peak peak_find(const struct grid *grid, size_t output)
{
    struct peak best = { 0 };

    for (size_t context = 0; context < grid->contexts.count; context++)
        for (size_t user = 0; user < grid->loads.count; user++) {
            struct point point = grid_point(grid, output, context, user);
            double tokens = figure_mean(&point, QUANTITY_OUTPUT_TOKENS);

            if (point_is_sound(&point) && tokens > best.output_tokens_per_s)
                best = (struct peak){ true, point, tokens };
        }
    return best;
}

/* The peak of one context; *sound and *last say how many points are sound and which is the greatest
 * load of them. */
static struct peak peak_of_context(const struct grid *grid, size_t output, size_t context,
                                   size_t *sound, size_t *last)
{
    struct peak best = { 0 };

    *sound = 0;
    for (size_t user = 0; user < grid->loads.count; user++) {
        struct point point = grid_point(grid, output, context, user);
        double tokens = figure_mean(&point, QUANTITY_OUTPUT_TOKENS);

        if (!point_is_sound(&point) || !isfinite(tokens))
            continue;
        ++*sound;
        *last = user;
        if (tokens > best.output_tokens_per_s)
            best = (struct peak){ true, point, tokens };
    }
    return best;
}

static enum cell_state state_below(const struct grid *grid, size_t output, size_t context,
                                   size_t user)
{
    struct point below;

    if (user == 0)
        return CELL_MEASURED;
    below = grid_point(grid, output, context, user - 1);
    return point_state(&below);
}

/* More came than was answered: more still would be no faster. */
static bool is_overloaded(const struct point *point)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->cells[i] != NULL && point->cells[i]->measurement.overloaded)
            return true;
    return false;
}

static bool is_any_lost_above(const struct grid *grid, size_t output, size_t context, size_t last)
{
    for (size_t user = last + 1; user < grid->loads.count; user++) {
        struct point point = grid_point(grid, output, context, user);

        if (point_state(&point) == CELL_MEASURED || point_state(&point) == CELL_FAILED)
            return true;
    }
    return false;
}

static double find_doubled(const struct grid *grid, size_t output, size_t context, bool *at_most)
{
    double base = NAN;

    for (size_t user = 0; user < grid->loads.count; user++) {
        struct point point = grid_point(grid, output, context, user);
        double latency = figure_mean(&point, QUANTITY_E2E_P50);

        if (!point_is_sound(&point) || !isfinite(latency))
            continue;
        if (isnan(base))
            base = latency;
        else if (latency >= 2 * base) {
            enum cell_state below = state_below(grid, output, context, user);

            *at_most = below == CELL_PENDING || below == CELL_INFERRED;
            return point.load;
        }
    }
    return 0;
}

struct saturation saturation_find(const struct grid *grid, size_t output, size_t context)
{
    struct saturation out = { 0 };
    size_t sound, last = 0;
    struct peak peak = peak_of_context(grid, output, context, &sound, &last);

    if (!peak.found || sound < 2)
        return out;
    out.peak = peak.point;
    out.peak_tokens_per_s = peak.output_tokens_per_s;
    out.doubled_load = find_doubled(grid, output, context, &out.doubled_at_most);
    for (size_t user = 0; user <= last && !out.found; user++) {
        struct point point = grid_point(grid, output, context, user);
        double tokens = figure_mean(&point, QUANTITY_OUTPUT_TOKENS);

        if (!point_is_sound(&point) || !(tokens >= SATURATION_SHARE * peak.output_tokens_per_s))
            continue;
        out.found = true;
        out.reached = user < last || is_overloaded(&point);
        out.lost = !out.reached && is_any_lost_above(grid, output, context, last);
        out.at_most = state_below(grid, output, context, user) == CELL_PENDING;
        out.at = point;
        out.output_tokens_per_s = tokens;
    }
    return out;
}
