/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on latencies: tails cut off by a timeout, percentiles of too few values, contradictions. */

#include <string.h>

#include "analysis/audit/audit_parts.h"

#define NEAR_TIMEOUT 0.97 /* a latency of at least this share of a timeout reached the timeout */
#define PAST_LATENCY 1.05 /* a latency above this multiple of a timeout did not end at it */
#define PAST_BURST 1.2    /* the same for the duration of a burst, whose last requests begin late */
#define ROUNDS_OF_A_BURST 1.5 /* requests per user: a cell with more is not a burst */
#define LOST_SHARE 0.01       /* a cell lost requests if at least this share of them failed */
/* A timeout that is not stated is assumed if at least TIMEOUT_CELLS cells end at it, and these are
 * at least the share TIMEOUT_SHARE of the cells that lost requests: fewer could be chance. */
#define TIMEOUT_CELLS 2
#define TIMEOUT_SHARE 0.5
/* Even a single cell can show a timeout if it lost at least the share ALONE_LOST of its requests,
 * and its highest latency differs from the timeout by at most the share ALONE_WITHIN. */
#define ALONE_LOST 0.05
#define ALONE_WITHIN 0.015
#define RATIO_WITHIN 0.1 /* p95 / mean ratios that differ by at most this share count as equal */
#define BUNCHED 1.05     /* percentiles that differ by at most this factor are almost equal */

/* ---- Timeouts ---- */

/* Requests per user. The number of requests is the reported one, else the number that succeeded,
 * else request rate x duration. */
static double cell_rounds(const struct evidence_cell *cell)
{
    double requests = audit_cell_requests(cell);

    if (isnan(requests))
        requests = cell->succeeded;
    if (isnan(requests))
        requests = cell->request_throughput * cell->duration_s;
    return requests / audit_cell_users(cell);
}

/* Returns how many seconds a burst took, which is about as long as its slowest request took: the
 * reported duration or, if there is none, one computed from the rate of successful requests. A cell
 * whose number of requests is not known counts as a burst. NaN: the cell is not a burst, or its
 * number of users or its duration is not known. */
static double burst_s(const struct evidence_cell *cell)
{
    double succeeded =
        isnan(cell->succeeded) ? cell->success_rate * audit_cell_users(cell) : cell->succeeded;

    if (cell_rounds(cell) > ROUNDS_OF_A_BURST || isnan(audit_cell_users(cell)))
        return NAN;
    return isnan(cell->duration_s) ? succeeded / cell->request_throughput : cell->duration_s;
}

static double highest_s(const struct evidence_cell *cell)
{
    const struct evidence_latency *e2e = &cell->latency[METRIC_E2E];

    return fmax(fmax(e2e->p95_ms, e2e->p99_ms), e2e->max_ms) / 1000;
}

/* Returns the common timeout value that the duration is close to: from NEAR_TIMEOUT to `past` times
 * that value. NaN: there is none. */
static double timeout_near(double duration_s, double past)
{
    static const double usual[] = { 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600 };

    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (duration_s >= NEAR_TIMEOUT * usual[i] && duration_s <= past * usual[i])
            return usual[i];
    return NAN;
}

/* Returns the common timeout value at which the cell's slowest requests seem to have ended; NaN:
 * there is none. Looks at the cell's highest latency; if that is not near such a value and the cell
 * is a burst, at its duration. If nothing succeeded, looks only at the duration. */
static double timeout_of(const struct evidence_cell *cell)
{
    double by_latency = timeout_near(highest_s(cell), PAST_LATENCY);

    if (cell->state == EVIDENCE_FAILED)
        return timeout_near(cell->duration_s, PAST_BURST);
    return isnan(by_latency) ? timeout_near(burst_s(cell), PAST_BURST) : by_latency;
}

static bool has_bounds(const struct evidence_latency *latency)
{
    return latency->p50_at_least || latency->p90_at_least || latency->p95_at_least
           || latency->p99_at_least;
}

static bool has_lost(const struct evidence_cell *cell)
{
    return cell->success_rate <= 1 - LOST_SHARE
           || cell->failed >= LOST_SHARE * audit_cell_requests(cell)
           || (cell->failed > 0 && isnan(audit_cell_requests(cell)));
}

static bool names_timeout(const struct evidence_cell *cell)
{
    const char *const texts[] = { cell->error == NULL ? "" : cell->error, cell->status };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcasestr(texts[i], "timeout") != NULL || strcasestr(texts[i], "timed out") != NULL
            || strcasestr(texts[i], "deadline") != NULL)
            return true;
    return false;
}

static double tail_ratio(const struct evidence_cell *cell)
{
    return cell->latency[METRIC_E2E].p95_ms / audit_cell_mean_ms(cell);
}

/* Whether p95, p99 and the maximum are almost equal, and clearly above the mean: only a timeout has
 * this effect. */
static bool is_bunched(const struct evidence_cell *cell)
{
    const struct evidence_latency *e2e = &cell->latency[METRIC_E2E];
    double highest = fmax(e2e->p99_ms, e2e->max_ms);

    return highest <= e2e->p95_ms * BUNCHED && tail_ratio(cell) > 1 + RATIO_WITHIN;
}

