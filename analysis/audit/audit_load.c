/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on the load: whether as many requests were in flight as the cell claims. */

#include <stdlib.h>

#include "analysis/audit/audit_parts.h"
#include "base/core/memory.h"

/* At least this share of the expected requests must have been in flight on average. */
#define LOAD_SHORT 0.95
/* A single user's pauses between requests explain a low load if a request is in flight for at least
 * the share PAUSE_SHARE of the time, or if a pause lasts at most PAUSE_S seconds. */
#define PAUSE_SHARE 0.5
#define PAUSE_S 0.1
/* A level is a number of users. The levels of a plateau differ by less than this share in their
 * requests in flight. */
#define PLATEAU_WITHIN 0.15
#define PLATEAU_LEVELS 3 /* a plateau has at least this many levels */
#define RUNS_MAX 100     /* at most this many runs of a file are searched for a plateau */
#define BURST_ROUNDS 2   /* with fewer requests per user there is no steady state */

/* The average number of requests in flight: as the run reports it, else by Little's law (throughput
 * x mean latency). */
static double in_flight(const struct evidence_cell *cell)
{
    if (!isnan(cell->concurrency_actual))
        return cell->concurrency_actual;
    return cell->request_throughput * audit_cell_mean_ms(cell) / 1000;
}

/* The number of requests expected in flight: the run's own figure, which allows for think time,
 * else one for each user. */
static double expected_in_flight(const struct evidence_cell *cell)
{
    double expected = cell->concurrency_expected;

    return isnan(expected) ? audit_cell_users(cell) : expected;
}

static double load_ratio(const struct evidence_cell *cell)
{
    return in_flight(cell) / expected_in_flight(cell);
}

/* Whether the cell has a single user, whose pauses explain the low load: nothing is in flight
 * while the client prepares the next request. */
static bool is_pause_of_one(const struct evidence_cell *cell)
{
    double pause_s = (audit_cell_users(cell) - in_flight(cell)) / cell->request_throughput;

    return audit_cell_users(cell) <= 1 && (load_ratio(cell) >= PAUSE_SHARE || pause_s <= PAUSE_S);
}

static bool is_short_of_load(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && load_ratio(cell) < LOAD_SHORT && !is_pause_of_one(cell);
}

/* ---- Levels of users ---- */

struct level_cell {
    double users, in_flight;
    bool is_bad;
};

static int compare_level_cells(const void *left, const void *right)
{
    const struct level_cell *a = left, *b = right;
    int order = audit_compare(a->users, b->users);

    return order != 0 ? order : audit_compare(a->in_flight, b->in_flight);
}

/* Returns the measured cells of the same run as `of` (NULL: of all runs) whose number of users is
 * known, sorted by users, then by requests in flight. `is_bad` has a value for each cell of the
 * evidence; NULL: no cell is bad. The caller frees the array. */
static struct level_cell *level_cells(const struct evidence *evidence,
                                      const struct evidence_cell *of, const bool *is_bad,
                                      size_t *count)
{
    struct level_cell *cells = memory_zeroed(evidence->cell_count + 1, sizeof *cells);

    *count = 0;
    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (audit_cell_is_measured(cell) && !isnan(audit_cell_users(cell))
            && (of == NULL || audit_cells_same_run(cell, of)))
            cells[(*count)++] = (struct level_cell){ audit_cell_users(cell), in_flight(cell),
                                                     is_bad != NULL && is_bad[i] };
    }
    qsort(cells, *count, sizeof *cells, compare_level_cells);
    return cells;
}

/* Returns how many of the `count` cells have the same number of users as the first. */
static size_t level_size(const struct level_cell *cells, size_t count)
{
    size_t size = 1;

    while (size < count && cells[size].users - cells->users <= 0.5)
        size++;
    return size;
}

/* Returns the lowest number of users at which the finding includes more than half of the cells;
 * INFINITY: there is none. */
static double first_bad_level(const struct evidence *evidence, const struct finding *finding)
{
    FREE_AUTO bool *is_bad = memory_zeroed(evidence->cell_count + 1, sizeof *is_bad);
    FREE_AUTO struct level_cell *cells = NULL;
    size_t count, size;

    for (size_t i = 0; i < finding->cell_count; i++)
        is_bad[finding->cells[i]] = true;
    cells = level_cells(evidence, NULL, is_bad, &count);
    for (size_t first = 0; first < count; first += size) {
        size_t bad = 0;

        size = level_size(&cells[first], count - first);
        for (size_t i = first; i < first + size; i++)
            bad += cells[i].is_bad;
        if (2 * bad > size)
            return cells[first].users;
    }
    return INFINITY;
}

