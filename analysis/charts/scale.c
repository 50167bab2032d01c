/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TICKS_WANTED 6
/* A log axis has ticks at 1, 2, 3, ... 9 if it has at most DECADES_OF_ALL decades, at 1, 2 and 5 up
 * to DECADES_OF_TWOS, at 1 and 3 up to DECADES_OF_THREES, and only at 1 beyond that. */
#define DECADES_OF_THREES 4
#define DECADES_OF_TWOS 1.7
#define DECADES_OF_ALL 0.6
#define DECADES_LEAST 0.18 /* scale_fit() extends a narrower range, and gives it finer ticks */
#define NARROW_MARGIN 1.25 /* the factor by which such a range is extended at each end */
/* For scale_number() and scale_tick_name(), regardless of the figure's sign: */
#define EXACT_LIMIT 1e15     /* larger figures are written with an exponent */
#define LEAST_DECIMAL 0.0001 /* smaller figures are written with an exponent */
#define LEAST 1e-300         /* smaller figures, except 0, are written as "< 1e-300" */
/* The ticks of a scale of ratios depend on its upper bound divided by its lower bound. If that is
 * at most RATIO_NEAR, they are at 0.9, 1.1 and the like; if it is less than RATIO_FAR, at 0.5, 2
 * and the like; otherwise, they are the same as on any other log scale. */
#define RATIO_NEAR 4.5
#define RATIO_FAR 10000

/* ---- Ranges ---- */

bool scale_range_takes(const struct scale_range *range, double value)
{
    return isfinite(value) && (!range->is_log || value > 0);
}

void scale_range_add(struct scale_range *range, double value)
{
    if (!scale_range_takes(range, value))
        return;
    range->low = range->known ? fmin(range->low, value) : value;
    range->high = range->known ? fmax(range->high, value) : value;
    range->known = true;
}

/* ---- Ticks ---- */