/* Returns the average of p95 / mean over the measured cells that lost no requests; NaN: there are
 * no such cells. */
static double usual_tail(const struct evidence *evidence)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (!audit_cell_is_measured(cell) || has_lost(cell) || isnan(tail_ratio(cell)))
            continue;
        sum += tail_ratio(cell);
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* The timeouts at which the slowest requests of a run's cells seem to have ended. */
struct timeouts {
    double at[32];     /* the timeouts in seconds */
    size_t cells[32];  /* for each timeout, the number of cells that seem to end at it */
    size_t count;      /* number of timeouts */
    size_t lost_cells; /* cells that lost requests and whose slowest time is known */
    double usual_tail; /* the result of usual_tail() */
};

static void add_timeout(struct timeouts *timeouts, double timeout_s)
{
    size_t i = 0;

    while (i < timeouts->count && fabs(timeouts->at[i] - timeout_s) > 0.5)
        i++;
    if (i == sizeof timeouts->at / sizeof *timeouts->at)
        return;
    if (i == timeouts->count)
        timeouts->at[timeouts->count++] = timeout_s;
    timeouts->cells[i]++;
}

static struct timeouts find_unstated_timeouts(const struct evidence *evidence)
{
    struct timeouts timeouts = { .usual_tail = usual_tail(evidence) };

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];
        double timeout_s = timeout_of(cell);
        bool lost = audit_cell_is_measured(cell) && has_lost(cell);

        if (!lost && cell->state != EVIDENCE_FAILED)
            continue;
        timeouts.lost_cells += lost && !isnan(fmax(highest_s(cell), burst_s(cell)));
        if (!isnan(timeout_s))
            add_timeout(&timeouts, timeout_s);
    }
    return timeouts;
}

static bool is_unstated_timeout(const struct timeouts *timeouts, double timeout_s)
{
    for (size_t i = 0; i < timeouts->count; i++)
        if (fabs(timeouts->at[i] - timeout_s) < 0.5)
            return timeouts->cells[i] >= TIMEOUT_CELLS
                   && (double)timeouts->cells[i] >= TIMEOUT_SHARE * (double)timeouts->lost_cells;
    return false;
}

/* Whether a single cell is enough to show the timeout: it lost many requests without a stated
 * reason, its highest latency is very close to the timeout but not a whole number of seconds, and
 * its tail differs from that of the cells that lost no requests, if there are any. */
static bool suffices_alone(const struct timeouts *timeouts, const struct evidence_cell *cell,
                           double timeout_s)
{
    double highest = highest_s(cell);

    return cell->success_rate <= 1 - ALONE_LOST && cell->error == NULL
           && fabs(highest / timeout_s - 1) <= ALONE_WITHIN
           && fabs(highest - round(highest)) > 0.0005
           && !(fabs(tail_ratio(cell) / timeouts->usual_tail - 1) < RATIO_WITHIN);
}

/* Returns the timeout that cut off this cell's tail; NaN: none did. Also NaN if the percentiles are
 * marked as lower bounds, because they then include the requests that timed out. */
static double cutting_timeout(const struct evidence *evidence, const struct timeouts *timeouts,
                              const struct evidence_cell *cell)
{
    double stated_s = isnan(cell->timeout_s) ? evidence->facts.timeout_s : cell->timeout_s;
    bool some_failed = cell->success_rate < 1 || cell->failed > 0;
    double timeout_s = timeout_of(cell);

    if (!audit_cell_is_measured(cell) || !some_failed || has_bounds(&cell->latency[METRIC_E2E]))
        return NAN;
    if (!isnan(stated_s))
        return fmax(highest_s(cell), burst_s(cell)) >= NEAR_TIMEOUT * stated_s ? stated_s : NAN;
    if (names_timeout(cell) || (has_lost(cell) && is_bunched(cell))
        || is_unstated_timeout(timeouts, timeout_s) || suffices_alone(timeouts, cell, timeout_s))
        return timeout_s;
    return NAN;
}

static void add_censored(const struct evidence_cell *cell, double timeout_s, struct text *out)
{
    double p95_s = cell->latency[METRIC_E2E].p95_ms / 1000;
    double failed_share = isnan(cell->success_rate)
                              ? cell->failed / (cell->failed + cell->succeeded)
                              : 1 - cell->success_rate;

    text_addf(out, "row %lld:", (long long)cell->row);
    if (!isnan(p95_s))
        text_addf(out, " p95 %.4g s,", p95_s);
    if (!isnan(burst_s(cell)))
        text_addf(out, " duration %.4g s,", burst_s(cell));
    text_addf(out, " %.4g %% of the requests failed: a timeout of %.15g s", 100 * failed_share,
              timeout_s);
}

