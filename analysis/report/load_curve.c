/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/load_curve.h"

#include <math.h>

#include "base/core/memory.h"

#define DOUBT 1.5 /* bounds computed from a figure allow for this multiple of its noise */
/* The allowance is at most this share of the figure, so that bounds stay positive. */
#define DOUBT_LIMIT 0.9
/* Replaces DOUBT_LIMIT where find_saturated compares tokens/s with a share of the peak. */
#define DOUBT_LIMIT_AT_PEAK 0.02
/* most_beyond compares two loads only if they differ by at least this factor: closer loads might
 * run in batches padded to the same size. */
#define SPAN_LEAST 1.9
#define STEPS 50 /* most_between divides the interval between two points into this many steps */

/* In a closed loop, requests are taken to wait for others to end if the server itself counts at
 * least the share WAITING_SHARE of them as waiting. They are also taken to wait if, compared with a
 * smaller load, the time to the first token is longer by at least the share WAIT_TIME_SHARE of the
 * request's time, and has grown by more than WAIT_GROWTH times the factor by which the load grew.
 * (Without waiting, the time to the first token would grow no faster than the load, even if the
 * server read all prompts one after the other.) */
#define WAITING_SHARE 0.5
#define WAIT_TIME_SHARE 0.25
#define WAIT_GROWTH 1.5

struct curve {
    const struct load_point *points;
    size_t count;
    bool is_rate;
    size_t top; /* index of the point with the most tokens/s */
};

static double load(const struct curve *curve, size_t i)
{
    return curve->points[i].load;
}

static double tokens_per_s(const struct curve *curve, size_t i)
{
    return curve->points[i].tokens_per_s;
}

static double doubt(const struct curve *curve, size_t i)
{
    return fmin(DOUBT_LIMIT, DOUBT * curve->points[i].noise);
}

static size_t find_top(const struct curve *curve)
{
    size_t top = 0;

    for (size_t i = 1; i < curve->count; i++)
        if (tokens_per_s(curve, i) > tokens_per_s(curve, top))
            top = i;
    return top;
}

static bool waits_for_others(const struct load_point *before, const struct load_point *now)
{
    return now->ttft_ms - before->ttft_ms >= WAIT_TIME_SHARE * now->e2e_ms
           && now->ttft_ms / before->ttft_ms > WAIT_GROWTH * now->load / before->load;
}

/* The number of requests at point i that wait for others to end; 0: none are known to wait. */
static double waiting_at(const struct curve *curve, size_t i)
{
    const struct load_point *now = &curve->points[i];
    double waiting = 0;

    if (curve->is_rate)
        return 0;
    if (now->waiting >= WAITING_SHARE * now->load)
        return now->waiting;
    for (const struct load_point *before = curve->points; before < now; before++)
        if (waits_for_others(before, now))
            waiting = fmax(waiting, now->load * (now->ttft_ms - before->ttft_ms) / now->e2e_ms);
    return waiting;
}

/* Whether a load above that of point i would add nothing but waiting. */
static bool is_full(const struct curve *curve, size_t i)
{
    return curve->points[i].overloaded || waiting_at(curve, i) > 0;
}

/* The number of requests that the server processes at the same time. It is computed at the first
 * point with index `from` or above at which requests wait, because it is most accurate there.
 * INFINITY: there is no such point. */
static double requests_at_once(const struct curve *curve, size_t from)
{
    for (size_t i = from; i < curve->count; i++) {
        double waiting = waiting_at(curve, i);

        if (waiting > 0)
            return fmax(1, load(curve, i) - waiting);
    }
    return INFINITY;
}

/* ---- The most that other loads can give ------------------------------------------------------ */

/* The load divided by the tokens/s that it gives. As the load grows, this never falls, and never
 * grows more slowly than before, until each further unit of load adds 1 / peak. */
static double time_per_token(const struct curve *curve, size_t i)
{
    return load(curve, i) / tokens_per_s(curve, i);
}

/* By how much the time per token grows per unit of load from point i to point j: a lower bound if
 * `sign` is -1, an upper bound if it is 1. */
static double growth(const struct curve *curve, size_t i, size_t j, int sign)
{
    double grown = time_per_token(curve, j) * (1 + sign * doubt(curve, j))
                   - time_per_token(curve, i) * (1 - sign * doubt(curve, i));

    return grown / (load(curve, j) - load(curve, i));
}

/* The most tokens/s that any load beyond the last point can give; INFINITY: not known. If the last
 * point has `span` times the load of an earlier point and `gain` times its tokens/s, the peak is at
 * most (span - 1) / (span - gain) times the last point's tokens/s. */
static double most_beyond(const struct curve *curve)
{
    size_t last = curve->count - 1;
    double most = INFINITY;

    if (is_full(curve, last))
        return tokens_per_s(curve, last);
    for (size_t i = 0; i < last && !curve->points[last].at_least; i++) {
        double span = load(curve, last) / load(curve, i);
        double gain = tokens_per_s(curve, last) / tokens_per_s(curve, i) * (1 + doubt(curve, last))
                      / (1 - doubt(curve, i));

        if (span >= SPAN_LEAST && span > gain)
            most = fmin(most, tokens_per_s(curve, last) * (span - 1) / (span - gain));
    }
    return most;
}

/* The most tokens/s that the load `at`, between points i and i + 1, can give. Between these points,
 * the time per token grows at least as fast as before them, and no faster than after them. */