/* The distance between the ticks of a linear axis: 1, 2 or 5 times a power of ten. */
static double step_of(double span)
{
    double power = pow(10, floor(log10(span / TICKS_WANTED)));
    double share = span / TICKS_WANTED / power;

    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

/* The factors within a decade at which a log axis has ticks, followed by 0. */
static const double *factors_of(double decades)
{
    static const double tens[] = { 1, 0 }, threes[] = { 1, 3, 0 }, twos[] = { 1, 2, 5, 0 },
                        all[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0 };

    if (decades >= DECADES_LEAST && decades <= DECADES_OF_ALL)
        return all;
    return decades <= DECADES_OF_TWOS ? twos : decades <= DECADES_OF_THREES ? threes : tens;
}

/* The nearest tick at or below the value; with `above`, at or above it. */
static double log_tick(double value, const double *factors, bool above)
{
    int power = (int)floor(log10(value)) - 1;
    double best = NAN;

    for (int i = power; i <= power + 3; i++)
        for (const double *factor = factors; *factor > 0; factor++) {
            double tick = *factor * pow(10, i);

            if (above ? tick >= value * (1 - 1e-9) && !(best <= tick) : tick <= value * (1 + 1e-9))
                best = tick;
        }
    return best;
}

static struct scale fit_log(struct scale_range range, double from, double to)
{
    static const double fine[] = { 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 0 };
    double decades = log10(range.high / range.low);
    bool is_narrow = decades < DECADES_LEAST;
    const double *factors = is_narrow ? fine : factors_of(decades);
    double margin = is_narrow ? NARROW_MARGIN : 1;

    return (struct scale){ true,
                           log_tick(range.low / margin, factors, false),
                           log_tick(range.high * margin, factors, true),
                           from,
                           to,
                           factors,
                           false,
                           0 };
}

struct scale scale_fit(const struct scale_range *range, double from, double to)
{
    double step;

    if (range->is_log)
        return fit_log(range->known ? *range : (struct scale_range){ 1, 10, true, true }, from, to);
    if (!range->known || range->high <= 0)
        return (struct scale){ false, 0, 1, from, to, NULL, false };
    step = step_of(range->high) / 2;
    return (struct scale){ false, 0,    step * ceil(range->high / step * (1 - 1e-9)), from, to,
                           NULL,  false };
}

void scale_keep_clear(struct scale *scale, double distance)
{
    double share = 1 - distance / fabs(scale->to - scale->from), high = scale->high;

    scale->ticks_end = high;
    scale->high = scale->is_log ? scale->low * pow(high / scale->low, 1 / share)
                                : scale->low + (high - scale->low) / share;
}

struct scale scale_of_ratios(double low, double high, double from, double to)
{
    return (struct scale){ true, low, high, from, to, NULL, true };
}

double scale_at(const struct scale *scale, double value)
{
    double share = scale->is_log ? log(value / scale->low) / log(scale->high / scale->low)
                                 : (value - scale->low) / (scale->high - scale->low);

    return scale->from + share * (scale->to - scale->from);
}

static double ticks_end(const struct scale *scale)
{
    return scale->ticks_end > 0 ? scale->ticks_end : scale->high;
}

static size_t ticks_log(const struct scale *scale, double out[SCALE_TICKS_MAX])
{
    double decades = log10(scale->high / scale->low);
    const double *factors = scale->factors != NULL ? scale->factors : factors_of(decades);
    int stride = (int)fmax(1, ceil(decades / (SCALE_TICKS_MAX - 2)));
    size_t count = 0;

    for (int i = (int)floor(log10(scale->low)) - 1; i <= (int)ceil(log10(scale->high)); i += stride)
        for (const double *factor = factors; *factor > 0; factor++) {
            double tick = *factor * pow(10, i);

            if (tick >= scale->low * (1 - 1e-9) && tick <= ticks_end(scale) * (1 + 1e-9)
                && count < SCALE_TICKS_MAX)
                out[count++] = tick;
        }
    return count;
}

static size_t ticks_of_ratios(const struct scale *scale, double out[SCALE_TICKS_MAX])
{
    static const double near[] = { 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 0 };
    static const double far[] = { 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 0 };
    size_t count = 0;

    for (const double *tick = scale->high / scale->low <= RATIO_NEAR ? near : far; *tick > 0;
         tick++)
        if (*tick >= scale->low * (1 - 1e-9) && *tick <= ticks_end(scale) * (1 + 1e-9))
            out[count++] = *tick;
    return count;
}

size_t scale_ticks(const struct scale *scale, double out[SCALE_TICKS_MAX])
{
    double step = step_of(ticks_end(scale) - scale->low);
    size_t count = 0;

    if (scale->is_ratio && scale->high / scale->low < RATIO_FAR)
        return ticks_of_ratios(scale, out);
    if (scale->is_log)
        return ticks_log(scale, out);
    for (double i = ceil(scale->low / step * (1 - 1e-9)); count < SCALE_TICKS_MAX; i++) {
        if (i * step > ticks_end(scale) + step * 1e-6)
            break;
        out[count++] = i * step;
    }
    return count;
}

/* ---- Text ---- */

/* Writes the value with this many decimals; `trims`: without trailing zeros. */
static void write_decimals(double value, int decimals, bool trims, char out[SCALE_NUMBER_SIZE])
{
    int64_t unit = (int64_t)llround(pow(10, decimals));
    int64_t scaled = (int64_t)llround(fabs(value) * (double)unit);
    int length = snprintf(out, SCALE_NUMBER_SIZE, "%s%" PRId64, value < 0 && scaled > 0 ? "-" : "",
                          scaled / unit);

    if (decimals == 0 || (trims && scaled % unit == 0))
        return;
    snprintf(out + length, SCALE_NUMBER_SIZE - (size_t)length, ".%0*" PRId64, decimals,
             scaled % unit);
    for (char *end = out + strlen(out) - 1; trims && *end == '0'; end--)
        *end = '\0';
}

static int decimals_of(double size)
{
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.09995 ? 3 : 4;
}

/* Writes the value with an exponent: "1.20e-7"; with `trims`, "1.2e-7". */
static const char *write_exponent(double value, bool trims, char out[SCALE_NUMBER_SIZE])
{
    int exponent = (int)floor(log10(fabs(value)));
    double mantissa = value / pow(10, exponent);

    if (fabs(mantissa) >= 9.995) {
        mantissa /= 10;
        exponent++;
    }
    write_decimals(mantissa, 2, trims, out);
    snprintf(out + strlen(out), SCALE_NUMBER_SIZE - strlen(out), "e%d", exponent);
    return out;
}

static const char *write_number(double value, bool trims, char out[SCALE_NUMBER_SIZE])
{
    static const struct {
        double unit;
        const char *suffix;
    } units[] = { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" } };
    double size = fabs(value);
    size_t i = size < 9999.5 ? 4 : 0;

    if (!isfinite(value))
        return strcpy(out, "-");
    if (size < LEAST)
        return strcpy(out, size == 0 ? "0" : "< 1e-300");
    if (size > EXACT_LIMIT || size < LEAST_DECIMAL)
        return write_exponent(value, trims, out);
    while (size < 0.9995 * units[i].unit && i < 4)
        i++;
    write_decimals(value / units[i].unit, decimals_of(size / units[i].unit), trims, out);
    return strcat(out, units[i].suffix);
}

const char *scale_number(double value, char out[SCALE_NUMBER_SIZE])
{
    return write_number(value, false, out);
}

const char *scale_tick_name(double value, char out[SCALE_NUMBER_SIZE])
{
    return write_number(value, true, out);
}

const char *scale_exact(double value, char out[SCALE_NUMBER_SIZE])
{
    if (!isfinite(value) || fabs(value) > EXACT_LIMIT / 1e4)
        return scale_number(value, out);
    write_decimals(value, 4, true, out);
    return out;
}

const char *scale_money(double value, char out[SCALE_NUMBER_SIZE])
{
    if (!isfinite(value) || fabs(value) > EXACT_LIMIT / 1e4)
        return scale_number(value, out);
    write_decimals(value, fabs(value) < 0.1 ? 4 : 2, false, out);
    return out;
}