void audit_check_censored(struct audit *audit)
{
    const struct evidence *evidence = audit->evidence;
    struct timeouts timeouts = find_unstated_timeouts(evidence);
    struct finding *finding = NULL;
    double timeout_s = NAN;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        double cut_s = cutting_timeout(evidence, &timeouts, &evidence->cells[i]);

        if (isnan(cut_s))
            continue;
        audit_report_cell(audit, FINDING_WRONG, i, &finding);
        timeout_s = cut_s;
    }
    if (finding == NULL)
        return;
    add_censored(&evidence->cells[finding->cells[finding->cell_count - 1]], timeout_s,
                 &finding->arithmetic);
    text_add(&finding->consequence, "The mean and the percentiles do not include the requests "
                                    "that timed out: the true values are higher.");
}

/* ---- Samples ---- */

static double samples_of(const struct evidence_cell *cell)
{
    return isnan(cell->succeeded) ? audit_cell_requests(cell) : cell->succeeded;
}

/* Only for imports: reports of runs measured here mark percentiles of few values themselves. */
static bool has_few_samples(const struct evidence_cell *cell)
{
    double requests = samples_of(cell);
    bool too_few = (!isnan(cell->latency[METRIC_E2E].p95_ms) && requests < 20)
                   || (!isnan(cell->latency[METRIC_E2E].p99_ms) && requests < 100)
                   || (!isnan(cell->latency[METRIC_TTFT].p99_ms) && requests < 100);

    return audit_cell_is_measured(cell) && too_few;
}

void audit_check_samples(struct audit *audit)
{
    struct finding *finding;
    double fewest = INFINITY;

    finding = audit_find_cells(audit, FINDING_CAUTION, has_few_samples);
    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++)
        fewest = fmin(fewest, samples_of(&audit->evidence->cells[finding->cells[i]]));
    text_addf(&finding->arithmetic,
              "%zu cell%s; fewest requests in a cell: %.15g; a p95 needs 20, a p99 needs 100",
              finding->cell_count, audit_plural((double)finding->cell_count), fewest);
    text_add(&finding->consequence,
             "These percentiles show only the slowest one or two requests: do "
             "not read them as a tail.");
}

/* ---- Contradictions ---- */

/* Writes the first of the latency's minimum, percentiles and maximum that is negative or out of
 * order; false: there is none. */
static bool find_disorder(const struct evidence_latency *latency, const char *metric,
                          struct text *out)
{
    const struct {
        const char *name;
        double ms;
    } in_order[] = {
        { "minimum", latency->min_ms }, { "p50", latency->p50_ms }, { "p90", latency->p90_ms },
        { "p95", latency->p95_ms },     { "p99", latency->p99_ms }, { "maximum", latency->max_ms },
    };
    size_t last = 0;

    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++) {
        if (isnan(in_order[i].ms))
            continue;
        if (in_order[i].ms < 0)
            text_addf(out, "the %s of %s is negative, %.4g ms", in_order[i].name, metric,
                      in_order[i].ms);
        else if (in_order[i].ms < in_order[last].ms * 0.999)
            text_addf(out, "the %s of %s, %.4g ms, is below its %s, %.4g ms", in_order[i].name,
                      metric, in_order[i].ms, in_order[last].name, in_order[last].ms);
        if (out->length > 0)
            return true;
        last = i;
    }
    return false;
}

/* Writes what is wrong with the latency's mean: it is negative, or above the maximum; false:
 * nothing is. */
static bool find_odd_mean(const struct evidence_latency *latency, const char *metric,
                          struct text *out)
{
    if (latency->mean_ms < 0)
        text_addf(out, "the mean of %s is negative, %.4g ms", metric, latency->mean_ms);
    else if (latency->mean_ms > latency->max_ms * 1.001)
        text_addf(out, "the mean of %s, %.4g ms, is above its maximum, %.4g ms", metric,
                  latency->mean_ms, latency->max_ms);
    return out->length > 0;
}

/* Writes the first contradiction in any of the cell's latencies, or between its mean TTFT and its
 * mean E2E latency; false: there is none. */
static bool find_contradiction(const struct evidence_cell *cell, struct text *out)
{
    double ttft_ms = cell->latency[METRIC_TTFT].mean_ms, e2e_ms = audit_cell_mean_ms(cell);

    for (enum metric i = 0; i < METRIC_COUNT; i++)
        if (find_disorder(&cell->latency[i], metric_name(i), out)
            || find_odd_mean(&cell->latency[i], metric_name(i), out))
            return true;
    if (ttft_ms > e2e_ms * 1.001)
        text_addf(out, "the mean of ttft, %.4g ms, is above that of e2e, %.4g ms", ttft_ms, e2e_ms);
    return out->length > 0;
}

static bool is_disordered(const struct evidence_cell *cell)
{
    TEXT_AUTO contradiction = { 0 };

    return find_contradiction(cell, &contradiction);
}

void audit_check_order(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_disordered);
    TEXT_AUTO contradiction = { 0 };
    const struct evidence_cell *cell;

    if (finding == NULL)
        return;
    cell = audit_first_cell(audit, finding);
    find_contradiction(cell, &contradiction);
    text_addf(&finding->arithmetic, "row %lld: %s", (long long)cell->row,
              text_string(&contradiction));
    text_add(&finding->consequence, "At least one of these figures is not what its name says.");
}
