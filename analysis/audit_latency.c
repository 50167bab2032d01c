/* Rules on latencies: cut tails, percentiles of too few values, contradictions. */

#include "analysis/audit_parts.h"

#define NEAR_TIMEOUT 0.97 /* of a timeout */
#define PAST_TIMEOUT 1.1
#define ROUNDS_OF_A_BURST 1.5 /* requests per user */

/* ---- Timeouts ---- */

/* The round timeout that `seconds` stands at; NaN. */
static double timeout_near(double seconds)
{
    static const double usual[] = { 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600 };

    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (seconds >= NEAR_TIMEOUT * usual[i] && seconds <= PAST_TIMEOUT * usual[i])
            return usual[i];
    return NAN;
}

static bool tells_bounds(const struct evidence_latency *latency)
{
    return latency->p50_at_least || latency->p90_at_least || latency->p95_at_least
           || latency->p99_at_least;
}

static double cell_rounds(const struct evidence_cell *cell)
{
    return cell_requests(cell) / cell_users(cell);
}

/* The timeout that cut this cell's tail off; NaN where none did, or where the percentiles say so.
 */
static double cutting_timeout(const struct evidence_cell *cell)
{
    const struct evidence_latency *e2e = &cell->latency[METRIC_E2E];
    double highest = fmax(fmax(e2e->p95_ms, e2e->p99_ms), e2e->max_ms) / 1000;
    bool some_failed = cell->success_rate < 1 || cell->failed > 0;

    if (!cell_is_measured(cell) || !some_failed || tells_bounds(e2e))
        return NAN;
    if (!isnan(cell->timeout_s))
        return highest >= NEAR_TIMEOUT * cell->timeout_s ? cell->timeout_s : NAN;
    if (!isnan(timeout_near(highest)) || !(cell_rounds(cell) <= ROUNDS_OF_A_BURST))
        return timeout_near(highest);
    return timeout_near(cell->duration_s); /* of one burst: its slowest request */
}

static bool is_censored(const struct evidence_cell *cell)
{
    return !isnan(cutting_timeout(cell));
}

void check_censored(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_censored);
    const struct evidence_cell *cell;
    double timeout_s;

    if (finding == NULL)
        return;
    cell = &audit->evidence->cells[finding->cells[finding->cell_count - 1]];
    timeout_s = cutting_timeout(cell);
    text_addf(
        &finding->arithmetic,
        "row %lld: p95 %.4g s, duration %.4g s, %.4g of the requests failed: a timeout of %.15g s",
        (long long)cell->row, cell->latency[METRIC_E2E].p95_ms / 1000, cell->duration_s,
        1 - cell->success_rate, timeout_s);
    text_addf(&finding->consequence,
              "The requests over %.15g s are missing from mean and percentiles: the true p95 is at "
              "least that.",
              timeout_s);
}

/* ---- Samples ---- */

static double samples_of(const struct evidence_cell *cell)
{
    return isnan(cell->succeeded) ? cell_requests(cell) : cell->succeeded;
}

/* Our own reports mark percentiles of few values themselves. */
static bool has_few_samples(const struct evidence_cell *cell)
{
    double requests = samples_of(cell);
    bool needs = (!isnan(cell->latency[METRIC_E2E].p95_ms) && requests < 20)
                 || (!isnan(cell->latency[METRIC_E2E].p99_ms) && requests < 100)
                 || (!isnan(cell->latency[METRIC_TTFT].p99_ms) && requests < 100);

    return cell_is_measured(cell) && needs;
}

void check_samples(struct audit *audit)
{
    struct finding *finding;
    double fewest = INFINITY;

    if (!audit->evidence->imported)
        return;
    finding = audit_find_cells(audit, FINDING_CAUTION, has_few_samples);
    if (finding == NULL)
        return;
    for (size_t i = 0; i < finding->cell_count; i++)
        fewest = fmin(fewest, samples_of(&audit->evidence->cells[finding->cells[i]]));
    text_addf(&finding->arithmetic,
              "%zu cells; the fewest requests are %.15g; a p95 needs 20, a p99 needs 100",
              finding->cell_count, fewest);
    text_add(&finding->consequence, "These percentiles are the slowest request or so: do not read "
                                    "them as a tail.");
}

/* ---- Contradictions ---- */

static bool latency_is_disordered(const struct evidence_latency *latency)
{
    const double in_order[] = { latency->min_ms, latency->p50_ms, latency->p90_ms,
                                latency->p95_ms, latency->p99_ms, latency->max_ms };
    double last = 0;

    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++) {
        if (isnan(in_order[i]))
            continue;
        if (in_order[i] < 0 || in_order[i] < last * 0.999)
            return true;
        last = in_order[i];
    }
    return latency->mean_ms < 0 || latency->mean_ms > latency->max_ms * 1.001;
}

static bool is_disordered(const struct evidence_cell *cell)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (latency_is_disordered(&cell->latency[i]))
            return true;
    return cell->latency[METRIC_TTFT].mean_ms > cell_mean_ms(cell) * 1.001;
}

void check_order(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_disordered);

    if (finding == NULL)
        return;
    text_addf(
        &finding->arithmetic,
        "row %lld: a higher percentile is below a lower one, a mean above the maximum, a TTFT "
        "above the E2E latency, or a time is negative",
        (long long)audit->evidence->cells[finding->cells[0]].row);
    text_add(&finding->consequence, "At least one of these figures is not what its name says.");
}