/* The largest number of users below `first_bad`; 0: there is none. */
static double users_below(const struct evidence *evidence, double first_bad)
{
    double below = 0;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        double users = audit_cell_users(&evidence->cells[i]);

        if (users < first_bad && users > below)
            below = users;
    }
    return below;
}

/* ---- Fewer requests in flight than users ---- */

static void add_below(struct audit *audit, struct finding *finding)
{
    double first_bad = first_bad_level(audit->evidence, finding);
    double below = users_below(audit->evidence, first_bad);

    if (isinf(first_bad))
        text_addf(&finding->consequence, "Do not compare %s",
                  finding->cell_count == 1 ? "this cell" : "these cells");
    else if (below > 0)
        text_addf(&finding->consequence, "Do not compare cells with more than %.15g user%s", below,
                  audit_plural(below));
    else
        text_add(&finding->consequence, "Do not compare any cells");
}

void audit_check_actual_load(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_short_of_load);
    const struct evidence_cell *worst;
    double low = INFINITY, high = 0;

    if (finding == NULL)
        return;
    worst = audit_first_cell(audit, finding);
    for (size_t i = 0; i < finding->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[finding->cells[i]];

        if (load_ratio(cell) < low)
            worst = cell;
        low = fmin(low, load_ratio(cell));
        high = fmax(high, load_ratio(cell));
    }
    text_addf(&finding->arithmetic,
              "requests in flight / expected: %.0f to %.0f %% in %zu cell%s; ", 100 * low,
              100 * high, finding->cell_count, audit_plural((double)finding->cell_count));
    if (isnan(worst->concurrency_actual))
        text_addf(&finding->arithmetic,
                  "lowest: %.4g requests/s x %.4g s mean latency = %.4g in flight for %.15g user%s",
                  worst->request_throughput, audit_cell_mean_ms(worst) / 1000, in_flight(worst),
                  audit_cell_users(worst), audit_plural(audit_cell_users(worst)));
    else
        text_addf(&finding->arithmetic, "lowest: %.4g on average, %.4g expected from %.15g user%s",
                  in_flight(worst), expected_in_flight(worst), audit_cell_users(worst),
                  audit_plural(audit_cell_users(worst)));
    add_below(audit, finding);
    text_add(&finding->consequence, ": the load was lower than the table says.");
}

/* ---- An undeclared limit ---- */

static int compare_values(const void *a, const void *b)
{
    return audit_compare(*(const double *)a, *(const double *)b);
}

static bool is_of_run(const struct evidence_cell *cell, const struct evidence_cell *of)
{
    return audit_cell_is_measured(cell) && audit_cells_same_run(cell, of);
}

struct level {
    double users;
    double in_flight; /* the median of the level's cells; NaN: not known for any cell */
};

/* `cells` all belong to one level. */
static double median_in_flight(const struct level_cell *cells, size_t count)
{
    FREE_AUTO double *values = memory_zeroed(count, sizeof *values);
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(cells[i].in_flight))
            values[known++] = cells[i].in_flight;
    qsort(values, known, sizeof *values, compare_values);
    return known == 0 ? NAN : values[known / 2];
}

/* Returns the levels of users in the run of `of`, ascending; the caller frees the array. */
static struct level *levels_of(const struct evidence *evidence, const struct evidence_cell *of,
                               size_t *count)
{
    size_t cell_count, size;
    FREE_AUTO struct level_cell *cells = level_cells(evidence, of, NULL, &cell_count);
    struct level *levels = memory_zeroed(cell_count + 1, sizeof *levels);

    *count = 0;
    for (size_t first = 0; first < cell_count; first += size) {
        size = level_size(&cells[first], cell_count - first);
        levels[(*count)++] =
            (struct level){ cells[first].users, median_in_flight(&cells[first], size) };
    }
    return levels;
}

static void report_plateau(struct audit *audit, const struct evidence_cell *of, double in_flight,
                           double lowest_users, double highest_users)
{
    const struct evidence *evidence = audit->evidence;
    struct finding *finding = audit_add_finding(audit, FINDING_WRONG);

    for (size_t i = 0; i < evidence->cell_count; i++) {
        double users = audit_cell_users(&evidence->cells[i]);

        if (is_of_run(&evidence->cells[i], of) && users > lowest_users + 0.5
            && users < highest_users + 0.5)
            audit_finding_add_cell(finding, i);
    }
    text_addf(&finding->arithmetic,
              "about %.3g requests are in flight at every level from %.15g to %.15g users",
              in_flight, lowest_users, highest_users);
    text_addf(
        &finding->consequence,
        "Something admits no more than that: the load is the same at all these levels. Do not "
        "compare cells with more than %.15g user%s.",
        lowest_users, audit_plural(lowest_users));
}

