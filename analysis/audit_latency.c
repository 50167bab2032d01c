/* Rules on latencies: outliers, cut tails, percentiles of too few values. */

#include <stdlib.h>

#include "analysis/audit_parts.h"
#include "base/memory.h"

#define FIRST_SHAPE_TIMES 3 /* a first request so much slower than the next level's */
#define FIRST_SHAPE_MS 1000 /* and by so much */
#define DISORDER_TIMES 1.5  /* less work that took so much longer */
#define DISORDER_MS 50      /* and by so much */
#define NEAR_TIMEOUT 0.97   /* of a timeout */
#define PAST_TIMEOUT 1.1
#define ROUNDS_OF_A_BURST 1.5 /* requests per user */

/* What rules that hold cells against one another need of them, close together: a file may have
 * twenty thousand, each held against all. */
struct place {
    bool is_measured;
    double users, length, output, mean_ms;
    const struct evidence_cell *cell;
};
struct places {
    struct place *at;
    size_t count;
};

static void places_finish(struct places *places)
{
    free(places->at);
}
#define PLACES_AUTO __attribute__((cleanup(places_finish))) struct places

static struct places places_of(const struct evidence *evidence)
{
    struct places places = { memory_zeroed(evidence->cell_count + 1, sizeof *places.at),
                             evidence->cell_count };

    for (size_t i = 0; i < places.count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        places.at[i] =
            (struct place){ cell_is_measured(cell),    cell_users(cell),   cell->input_length,
                            cell->output_tokens_asked, cell_mean_ms(cell), cell };
    }
    return places;
}

static bool same_length(const struct place *a, const struct place *b)
{
    if (!isnan(a->length) || !isnan(b->length))
        return fabs(a->length - b->length) < 0.5;
    return cells_same_length(a->cell, b->cell);
}

static bool same_run(const struct place *a, const struct place *b)
{
    return cells_same_run(a->cell, b->cell);
}

static bool same_output(const struct place *a, const struct place *b)
{
    return isnan(a->output) || isnan(b->output) || fabs(a->output - b->output) < 0.5;
}

/* Cells that differ in nothing but their users. */
static bool same_shape(const struct place *a, const struct place *b)
{
    return same_length(a, b) && same_output(a, b) && same_run(a, b);
}

/* The measured cell of the same context at the next level, or NULL. */
static const struct place *next_level(const struct places *places, const struct place *cell)
{
    const struct place *next = NULL;

    for (size_t i = 0; i < places->count; i++) {
        const struct place *other = &places->at[i];

        if (other->is_measured && other->users > cell->users
            && (next == NULL || other->users < next->users) && same_shape(other, cell))
            next = other;
    }
    return next;
}

static bool is_lowest_level(const struct places *places, const struct place *cell)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->at[i].users < cell->users && same_shape(&places->at[i], cell))
            return false;
    return true;
}

static bool is_first_shape(const struct places *places, const struct place *cell)
{
    const struct place *next;

    if (!cell->is_measured || !(cell->mean_ms > FIRST_SHAPE_MS) || !is_lowest_level(places, cell))
        return false;
    next = next_level(places, cell);
    return next != NULL && cell->mean_ms > FIRST_SHAPE_TIMES * next->mean_ms
           && cell->mean_ms > next->mean_ms + FIRST_SHAPE_MS;
}

void check_first_shape(struct audit *audit)
{
    PLACES_AUTO places = places_of(audit->evidence);
    const struct place *worst = NULL;
    struct finding *finding = NULL;

    for (size_t i = 0; i < places.count; i++) {
        const struct place *cell = &places.at[i];

        if (!is_first_shape(&places, cell))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_WRONG);
        finding_add_cell(finding, i);
        if (worst == NULL || cell->mean_ms > worst->mean_ms)
            worst = cell;
    }
    if (worst == NULL)
        return;
    text_addf(&finding->arithmetic,
              "%.4g s at %.15g users (row %lld), where %.15g users took %.4g s",
              worst->mean_ms / 1000, worst->users, (long long)worst->cell->row,
              next_level(&places, worst)->users, next_level(&places, worst)->mean_ms / 1000);
    text_add(
        &finding->consequence,
        "The first requests of a shape waited for its compilation, or filled the prefix cache that "
        "later ones read: these cells are cold starts, not latencies.");
}

/* ---- Less work that took longer ---- */

/* Is `less` less work than `more`, and was it slower beyond what may be chance? */
static bool contradicts(const struct place *less, const struct place *more)
{
    bool same, smaller;

    if (!(less->mean_ms > DISORDER_TIMES * more->mean_ms
          && less->mean_ms > more->mean_ms + DISORDER_MS))
        return false;
    same = same_length(less, more);
    smaller = (same || less->length < more->length) && less->users <= more->users
              && (!same || less->users < more->users);
    return smaller && same_output(less, more);
}

static bool is_neighbour(const struct place *a, const struct place *b)
{
    return same_run(a, b) && (same_length(a, b) || fabs(a->users - b->users) < 0.5);
}

static const struct place *contradicted_by(const struct places *places, const struct place *cell)
{
    const struct place *found = NULL;

    for (size_t i = 0; i < places->count; i++) {
        const struct place *other = &places->at[i];

        if (other->is_measured && contradicts(cell, other) && is_neighbour(cell, other)
            && (found == NULL || other->mean_ms < found->mean_ms))
            found = other;
    }
    return found;
}

static void add_place(const struct place *cell, struct text *out)
{
    text_addf(out, "%.15g users", cell->users);
    if (!isnan(cell->length))
        text_addf(out, " and %.15g of context", cell->length);
    text_addf(out, " (row %lld)", (long long)cell->cell->row);
}

void check_monotone(struct audit *audit)
{
    PLACES_AUTO places = places_of(audit->evidence);
    const struct place *worst = NULL, *against = NULL;
    struct finding *finding = NULL;

    for (size_t i = 0; i < places.count; i++) {
        const struct place *cell = &places.at[i], *other;

        if (!cell->is_measured || is_first_shape(&places, cell))
            continue;
        other = contradicted_by(&places, cell);
        if (other == NULL)
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_CAUTION);
        finding_add_cell(finding, i);
        if (worst == NULL || cell->mean_ms / other->mean_ms > worst->mean_ms / against->mean_ms) {
            worst = cell;
            against = other;
        }
    }
    if (worst == NULL)
        return;
    text_addf(&finding->arithmetic, "widest: %.4g s at ", worst->mean_ms / 1000);
    add_place(worst, &finding->arithmetic);
    text_addf(&finding->arithmetic, ", but %.4g s at ", against->mean_ms / 1000);
    add_place(against, &finding->arithmetic);
    text_addf(
        &finding->consequence,
        "Single measurements differ by a factor of %.1f here for no reason: differences below "
        "it say nothing.",
        worst->mean_ms / against->mean_ms);
}

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
