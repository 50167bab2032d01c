/* Rules on the load: was as much in flight as the cell says? */

#include <stdlib.h>

#include "analysis/audit_parts.h"
#include "base/memory.h"

#define LOAD_SHORT 0.95 /* of the users, at least so much must have been in flight on average */
#define PLATEAU_WITHIN 0.15
#define PLATEAU_LEVELS 3
#define RUNS_MAX 100   /* of one file that are looked at */
#define BURST_ROUNDS 2 /* requests per user below which there is no steady state */

/* Measured where we measured; else Little's law: throughput x mean latency = requests in flight. */
static double in_flight(const struct evidence_cell *cell)
{
    if (!isnan(cell->concurrency_actual))
        return cell->concurrency_actual;
    return cell->request_throughput * cell_mean_ms(cell) / 1000;
}

static double load_ratio(const struct evidence_cell *cell)
{
    double expected = cell->concurrency_expected; /* users who think are not in flight */

    return in_flight(cell) / (isnan(expected) ? cell_users(cell) : expected);
}

static bool is_short_of_load(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && load_ratio(cell) < LOAD_SHORT;
}

static void add_below(struct audit *audit, struct finding *finding)
{
    double below = finding_users_below(audit->evidence, finding);

    if (below > 0)
        text_addf(&finding->consequence, "Do not compare above %.15g users", below);
    else
        text_add(&finding->consequence, "Do not compare any level");
}

void check_actual_load(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_short_of_load);
    const struct evidence_cell *worst;
    double low = INFINITY, high = 0;

    if (finding == NULL)
        return;
    worst = &audit->evidence->cells[finding->cells[0]];
    for (size_t i = 0; i < finding->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[finding->cells[i]];

        if (load_ratio(cell) < low)
            worst = cell;
        low = fmin(low, load_ratio(cell));
        high = fmax(high, load_ratio(cell));
    }
    text_addf(&finding->arithmetic, "in flight / users is %.0f to %.0f %% in %zu cells; ",
              100 * low, 100 * high, finding->cell_count);
    if (isnan(worst->concurrency_actual))
        text_addf(&finding->arithmetic,
                  "lowest: %.4g requests/s x %.4g s mean latency = %.4g of %.15g users",
                  worst->request_throughput, cell_mean_ms(worst) / 1000, in_flight(worst),
                  cell_users(worst));
    else
        text_addf(&finding->arithmetic, "lowest: a time average of %.4g of %.15g users",
                  in_flight(worst), cell_users(worst));
    add_below(audit, finding);
    text_add(&finding->consequence, ": there the load was less than the table says.");
}

/* ---- A limit that nobody told ---- */

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Of the run that `of` belongs to. */
static bool is_of_run(const struct evidence_cell *cell, const struct evidence_cell *of)
{
    return cell_is_measured(cell) && cells_same_run(cell, of);
}

/* Median of what was in flight at that level; NaN: no cell tells. */
static double level_in_flight(const struct evidence *evidence, const struct evidence_cell *of,
                              double users)
{
    FREE_AUTO double *values = memory_zeroed(evidence->cell_count + 1, sizeof *values);
    size_t count = 0;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (is_of_run(cell, of) && fabs(cell_users(cell) - users) < 0.5 && !isnan(in_flight(cell)))
            values[count++] = in_flight(cell);
    }
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare_numbers);
    return values[count / 2];
}

/* The levels of users, ascending; free(). */
static double *levels_of(const struct evidence *evidence, const struct evidence_cell *of,
                         size_t *count)
{
    double *levels = memory_zeroed(evidence->cell_count + 1, sizeof *levels);
    size_t distinct = 0;

    *count = 0;
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (is_of_run(&evidence->cells[i], of) && !isnan(cell_users(&evidence->cells[i])))
            levels[(*count)++] = cell_users(&evidence->cells[i]);
    qsort(levels, *count, sizeof *levels, compare_numbers);
    for (size_t i = 0; i < *count; i++)
        if (distinct == 0 || levels[i] > levels[distinct - 1] + 0.5)
            levels[distinct++] = levels[i];
    *count = distinct;
    return levels;
}