/* Returns the index of the first of the successive levels up to `last` that have about as many
 * requests in flight as `last`. */
static size_t plateau_begin(const struct level *levels, size_t last)
{
    size_t first = last;

    while (first > 0
           && fabs(levels[first - 1].in_flight / levels[last].in_flight - 1) < PLATEAU_WITHIN)
        first--;
    return first;
}

/* Searches from the highest level down: a run can have several plateaus. */
static void check_run_plateau(struct audit *audit, const struct evidence_cell *of)
{
    size_t count;
    FREE_AUTO struct level *levels = levels_of(audit->evidence, of, &count);

    for (size_t end = count; end > 0;) {
        size_t last = end - 1, first = plateau_begin(levels, last);

        if (end - first >= PLATEAU_LEVELS && levels[last].users >= 2 * levels[last].in_flight)
            report_plateau(audit, of, levels[last].in_flight, levels[first].users,
                           levels[last].users);
        end = first;
    }
}

static bool is_first_of_run(const struct evidence *evidence, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (audit_cells_same_run(&evidence->cells[i], &evidence->cells[index]))
            return false;
    return true;
}

/* With more users there are more requests in flight, unless something limits them. */
void audit_check_plateau(struct audit *audit)
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
    return audit_cell_is_measured(cell) && audit_cell_requests(cell) < audit_cell_users(cell);
}

void audit_check_requests(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_capped);
    const struct evidence_cell *last;

    if (finding == NULL)
        return;
    last = &audit->evidence->cells[finding->cells[finding->cell_count - 1]];
    text_addf(&finding->arithmetic, "%.15g request%s in all for %.15g users (row %lld)",
              audit_cell_requests(last), audit_plural(audit_cell_requests(last)),
              audit_cell_users(last), (long long)last->row);
    text_add(
        &finding->consequence,
        "The users were never all active at once: each of these cells is a single burst of as many "
        "requests as it reports.");
}

/* The number of requests; if it is not known, the number of those that succeeded. */
static double requests_reported(const struct evidence_cell *cell)
{
    return isnan(audit_cell_requests(cell)) ? cell->succeeded : audit_cell_requests(cell);
}

static bool is_burst(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && isnan(cell->concurrency_actual)
           && audit_cell_users(cell) > 1
           && requests_reported(cell) < BURST_ROUNDS * audit_cell_users(cell);
}

void audit_check_burst(struct audit *audit)
{
    struct finding *finding = audit_find_cells(audit, FINDING_WRONG, is_burst);
    const struct evidence_cell *last;

    if (finding == NULL)
        return;
    last = &audit->evidence->cells[finding->cells[finding->cell_count - 1]];
    text_addf(&finding->arithmetic,
              "%.15g request%s for %.15g users (row %lld): fewer than %d for each user",
              requests_reported(last), audit_plural(requests_reported(last)),
              audit_cell_users(last), (long long)last->row, BURST_ROUNDS);
    text_add(
        &finding->consequence,
        "Most of the requests start at once, and the last ones run alone: neither throughput nor "
        "latency is that of a steady load.");
}

void audit_check_front_door(struct audit *audit)
{
    const struct evidence_facts *facts = &audit->evidence->facts;
    double instances = isnan(facts->max_instances) ? 1 : facts->max_instances;
    double admitted = facts->container_concurrency * instances;
    struct finding *finding = NULL;

    if (isnan(admitted))
        return;
    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        const struct evidence_cell *cell = &audit->evidence->cells[i];

        if (!audit_cell_is_measured(cell) || !(audit_cell_users(cell) > admitted))
            continue;
        audit_report_cell(audit, FINDING_CAUTION, i, &finding);
    }
    if (finding == NULL)
        return;
    text_addf(&finding->arithmetic,
              "%.15g request%s per instance x %.15g instance%s = %.15g at once",
              facts->container_concurrency, audit_plural(facts->container_concurrency), instances,
              audit_plural(instances), admitted);
    text_addf(
        &finding->consequence,
        "Above %.15g user%s, the queue in front of the model server was measured, not the server.",
        admitted, audit_plural(admitted));
}
