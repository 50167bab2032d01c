/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/saturation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

struct peak peak_find(const struct cell_grid *grid, size_t output)
{
    struct peak best = { 0 };

    for (size_t context = 0; context < grid->contexts.count; context++)
        for (size_t load = 0; load < grid->loads.count; load++) {
            struct grid_point point = cell_grid_point(grid, output, context, load);
            double tokens = repetition_stats_mean(&point, QUANTITY_OUTPUT_TOKENS);

            if (grid_point_is_sound(&point) && tokens > best.output_tokens_per_s)
                best = (struct peak){ true, point, tokens };
        }
    return best;
}

/* ---- The curve of one context ---------------------------------------------------------------- */

struct sound_points {
    struct grid_point *points; /* ascending in load */
    struct load_point *curve;
    size_t count;
};

static void sound_points_finish(struct sound_points *sound)
{
    free(sound->points);
    free(sound->curve);
}
#define SOUND_POINTS_AUTO __attribute__((cleanup(sound_points_finish))) struct sound_points

/* The mean throughput_ci of the measured repetitions (NOISE_UNKNOWN where it is not known), divided
 * by the square root of their number; at least NOISE_LEAST. */
static double noise_of(const struct grid_point *point)
{
    size_t count = 0;
    double sum = 0;

    for (size_t i = 0; i < point->count; i++) {
        const struct cell_row *cell = point->cells[i];

        if (cell == NULL || cell->state != CELL_MEASURED)
            continue;
        sum += isfinite(cell->measurement.throughput_ci) ? cell->measurement.throughput_ci
                                                         : NOISE_UNKNOWN;
        count++;
    }
    return fmax(NOISE_LEAST, sum / (double)count / sqrt((double)count));
}

/* The mean number of waiting requests according to the server's counters; NaN if they do not have
 * it, or might not cover all requests (their state is not "full"). */
static double waiting_at_cell(const struct cell_row *cell)
{
    json_auto_t *counters = cell == NULL ? NULL : cell_grid_server_counters(cell);

    if (strcmp(json_get_text(counters, "state", ""), "full") != 0)
        return NAN;
    return json_get_number(counters, "requests_waiting_mean", NAN);
}