static void tell_plateau(struct audit *audit, const struct evidence_cell *of, double in_flight,
                         double lowest, double highest)
{
    const struct evidence *evidence = audit->evidence;
    struct finding *finding = audit_find(audit, FINDING_WRONG);

    for (size_t i = 0; i < evidence->cell_count; i++)
        if (is_of_run(&evidence->cells[i], of) && cell_users(&evidence->cells[i]) > lowest + 0.5)
            finding_add_cell(finding, i);
    text_addf(&finding->arithmetic,
              "about %.3g requests are in flight at every level from %.15g to %.15g users",
              in_flight, lowest, highest);
    text_addf(&finding->consequence,
              "Something lets no more than that in: these levels are one and the same load. Do not "
              "compare above %.15g users.",
              lowest);
}

static void check_run_plateau(struct audit *audit, const struct evidence_cell *of)
{
    const struct evidence *evidence = audit->evidence;
    size_t count;
    FREE_AUTO double *levels = levels_of(evidence, of, &count);
    double top = count == 0 ? NAN : level_in_flight(evidence, of, levels[count - 1]);
    size_t first = count;

    while (first > 0
           && fabs(level_in_flight(evidence, of, levels[first - 1]) / top - 1) < PLATEAU_WITHIN)
        first--;
    if (count - first >= PLATEAU_LEVELS && levels[count - 1] >= 2 * top)
        tell_plateau(audit, of, top, levels[first], levels[count - 1]);
}

static bool is_first_of_run(const struct evidence *evidence, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (cells_same_run(&evidence->cells[i], &evidence->cells[index]))
            return false;
    return true;
}

/* With more users there is more in flight, unless something lets no more in. */
void check_plateau(struct audit *audit)
{
    size_t runs = 0;

    for (size_t i = 0; i < audit->evidence->cell_count && runs < RUNS_MAX; i++)
        if (is_first_of_run(audit->evidence, i)) {
            check_run_plateau(audit, &audit->evidence->cells[i]);
            runs++;
        }
}

/* ---- Requests ---- */

static bool is_capped(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && cell_requests(cell) < cell_users(cell);
}

void check_requests(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_capped);
    const struct evidence_cell *last;

    if (finding == NULL)
        return;
    last = &audit->evidence->cells[finding->cells[finding->cell_count - 1]];
    text_addf(&finding->arithmetic, "%.15g requests in all for %.15g users (row %lld)",
              cell_requests(last), cell_users(last), (long long)last->row);
    text_add(&finding->consequence,
             "So many users were never there: read these cells as a burst of that many requests.");
}

static bool is_burst(const struct evidence_cell *cell)
{
    return cell_is_measured(cell) && isnan(cell->concurrency_actual) && cell_users(cell) > 1
           && cell_requests(cell) < BURST_ROUNDS * cell_users(cell);
}

void check_burst(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_burst);
    const struct evidence_cell *last;

    if (finding == NULL)
        return;
    last = &audit->evidence->cells[finding->cells[finding->cell_count - 1]];
    text_addf(&finding->arithmetic,
              "%.15g requests for %.15g users (row %lld): fewer than %d for each user",
              cell_requests(last), cell_users(last), (long long)last->row, BURST_ROUNDS);
    text_add(&finding->consequence,
             "All start at once and the last run alone: neither throughput nor latency is that of "
             "a steady load.");
}

void check_front_door(struct audit *audit)
{
    const struct evidence_facts *facts = &audit->evidence->facts;
    double instances = isnan(facts->max_instances) ? 1 : facts->max_instances;
    double door = facts->container_concurrency * instances;
    struct finding *finding = NULL;

    if (isnan(door))
        return;
    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[i];

        if (!cell_is_measured(cell) || !(cell_users(cell) > door))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, FINDING_CAUTION);
        finding_add_cell(finding, i);
    }
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic, "%.15g requests an instance x %.15g instances = %.15g at once",
              facts->container_concurrency, instances, door);
    text_addf(&finding->consequence,
              "Above %.15g users the queue in front of the model server was measured, not it.",
              door);
}