static double most_at(const struct curve *curve, size_t i, double at)
{
    double before = i > 0 ? fmax(0, growth(curve, i - 1, i, -1)) : 0;
    double time = time_per_token(curve, i) + before * (at - load(curve, i));

    if (i + 2 < curve->count)
        time = fmax(time, time_per_token(curve, i + 1)
                              - growth(curve, i + 1, i + 2, 1) * (load(curve, i + 1) - at));
    return at / time;
}

/* The most tokens/s that any load between points i and i + 1 can give. Loads above the number of
 * requests processed at the same time are not considered, since they only make requests wait. 0:
 * all loads between the points are above that number. */
static double most_between(const struct curve *curve, size_t i)
{
    double from = load(curve, i), to = fmin(load(curve, i + 1), requests_at_once(curve, i + 1));
    double most = 0;

    for (int step = 0; step <= STEPS && to > from; step++)
        most = fmax(most, most_at(curve, i, from + (to - from) * step / STEPS));
    return most;
}

/* Sets most[i] to the most tokens/s that the load of point i or any larger load can give. */
static void find_most(const struct curve *curve, double *most)
{
    double beyond = most_beyond(curve);

    for (size_t i = curve->count; i-- > 0; beyond = most[i]) {
        most[i] = fmax(beyond, tokens_per_s(curve, i));
        if (i + 1 < curve->count)
            most[i] = fmax(most[i], most_between(curve, i));
    }
}

/* ---- The interval ---------------------------------------------------------------------------- */

/* Returns the index of the first saturated point, or `count` if there is none. Point i is saturated
 * if the best tokens/s of points 0 to i reach SATURATION_SHARE of the most that the load of point i
 * or any larger load can give. */
static size_t find_saturated(const struct curve *curve)
{
    FREE_AUTO double *most = memory_zeroed(curve->count + 1, sizeof *most);
    double best = 0;
    size_t i = 0;

    find_most(curve, most);
    for (; i < curve->count; i++) {
        best =
            fmax(best, tokens_per_s(curve, i) * (1 - fmin(DOUBT_LIMIT_AT_PEAK, doubt(curve, i))));
        if (best >= SATURATION_SHARE * most[i])
            break;
    }
    return i;
}

/* The lower end of the interval: by Little's law, no smaller load gives the tokens/s that
 * saturation requires. It is at most the top point's load. */
static double least_load(const struct curve *curve)
{
    double share =
        SATURATION_SHARE * tokens_per_s(curve, curve->top) * (1 - doubt(curve, curve->top));
    double least = 0;

    for (size_t i = 0; i < curve->top; i++) {
        double most = tokens_per_s(curve, i) * (1 + doubt(curve, i));

        if (most < share && !curve->points[i].at_least)
            least = fmax(least, load(curve, i) * share / most);
    }
    least = fmin(least, load(curve, curve->top));
    return curve->is_rate ? least : fmax(1, ceil(least));
}

struct load_verdict load_curve_judge(const struct load_point *points, size_t count, bool is_rate)
{
    struct curve curve = { points, count, is_rate, 0 };
    struct load_verdict out = { .high = INFINITY, .at = count - 1 };
    size_t at;

    curve.top = find_top(&curve);
    at = find_saturated(&curve);
    out.reached = at < count;
    if (out.reached) {
        out.at = at;
        out.high = points[at].load;
    }
    out.low = fmin(least_load(&curve), out.high);
    out.at_once = requests_at_once(&curve, 0);
    return out;
}

/* ---- What to measure next -------------------------------------------------------------------- */

static bool is_point(const struct load_point *points, size_t count, double load)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(points[i].load - load) < 1e-6 * load)
            return true;
    return false;
}

/* The first number above `load` in the series ..., 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, ... */
static double next_round(double load)
{
    double power = exp2(floor(log2(load)));

    return load < 1.5 * power ? 1.5 * power : 2 * power;
}

/* Chooses round loads that are spread over the interval; returns how many. */
static size_t spread(const struct load_verdict *verdict, bool is_rate, double out[LOADS_TO_MEASURE])
{
    double low = fmax(verdict->low, verdict->high / 1024), all[32];
    size_t count = 0, chosen;

    for (double at = next_round(low); at < verdict->high && count < 32; at = next_round(at))
        if (is_rate || at >= 2 || at <= 1)
            all[count++] = at;
    chosen = count < LOADS_TO_MEASURE ? count : LOADS_TO_MEASURE;
    for (size_t i = 0; i < chosen; i++)
        out[i] = all[count <= LOADS_TO_MEASURE ? i : (i + 1) * (count + 1) / (chosen + 1) - 1];
    return chosen;
}

size_t load_curve_next(const struct load_point *points, size_t count, bool is_rate,
                       const struct load_verdict *verdict, double out[LOADS_TO_MEASURE])
{
    double inside[LOADS_TO_MEASURE], greatest = points[count - 1].load;
    size_t found, chosen = 0;

    if (!verdict->reached) {
        out[0] = 2 * greatest;
        out[1] = 4 * greatest;
        return 2;
    }
    found = spread(verdict, is_rate, inside);
    for (size_t i = 0; i < found; i++)
        if (!is_point(points, count, inside[i]))
            out[chosen++] = inside[i];
    if (chosen == 0 && !is_rate && verdict->high - verdict->low >= 1) {
        out[0] = floor((verdict->low + verdict->high) / 2);
        chosen = !is_point(points, count, out[0]);
    }
    return chosen;
}