static double waiting_of(const struct grid_point *point)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < point->count; i++) {
        double waiting = waiting_at_cell(point->cells[i]);

        if (isnan(waiting))
            continue;
        sum += waiting;
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* Whether more requests arrived than were answered. If so, a higher load would give no more
 * tokens/s. */
static bool is_overloaded(const struct cell_row *cell)
{
    return cell->measurement.overloaded;
}

static bool is_client_limited(const struct cell_row *cell)
{
    return cell->measurement.client_limited;
}

static bool lost_requests(const struct cell_row *cell)
{
    return cell->state == CELL_MEASURED && cell->measurement.success_rate < CELL_GRID_SOUND_SUCCESS;
}

static bool is_contaminated(const struct cell_row *cell)
{
    return cell->state == CELL_MEASURED && cell->measurement.contaminated;
}

static bool has_any_cell(const struct grid_point *point,
                         bool (*matches)(const struct cell_row *cell))
{
    for (size_t i = 0; i < point->count; i++)
        if (point->cells[i] != NULL && matches(point->cells[i]))
            return true;
    return false;
}

static struct load_point load_point_of(const struct grid_point *point)
{
    return (struct load_point){ .load = point->load,
                                .tokens_per_s =
                                    repetition_stats_mean(point, QUANTITY_OUTPUT_TOKENS),
                                .noise = noise_of(point),
                                .ttft_ms = repetition_stats_mean(point, QUANTITY_TTFT_P50),
                                .e2e_ms = repetition_stats_mean(point, QUANTITY_E2E_P50),
                                .waiting = waiting_of(point),
                                .overloaded = has_any_cell(point, is_overloaded),
                                .at_least = has_any_cell(point, is_client_limited) };
}

static struct sound_points sound_points_of(const struct cell_grid *grid, size_t output,
                                           size_t context)
{
    struct sound_points out = { memory_zeroed(grid->loads.count + 1, sizeof *out.points),
                                memory_zeroed(grid->loads.count + 1, sizeof *out.curve), 0 };

    for (size_t load = 0; load < grid->loads.count; load++) {
        struct grid_point point = cell_grid_point(grid, output, context, load);

        if (!grid_point_is_sound(&point)
            || !(repetition_stats_mean(&point, QUANTITY_OUTPUT_TOKENS) > 0))
            continue;
        out.points[out.count] = point;
        out.curve[out.count++] = load_point_of(&point);
    }
    return out;
}

static enum cell_state state_below(const struct cell_grid *grid, size_t output, size_t context,
                                   size_t load)
{
    struct grid_point below;

    if (load == 0)
        return CELL_MEASURED;
    below = cell_grid_point(grid, output, context, load - 1);
    return grid_point_state(&below);
}

/* Sets `lost` and `foreign`, judging by the points above the load of the last sound point. */
static void find_unsound_above(const struct cell_grid *grid, size_t output, size_t context,
                               double load, struct saturation *out)
{
    for (size_t i = 0; i < grid->loads.count; i++) {
        struct grid_point point = cell_grid_point(grid, output, context, i);

        if (point.load <= load)
            continue;
        out->lost |= grid_point_state(&point) == CELL_FAILED || has_any_cell(&point, lost_requests);
        out->foreign |= has_any_cell(&point, is_contaminated);
    }
}

/* Returns the doubled_load of struct saturation, and sets *at_most to its doubled_at_most. */
static double find_doubled(const struct cell_grid *grid, size_t output, size_t context,
                           bool *at_most)
{
    double base = NAN;

    for (size_t load = 0; load < grid->loads.count; load++) {
        struct grid_point point = cell_grid_point(grid, output, context, load);
        double latency = repetition_stats_mean(&point, QUANTITY_E2E_P50);

        if (!grid_point_is_sound(&point) || !isfinite(latency))
            continue;
        if (isnan(base))
            base = latency;
        else if (latency >= 2 * base) {
            enum cell_state below = state_below(grid, output, context, load);

            *at_most = below == CELL_PENDING || below == CELL_INFERRED;
            return point.load;
        }
    }
    return 0;
}

/* ---- The finding ----------------------------------------------------------------------------- */

struct saturation saturation_find(const struct cell_grid *grid, size_t output, size_t context)
{
    SOUND_POINTS_AUTO sound = sound_points_of(grid, output, context);
    struct saturation out = { 0 };
    size_t top = 0;

    if (sound.count < 2)
        return out;
    for (size_t i = 1; i < sound.count; i++)
        if (sound.curve[i].tokens_per_s > sound.curve[top].tokens_per_s)
            top = i;
    out.found = true;
    out.verdict = load_curve_judge(sound.curve, sound.count, grid->is_rate);
    out.next_count =
        load_curve_next(sound.curve, sound.count, grid->is_rate, &out.verdict, out.next);
    out.at = sound.points[out.verdict.at];
    out.output_tokens_per_s = sound.curve[out.verdict.at].tokens_per_s;
    out.peak = sound.points[top];
    out.peak_tokens_per_s = sound.curve[top].tokens_per_s;
    if (!out.verdict.reached)
        find_unsound_above(grid, output, context, out.at.load, &out);
    out.doubled_load = find_doubled(grid, output, context, &out.doubled_at_most);
    return out;
}

static void add_next(const struct saturation *saturation, struct text *out)
{
    for (size_t i = 0; i < saturation->next_count; i++)
        text_addf(out, "%s%.6g", i == 0 ? " (measure " : ", ", saturation->next[i]);
    text_add(out, saturation->next_count > 0 ? " next)" : "");
}

static void add_interval(const struct saturation *saturation, struct text *out)
{
    const struct load_verdict *verdict = &saturation->verdict;
    char load[LOAD_SIZE];

    cell_grid_load_name(saturation->at.load, saturation->at.is_rate, load);
    if (!verdict->reached)
        text_addf(
            out,
            "not saturated below %.4g; throughput may still be growing at %s, the largest measured "
            "load%s",
            verdict->low, load,
            saturation->lost      ? " that did not lose requests"
            : saturation->foreign ? " without traffic from other clients"
                                  : "");
    else if (verdict->low < verdict->high)
        text_addf(out, "saturated between %.4g and %s", verdict->low, load);
    else
        text_addf(out, "saturated at %s", load);
}

void saturation_sentence(const struct saturation *saturation, struct text *out)
{
    add_interval(saturation, out);
    if (!saturation->lost)
        add_next(saturation, out);
    if (isfinite(saturation->verdict.at_once))
        text_addf(out, "; the server runs about %.0f requests at once",
                  saturation->verdict.at_once);
}
